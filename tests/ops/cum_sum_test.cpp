// CumSum: directions, exclusive, exact partial sums.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/function_check.h"

namespace assay::test::cum_sum_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

OpCall cumulative(Tensor x, Attributes a = {}) {
  return {"CumSum", {std::move(x), Tensor::scalar<std::int64_t>(-1)}, std::move(a)};
}

TEST(CumSum, Directions) {
  const Tensor x = tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(values(run_one(cumulative(x))), (Floats{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(values(run_one(cumulative(x, {{"exclusive", std::int64_t{1}}}))),
            (Floats{0, 1, 3, 0, 4, 9}));
  EXPECT_EQ(values(run_one(cumulative(x, {{"reverse", std::int64_t{1}}}))),
            (Floats{6, 5, 3, 15, 11, 6}));
  EXPECT_EQ(values(run_one(
                cumulative(x, {{"reverse", std::int64_t{1}}, {"exclusive", std::int64_t{1}}}))),
            (Floats{5, 3, 0, 11, 6, 0}));
  EXPECT_EQ(indices(run_one(cumulative(ints({3}, {1, -5, 2})))), (Ints{1, -4, -2}));
}

TEST(CumSum, PartialSumsAreExact) {
  EXPECT_EQ(values(run_one(cumulative(tensor({4}, {1e8F, 1, -1e8F, 1})))),
            (Floats{1e8F, 1e8F, 1, 2}));
  const auto v = values(run_one(cumulative(tensor({3}, {1, kInf, -kInf}))));
  EXPECT_EQ(v[1], kInf);
  expect_canonical_nan(v[2]);
}

}  // namespace
}  // namespace assay::test::cum_sum_test
