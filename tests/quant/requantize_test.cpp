// Literals worked out by hand from the formulas in quant/requantize.h.
#include "quant/requantize.h"

#include <gtest/gtest.h>

namespace assay::requantize_test {
namespace {

IntegerForm form(const std::string& profile, float factor, std::int64_t zero = 0,
                 DType type = DType::int8) {
  return {.x = {DType::uint8, factor, 0},
          .w_scales = {1},
          .y = {type, 1, zero},
          .profile = find_profile(profile)};
}

std::int64_t code(const std::string& profile, float factor, std::int64_t acc,
                  std::int64_t zero = 0) {
  const IntegerForm f = form(profile, factor, zero);
  return Requantizer(f, 0).code(acc);
}

TEST(Requantize, ShiftsByEveryTieRule) {
  const auto all = [](std::int64_t v) {
    std::vector<std::int64_t> out;
    for (const Tie t : {Tie::even, Tie::away, Tie::up, Tie::down, Tie::to_zero})
      out.push_back(shift_right(v, 1, t));
    return out;
  };
  EXPECT_EQ(all(3), (std::vector<std::int64_t>{2, 2, 2, 1, 1}));        // 1.5
  EXPECT_EQ(all(-3), (std::vector<std::int64_t>{-2, -2, -1, -2, -1}));  // -1.5
  EXPECT_EQ(all(1), (std::vector<std::int64_t>{0, 1, 1, 0, 0}));
  EXPECT_EQ(all(4), (std::vector<std::int64_t>{2, 2, 2, 2, 2}));
  EXPECT_EQ(shift_right(7, 2, Tie::down), 2);  // 1.75 is no tie
}

TEST(Requantize, Multipliers) {
  EXPECT_EQ(make_multiplier(0.5, 31, Derivation::nearest).multiplier, std::int64_t{1} << 30);
  EXPECT_EQ(make_multiplier(0.5, 31, Derivation::nearest).exponent, 0);
  EXPECT_EQ(make_multiplier(3, 8, Derivation::nearest).multiplier, 192);  // 0.75 * 2^8, exponent 2
  EXPECT_EQ(make_multiplier(3, 8, Derivation::nearest).exponent, 2);
  // 1 - 2^-40 rounds to 2^31, which is renormalized.
  EXPECT_EQ(make_multiplier(1 - 0x1p-40, 31, Derivation::nearest).multiplier,
            std::int64_t{1} << 30);
  EXPECT_EQ(make_multiplier(1 - 0x1p-40, 31, Derivation::truncate).multiplier,
            (std::int64_t{1} << 31) - 1);
}

// acc = 1, factor 1/4. Two stages: 1/2 goes up to 1, then 1/2 away from zero to 1. One stage: 1/4
// goes to 0.
TEST(Requantize, DoubleRoundingShows) {
  EXPECT_EQ(code("gemmlowp-double", 0.25F, 1), 1);
  EXPECT_EQ(code("tflite-single", 0.25F, 1), 0);
  EXPECT_EQ(code("onnx-qlinear-ref", 0.25F, 1), 0);
  EXPECT_EQ(code("ort-like", 0.25F, 1), 0);
}

// acc = 2, factor 1/4: a tie.
TEST(Requantize, TiesDifferByProfile) {
  EXPECT_EQ(code("tflite-single", 0.25F, 2), 1);
  EXPECT_EQ(code("tflite-16x8", 0.25F, 2), 1);
  EXPECT_EQ(code("tpu-mult8", 0.25F, 2), 1);
  EXPECT_EQ(code("gemmlowp-double", 0.25F, 2), 1);  // 1, then 1/2 away
  EXPECT_EQ(code("gemmlowp-double", 0.25F, -2), -1);
  EXPECT_EQ(code("tflite-single", 0.25F, -2), 0);
  EXPECT_EQ(code("ort-like", 0.25F, 2), 0);
  // The zero point before rounding makes 1.5, which goes to 2; after rounding it is 0 + 1.
  EXPECT_EQ(code("onnx-qlinear-ref", 0.25F, 2, 1), 2);
  EXPECT_EQ(code("ort-like", 0.25F, 2, 1), 1);
}

TEST(Requantize, LargeFactorsAndSaturation) {
  EXPECT_EQ(code("gemmlowp-double", 4, 20), 80);
  EXPECT_EQ(code("tflite-single", 4, 20), 80);
  EXPECT_EQ(code("tflite-single", 4, 1000), 127);
  EXPECT_EQ(code("gemmlowp-double", 4, -1000), -128);
  EXPECT_EQ(code("onnx-qlinear-ref", 4, 1000000), 127);
}

TEST(Requantize, IntegerBias) {
  const IntegerForm f = form("tflite-single", 0.5F);
  EXPECT_EQ(Requantizer(f, 0).integer_bias(1.25F), 2);  // 2.5 to even
  EXPECT_THROW(Requantizer(form("onednn-v3", 0.5F), 0), Error);
}

}  // namespace
}  // namespace assay::requantize_test
