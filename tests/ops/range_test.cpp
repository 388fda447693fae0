// Range: counts, directions, rounding once, errors.
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/op_call.h"

namespace assay::test::range_test {
namespace {

using Ints = std::vector<std::int64_t>;

Ints range(std::int64_t start, std::int64_t limit, std::int64_t delta) {
  return indices(run_one({"Range", {ints({}, {start}), ints({}, {limit}), ints({}, {delta})}}));
}

TEST(Range, Integers) {
  EXPECT_EQ(range(3, 9, 3), (Ints{3, 6}));
  EXPECT_EQ(range(10, 4, -2), (Ints{10, 8, 6}));
  EXPECT_EQ(range(0, 5, -1), (Ints{}));
  EXPECT_EQ(range(2, 2, 1), (Ints{}));
}

TEST(Range, EndsOfTheType) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(range(most - 1, most, 1), (Ints{most - 1}));
  EXPECT_EQ(range(-most - 1, most, most), (Ints{-most - 1, -1, most - 1}));
}

TEST(Range, EveryElementIsRoundedOnce) {
  // 3 * 0.1f exactly is 0.300000004470348...; float32 neighbours: 0.3000000119 and 0.29999998211.
  const Tensor y = run_one({"Range", {tensor({}, {0}), tensor({}, {1}), tensor({}, {0.1F})}});
  EXPECT_EQ(y.shape(), (Shape{10}));
  EXPECT_EQ(values(y)[3], 0.3F);
}

TEST(Range, ZeroDeltaAndMixedTypes) {
  EXPECT_NE(error_of([] { range(0, 1, 0); }).find("delta"), std::string::npos);
  const auto mixed = [] { run_one({"Range", {tensor({}, {0}), ints({}, {1}), tensor({}, {1})}}); };
  EXPECT_NE(error_of(mixed).find("type"), std::string::npos);
  const auto endless = [] {
    run_one({"Range", {tensor({}, {0}), tensor({}, {1}), tensor({}, {0})}});
  };
  EXPECT_NE(error_of(endless).find("end"), std::string::npos);
}

}  // namespace
}  // namespace assay::test::range_test
