// GridSample: modes, padding, corners, one and three spatial axes.
#include <gtest/gtest.h>

#include "tests/support/op_call.h"

namespace assay::test::grid_sample_test {
namespace {

using Floats = std::vector<float>;

/// One row of four places [1, 2, 3, 8], sampled at `at`.
Floats sample(Floats at, const char* mode, const char* padding, bool align = false) {
  const auto n = static_cast<std::int64_t>(at.size());
  return values(run_one({"GridSample",
                         {tensor({1, 1, 4}, {1, 2, 3, 8}), tensor({1, n, 1}, at)},
                         {{"mode", std::string(mode)},
                          {"padding_mode", std::string(padding)},
                          {"align_corners", std::int64_t{align}}},
                         20}));
}

TEST(GridSample, Linear) {
  // Without aligned corners g reads ((g + 1) 4 - 1) / 2: -1 is -0.5, 0 is 1.5.
  EXPECT_EQ(sample({0, -1, 1}, "linear", "zeros"), (Floats{2.5F, 0.5F, 4}));
  EXPECT_EQ(sample({-1, 1, -3}, "linear", "border"), (Floats{1, 8, 1}));
  // With them g reads (g + 1) 3 / 2.
  EXPECT_EQ(sample({-1, 0, 1}, "linear", "zeros", true), (Floats{1, 2.5F, 8}));
}

TEST(GridSample, Reflection) {
  // -1.5 is -1.5 places: mirrored at -0.5 to 0.5. With aligned corners 1 + 2/3 is place 4: 2.
  EXPECT_EQ(sample({-1.5F}, "linear", "reflection"), (Floats{1.5F}));
  EXPECT_EQ(sample({1.6666666F}, "nearest", "reflection", true), (Floats{3}));
}

TEST(GridSample, NearestRoundsHalvesToEven) {
  EXPECT_EQ(sample({0, -0.5F, -1}, "nearest", "zeros"), (Floats{3, 1, 1}));
}

TEST(GridSample, Cubic) {
  // Place 1.5: weights -3/32, 19/32, 19/32, -3/32.
  EXPECT_FLOAT_EQ(sample({0}, "cubic", "zeros")[0], (-3.0F + 19 * 2 + 19 * 3 - 3 * 8) / 32.0F);
}

TEST(GridSample, InnermostCoordinateFirst) {
  const Tensor x = tensor({1, 1, 2, 2}, {1, 2, 3, 4});
  const Tensor y = run_one(
      {"GridSample", {x, tensor({1, 1, 1, 2}, {1, -1})}, {{"align_corners", std::int64_t{1}}}});
  EXPECT_EQ(values(y), (Floats{2}));
}

TEST(GridSample, Errors) {
  const auto call = [] {
    run_one({"GridSample", {tensor({1, 1, 2}, {1, 2}), tensor({1, 1, 2}, {0, 0})}});
  };
  EXPECT_NE(error_of(call).find("fit"), std::string::npos);
  EXPECT_NE(error_of([] { sample({0}, "linear", "nothing"); }).find("nothing"), std::string::npos);
}

}  // namespace
}  // namespace assay::test::grid_sample_test
