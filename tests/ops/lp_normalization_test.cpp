// LpNormalization and MeanVarianceNormalization.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/function_check.h"

namespace assay::test::lp_normalization_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

TEST(LpNormalization, Literals) {
  const Tensor x = tensor({2, 2}, {3, 4, 0, 0});
  EXPECT_EQ(values(run_one({"LpNormalization", {x}})), (Floats{0.6F, 0.8F, 0, 0}));
  EXPECT_EQ(values(run_one({"LpNormalization", {x}, {{"p", std::int64_t{1}}}})),
            (Floats{3.0F / 7, 4.0F / 7, 0, 0}));
  EXPECT_EQ(values(run_one({"LpNormalization", {x}, {{"axis", std::int64_t{0}}}})),
            (Floats{1, 1, 0, 0}));
  EXPECT_NE(error_of([&] {
              run_one({"LpNormalization", {x}, {{"p", std::int64_t{3}}}});
            }).find("'p'"),
            std::string::npos);
}

TEST(MeanVarianceNormalization, Literals) {
  // Mean 4, deviation 2: (x - 4) / (2 + 1e-9f).
  const auto y = values(run_one({"MeanVarianceNormalization", {tensor({1, 1, 1, 2}, {2, 6})}}));
  EXPECT_EQ(y, (Floats{-1, 1}));
}

}  // namespace
}  // namespace assay::test::lp_normalization_test
