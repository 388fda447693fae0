// NonMaxSuppression: overlap, limits, both box forms, equal scores.
#include <gtest/gtest.h>

#include "tests/support/op_call.h"

namespace assay::test::non_max_suppression_test {
namespace {

using Ints = std::vector<std::int64_t>;

// Box 1 is box 0 moved by 0.1 (overlap 0.9 / 1.1 = 0.818), box 2 lies apart.
const Tensor boxes = tensor({1, 3, 4}, {0, 0, 1, 1, 0, 0.1F, 1, 1.1F, 5, 5, 6, 6});

Ints nms(Tensor scores, std::int64_t most, float iou, std::optional<float> least = {}) {
  OpCall call{"NonMaxSuppression",
              {boxes, std::move(scores), ints({1}, {most}), tensor({1}, {iou})}};
  if (least) call.inputs.push_back(tensor({1}, {*least}));
  return indices(run_one(call));
}

TEST(NonMaxSuppression, DropsWhatOverlaps) {
  const Tensor scores = tensor({1, 1, 3}, {0.8F, 0.9F, 0.5F});
  EXPECT_EQ(nms(scores, 9, 0.5F), (Ints{0, 0, 1, 0, 0, 2}));
  EXPECT_EQ(nms(scores, 9, 0.82F), (Ints{0, 0, 1, 0, 0, 0, 0, 0, 2}));
  EXPECT_EQ(nms(scores, 1, 0.82F), (Ints{0, 0, 1}));
  EXPECT_EQ(nms(scores, 0, 0.82F), (Ints{}));
}

TEST(NonMaxSuppression, ScoreThresholdAndEqualScores) {
  EXPECT_EQ(nms(tensor({1, 1, 3}, {0.8F, 0.9F, 0.5F}), 9, 0.5F, 0.5F), (Ints{0, 0, 1}));
  EXPECT_EQ(nms(tensor({1, 1, 3}, {0.7F, 0.7F, 0.7F}), 9, 0.5F), (Ints{0, 0, 0, 0, 0, 2}));
}

TEST(NonMaxSuppression, CenterForm) {
  OpCall call{"NonMaxSuppression",
              {tensor({1, 2, 4}, {0.5F, 0.5F, 1, 1, 0.6F, 0.5F, 1, 1}),
               tensor({1, 1, 2}, {0.1F, 0.2F}), ints({1}, {5}), tensor({1}, {0.5F})},
              {{"center_point_box", std::int64_t{1}}}};
  EXPECT_EQ(indices(run_one(call)), (Ints{0, 0, 1}));
}

TEST(NonMaxSuppression, NoLimitGivenMeansNone) {
  const OpCall call{"NonMaxSuppression", {boxes, tensor({1, 1, 3}, {1, 1, 1})}};
  EXPECT_EQ(run_one(call).shape(), (Shape{0, 3}));
}

TEST(NonMaxSuppression, ShapesThatDoNotFit) {
  const auto call = [] { nms(tensor({1, 1, 2}, {1, 1}), 1, 0.5F); };
  EXPECT_NE(error_of(call).find("fit"), std::string::npos);
}

}  // namespace
}  // namespace assay::test::non_max_suppression_test
