// Clip: the forms of its limits (public case S-06), types, order of the limits.
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/op_call.h"

namespace assay::test::clip_test {
namespace {

const std::vector<float> x{-3.0F, -1.0F, 0.5F, 7.0F};
using Floats = std::vector<float>;

TEST(Clip, LimitsMayBeAbsent) {
  const Tensor t = tensor({4}, x);
  const Tensor six = tensor({}, {6.0F}), zero = tensor({}, {0.0F});
  EXPECT_EQ(values(run_one({"Clip", {t, Tensor(), six}})), (Floats{-3, -1, 0.5F, 6}));
  EXPECT_EQ(values(run_one({"Clip", {t, zero}})), (Floats{0, 0, 0.5F, 7}));
  EXPECT_EQ(values(run_one({"Clip", {t}})), x);
}

TEST(Clip, AttributesBeforeOpset11) {
  const Tensor t = tensor({4}, x);
  EXPECT_EQ(values(run_one({"Clip", {t}, {{"max", 6.0F}}, 6})), (Floats{-3, -1, 0.5F, 6}));
  EXPECT_EQ(values(run_one({"Clip", {t}, {{"min", 0.0F}}, 6})), (Floats{0, 0, 0.5F, 7}));
}

TEST(Clip, LimitWithoutElementsIsAnError) {
  const auto call = [] { run_one({"Clip", {tensor({4}, x), tensor({0}, {})}}); };
  EXPECT_NE(error_of(call).find("'min'"), std::string::npos);
}

TEST(Clip, WorksInDoubleAndIntegers) {
  const Tensor d = tensor64({4}, {-3, -1, 0.5, 7});
  EXPECT_EQ(values(run_one({"Clip", {d, Tensor(), tensor64({}, {6})}})), (Floats{-3, -1, 0.5F, 6}));
  EXPECT_EQ(indices(run_one({"Clip", {ints({3}, {-5, 2, 9}), ints({}, {0}), ints({}, {4})}})),
            (std::vector<std::int64_t>{0, 2, 4}));
}

TEST(Clip, HighWinsWhenLimitsCross) {
  const Tensor t = tensor({2}, {0.0F, 9.0F});
  EXPECT_EQ(values(run_one({"Clip", {t, tensor({}, {5.0F}), tensor({}, {3.0F})}})), (Floats{3, 3}));
}

TEST(Clip, InfinityPassesAnAbsentLimitAndMinusZeroStays) {
  const float inf = std::numeric_limits<float>::infinity();
  const auto v = values(run_one({"Clip", {tensor({2}, {inf, -0.0F}), tensor({}, {0.0F})}}));
  EXPECT_EQ(v[0], inf);
  EXPECT_EQ(bits(v[1]), 0x80000000U);
}

TEST(Clip, LimitsOfAnotherTypeAreAnError) {
  const auto call = [] { run_one({"Clip", {tensor({4}, x), tensor64({}, {0})}}); };
  EXPECT_NE(error_of(call).find("element types differ"), std::string::npos);
}

}  // namespace
}  // namespace assay::test::clip_test
