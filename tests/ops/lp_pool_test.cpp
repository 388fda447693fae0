// LpPool and GlobalLpPool.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/function_check.h"

namespace assay::test::lp_pool_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

TEST(LpPool, Literals) {
  const Tensor x = tensor({1, 1, 4}, {3, -4, 0, 5});
  EXPECT_EQ(values(run_one({"LpPool", {x}, {{"kernel_shape", Ints{2}}}})), (Floats{5, 4, 5}));
  EXPECT_EQ(values(run_one({"LpPool", {x}, {{"kernel_shape", Ints{2}}, {"p", std::int64_t{1}}}})),
            (Floats{7, 4, 5}));
  EXPECT_EQ(values(run_one({"LpPool",
                            {tensor({1, 1, 2}, {1, 2})},
                            {{"kernel_shape", Ints{2}}, {"p", std::int64_t{3}}}})),
            (Floats{static_cast<float>(std::cbrt(9.0))}));
  EXPECT_EQ(values(run_one({"GlobalLpPool", {tensor({1, 2, 2}, {3, 4, 6, 8})}})), (Floats{5, 10}));
  EXPECT_NE(error_of([&] {
              run_one({"LpPool", {x}, {{"kernel_shape", Ints{2}}, {"p", std::int64_t{0}}}});
            }).find("'p'"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::test::lp_pool_test
