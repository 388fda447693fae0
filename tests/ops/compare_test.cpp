// Comparisons: NaN, zeros, broadcasting, types.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/function_check.h"

namespace assay::test::compare_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

TEST(Compare, Literals) {
  const Tensor a = tensor({3}, {1, 2, 3}), b = tensor({3}, {2, 2, 2});
  const auto run_it = [&](const char* type) { return indices(run_one({type, {a, b}})); };
  EXPECT_EQ(run_it("Equal"), (Ints{0, 1, 0}));
  EXPECT_EQ(run_it("Greater"), (Ints{0, 0, 1}));
  EXPECT_EQ(run_it("Less"), (Ints{1, 0, 0}));
  EXPECT_EQ(run_it("GreaterOrEqual"), (Ints{0, 1, 1}));
  EXPECT_EQ(run_it("LessOrEqual"), (Ints{1, 1, 0}));
}

TEST(Compare, NaNAndZeros) {
  const Tensor nan = tensor({1}, {std::nanf("")});
  for (const char* type : {"Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual"})
    EXPECT_EQ(indices(run_one({type, {nan, nan}})), (Ints{0})) << type;
  EXPECT_EQ(indices(run_one({"Equal", {tensor({1}, {0}), tensor({1}, {-0.0F})}})), (Ints{1}));
}

TEST(Compare, BoolIntegersAndOldBroadcast) {
  EXPECT_EQ(indices(run_one(
                {"Equal", {Tensor::of<bool>({2}, {true, false}), Tensor::of<bool>({1}, {false})}})),
            (Ints{0, 1}));
  EXPECT_EQ(indices(run_one({"Less", {ints({2, 1}, {1, 5}), ints({2}, {3, 6})}})),
            (Ints{1, 1, 0, 1}));
  const Attributes old{{"broadcast", std::int64_t{1}}, {"axis", std::int64_t{0}}};
  EXPECT_EQ(
      indices(run_one({"Greater", {tensor({2, 2}, {1, 2, 3, 4}), tensor({2}, {1, 3})}, old, 1})),
      (Ints{0, 1, 0, 1}));
}

}  // namespace
}  // namespace assay::test::compare_test
