// Cast and CastLike: rounding, bounds, NaN, names at opset 1, types Assay does not have.
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/op_call.h"

namespace assay::test::cast_test {
namespace {

using Ints = std::vector<std::int64_t>;
const float inf = std::numeric_limits<float>::infinity();
const float nan = std::numeric_limits<float>::quiet_NaN();

OpCall cast(const Tensor& x, DType to, Precision p = Precision::cr) {
  OpCall call{"Cast", {x}, {{"to", static_cast<std::int64_t>(to)}}};
  call.precision = p;
  return call;
}

TEST(Cast, FloatToIntegerTruncatesAndClamps) {
  const Tensor x = tensor({7}, {1.9F, -1.9F, 300.0F, -1e30F, inf, -inf, nan});
  EXPECT_EQ(indices(run_one(cast(x, DType::uint8))), (Ints{1, 0, 255, 0, 255, 0, 0}));
  EXPECT_EQ(indices(run_one(cast(x, DType::int8))), (Ints{1, -1, 127, -128, 127, -128, 0}));
}

TEST(Cast, FloatToIntegerTruncatesInEveryPrecision) {
  for (const Precision p : {Precision::cr, Precision::f32, Precision::f64, Precision::dd}) {
    const Tensor x = tensor({4}, {2.5F, -2.5F, 3.999999F, -0.9F});
    EXPECT_EQ(indices(run_one(cast(x, DType::int64, p))), (Ints{2, -2, 3, 0})) << to_string(p);
  }
  // 3 - 2^-60 is 3 in its leading part.
  Tensor below(DType::dd, {2});
  below.mutable_data<dd>()[0] = dd(3.0, -0x1p-60);
  below.mutable_data<dd>()[1] = dd(-3.0, 0x1p-60);
  EXPECT_EQ(indices(run_one(cast(below, DType::int32))), (Ints{2, -2}));
}

TEST(Cast, IntegersKeepTheLowBits) {
  EXPECT_EQ(indices(run_one(cast(ints({2}, {257, -1}), DType::uint8))), (Ints{1, 255}));
}

TEST(Cast, OneRoundingToNarrowTypes) {
  // 1 + 2^-11 is a tie of float16 and goes to even; 65520 is the first value beyond its range.
  const Tensor x = tensor({3}, {1.00048828125F, 1.0004884F, 65520.0F});
  const Tensor y = run_one(cast(x, DType::float16));
  EXPECT_EQ(y.dtype(), DType::float16);
  EXPECT_EQ(values(y), (std::vector<float>{1.0F, 1.0009765625F, inf}));
  // 2^24 + 1 is a tie of float32.
  EXPECT_EQ(values(run_one(cast(ints({1}, {16777217}), DType::float32))),
            (std::vector<float>{16777216.0F}));
}

TEST(Cast, Bool) {
  EXPECT_EQ(indices(run_one(cast(tensor({4}, {0.0F, -0.0F, 0.5F, nan}), DType::boolean))),
            (Ints{0, 0, 1, 1}));
}

TEST(Cast, FloatTypesWidenUnderF64) {
  EXPECT_EQ(run_one(cast(ints({1}, {1}), DType::float32, Precision::f64)).dtype(), DType::float64);
}

TEST(Cast, NameAtOpset1) {
  OpCall call{"Cast", {tensor({1}, {2.5F})}, {{"to", std::string("INT64")}}, 1};
  EXPECT_EQ(indices(run_one(call)), (Ints{2}));
}

TEST(Cast, TypeThatAssayDoesNotHave) {
  EXPECT_NE(error_of([] { run_one(cast(tensor({1}, {1}), DType::string)); }).find("string"),
            std::string::npos);
}

TEST(CastLike, TakesTheTypeOfTheSecondInput) {
  EXPECT_EQ(run_one({"CastLike", {tensor({1}, {2.5F}), ints({1}, {0})}}).dtype(), DType::int64);
}

TEST(Cast, RadiusToInteger) {
  const OpCall call = cast(tensor({2}, {1.5F, 2.5F}), DType::int32);
  EXPECT_EQ(to_doubles(radius_of(call)), (std::vector<double>{0, 0}));
  EXPECT_EQ(to_doubles(radius_of(call, {tensor64({2}, {0, 0.1})}))[1],
            std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace assay::test::cast_test
