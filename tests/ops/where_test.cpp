// Where: three-way broadcasting, bits, radius.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/function_check.h"

namespace assay::test::where_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

TEST(Where, BroadcastsAndKeepsBits) {
  const Tensor p = Tensor::of<bool>({2, 1}, {true, false});
  EXPECT_EQ(values(run_one({"Where", {p, tensor({2}, {1, 2}), tensor({1}, {9})}})),
            (Floats{1, 2, 9, 9}));
  EXPECT_EQ(bits(values(run_one({"Where", {p, tensor({1}, {-0.0F}), tensor({1}, {9})}}))[0]),
            0x80000000U);
  EXPECT_NE(error_of([] {
              run_one({"Where", {tensor({1}, {1}), tensor({1}, {1}), tensor({1}, {1})}});
            }).find("condition"),
            std::string::npos);
}

TEST(Where, RadiusFollowsTheChoice) {
  const Tensor p = Tensor::of<bool>({2}, {true, false});
  const Tensor r = radius_of({"Where", {p, tensor({2}, {1, 2}), tensor({2}, {3, 4})}},
                             {Tensor(), tensor64({2}, {0.5, 0.5}), tensor64({2}, {0.25, 0.25})});
  EXPECT_EQ(to_doubles(r), (std::vector<double>{0.5, 0.25}));
}

}  // namespace
}  // namespace assay::test::where_test
