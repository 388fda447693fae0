// IsNaN and IsInf.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/function_check.h"

namespace assay::test::is_nan_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

TEST(IsNaN, Literals) {
  const Tensor x = tensor({4}, {1, std::nanf(""), kInf, -kInf});
  EXPECT_EQ(indices(run_one({"IsNaN", {x}})), (Ints{0, 1, 0, 0}));
  EXPECT_EQ(indices(run_one({"IsInf", {x}})), (Ints{0, 0, 1, 1}));
  EXPECT_EQ(indices(run_one({"IsInf", {x}, {{"detect_negative", std::int64_t{0}}}})),
            (Ints{0, 0, 1, 0}));
  EXPECT_EQ(indices(run_one({"IsInf", {x}, {{"detect_positive", std::int64_t{0}}}})),
            (Ints{0, 0, 0, 1}));
  EXPECT_EQ(indices(run_one({"IsNaN", {convert(x, DType::float16)}})), (Ints{0, 1, 0, 0}));
}

}  // namespace
}  // namespace assay::test::is_nan_test
