// GatherND: elements, slices, batch axes, errors.
#include <gtest/gtest.h>

#include "tests/support/op_call.h"

namespace assay::test::gather_nd_test {
namespace {

const Tensor x = tensor({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});

TEST(GatherNd, ElementsAndSlices) {
  EXPECT_EQ(values(run_one({"GatherND", {x, ints({2, 3}, {0, 1, 1, -1, 0, 0})}})),
            (std::vector<float>{3, 4}));
  const Tensor y = run_one({"GatherND", {x, ints({1, 1, 2}, {1, 0})}});
  EXPECT_EQ(y.shape(), (Shape{1, 1, 2}));
  EXPECT_EQ(values(y), (std::vector<float>{4, 5}));
}

TEST(GatherNd, BatchAxes) {
  const Tensor y =
      run_one({"GatherND", {x, ints({2, 1}, {1, 0})}, {{"batch_dims", std::int64_t{1}}}});
  EXPECT_EQ(values(y), (std::vector<float>{2, 3, 4, 5}));
}

TEST(GatherNd, Errors) {
  EXPECT_NE(error_of([] {
              run_one({"GatherND", {x, ints({1, 4}, {0, 0, 0, 0})}});
            }).find("fit"),
            std::string::npos);
  EXPECT_NE(error_of([] {
              run_one({"GatherND", {x, ints({1, 1}, {2})}});
            }).find("out of range"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::test::gather_nd_test
