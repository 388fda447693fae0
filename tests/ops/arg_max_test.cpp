// ArgMax and ArgMin: ties, axes, NaN.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/function_check.h"

namespace assay::test::arg_max_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

TEST(ArgMax, TiesAndAxes) {
  const Tensor x = tensor({2, 3}, {1, 3, 3, 2, 2, 0});
  EXPECT_EQ(indices(run_one({"ArgMax", {x}, {{"axis", std::int64_t{1}}}})), (Ints{1, 0}));
  EXPECT_EQ(
      indices(run_one(
          {"ArgMax", {x}, {{"axis", std::int64_t{1}}, {"select_last_index", std::int64_t{1}}}})),
      (Ints{2, 1}));
  EXPECT_EQ(indices(run_one({"ArgMin", {x}})), (Ints{0, 1, 1}));
  EXPECT_EQ(
      run_one({"ArgMax", {x}, {{"axis", std::int64_t{-1}}, {"keepdims", std::int64_t{0}}}}).shape(),
      (Shape{2}));
}

TEST(ArgMax, NaNCountsAsExtremeAndEmptyAxisIsAnError) {
  EXPECT_EQ(indices(run_one({"ArgMax", {tensor({3}, {1, std::nanf(""), 5})}})), (Ints{1}));
  EXPECT_NE(error_of([] {
              run_one({"ArgMax", {tensor({2, 0}, {})}, {{"axis", std::int64_t{1}}}});
            }).find("no elements"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::test::arg_max_test
