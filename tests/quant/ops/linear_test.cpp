// QConv, QGemm, QAdd, QConcat by hand-computed codes.
#include <gtest/gtest.h>

#include "runtime/integer_stats.h"
#include "tests/support/quant_graphs.h"

namespace assay::test::linear_test {
namespace {

using Ints = std::vector<std::int64_t>;
constexpr std::int64_t float_result = 1, u8_result = 2, s8_result = 3;

Attributes with(Attributes a, const std::string& profile) {
  a.set("profile", profile);
  return a;
}

TEST(QGemm, S13_PairSaturationOnlyInItsProfile) {
  const Tensor x = u8({1, 3}, {210, 198, 234}), w = i8({1, 3}, {-81, -80, 127});
  const Attributes a{
      {"x_scale", 0.01F}, {"w_scales", std::vector<float>{0.01F}}, {"y_dtype", float_result}};
  EXPECT_FLOAT_EQ(floats(run_op("ai.assay:QGemm", {x, w}, with(a, "onnx-qdq"))[0])[0], -0.3132F);
  EXPECT_FLOAT_EQ(floats(run_op("ai.assay:QGemm", {x, w}, with(a, "onednn-v3"))[0])[0], -0.3132F);
  EXPECT_FLOAT_EQ(floats(run_op("ai.assay:QGemm", {x, w}, with(a, "onednn-s16pair"))[0])[0],
                  -0.3050F);
  Attributes chosen = with(a, "onednn-v3");
  chosen.set("acc", std::string("s16pair"));
  EXPECT_FLOAT_EQ(floats(run_op("ai.assay:QGemm", {x, w}, chosen)[0])[0], -0.3050F);
}

TEST(QConv, S13_PairSaturationOnlyInItsProfile) {
  const Tensor x = u8({1, 3, 1, 1}, {210, 198, 234}), w = i8({1, 3, 1, 1}, {-81, -80, 127});
  const Attributes a{
      {"x_scale", 0.01F}, {"w_scales", std::vector<float>{0.01F}}, {"y_dtype", float_result}};
  EXPECT_FLOAT_EQ(floats(run_op("ai.assay:QConv", {x, w}, with(a, "onednn-v3"))[0])[0], -0.3132F);
  EXPECT_FLOAT_EQ(floats(run_op("ai.assay:QConv", {x, w}, with(a, "onednn-s16pair"))[0])[0],
                  -0.3050F);
}

// int8 sources without VNNI: weights rne(w/2) with the doubled scale: -81 -> -40 (tie to even), -80
// -> -40, 127 -> 64 (tie).
TEST(QConv, HalvedWeights) {
  const Tensor x = i8({1, 3, 1, 1}, {10, -20, 30}), w = i8({1, 3, 1, 1}, {-81, -80, 127});
  const Attributes a{{"x_scale", 1.0F}, {"y_dtype", float_result}};
  EXPECT_EQ(floats(run_op("ai.assay:QConv", {x, w}, with(a, "onednn-v3"))[0])[0],
            -810 + 1600 + 3810);
  EXPECT_EQ(floats(run_op("ai.assay:QConv", {x, w}, with(a, "onednn-s16pair"))[0])[0],
            2 * (-400 + 800 + 1920));
}

// int8 sources of a matmul: 138 * -81 + 108 * -80 = -19818, no saturation; 255 * 127 + 255 * 127 =
// 64770 saturates to 32767.
TEST(QGemm, ShiftedSourceSaturates) {
  const Attributes a{{"x_scale", 1.0F},
                     {"y_dtype", float_result},
                     {"profile", std::string("onednn-v3")},
                     {"acc", std::string("s16pair")},
                     {"s8", std::string("plus128")}};
  EXPECT_EQ(
      floats(run_op("ai.assay:QGemm", {i8({1, 2}, {10, -20}), i8({1, 2}, {-81, -80})}, a)[0])[0],
      -810 + 1600);
  EXPECT_EQ(
      floats(run_op("ai.assay:QGemm", {i8({1, 2}, {127, 127}), i8({1, 2}, {127, 127})}, a)[0])[0],
      32767 - 128 * 254);
}

TEST(QConv, S15_ClampComesAfterTheSum) {
  const Tensor x = i8({1, 1, 1, 1}, {100}), w = i8({1, 1, 1, 1}, {2}), r = i8({1, 1, 1, 1}, {-100});
  for (const std::string profile : {"onnx-qdq", "onednn-v3"}) {
    const Attributes a{{"x_scale", 1.0F}, {"y_dtype", s8_result}, {"profile", profile}};
    EXPECT_EQ(codes(run_op("ai.assay:QConv", {x, w, Tensor(), r}, a)[0]), Ints{100}) << profile;
    Attributes kept = a;  // a kept quantization between Conv and Add clamps at 127
    kept.set("mid_scale", 1.0F);
    kept.set("mid_dtype", s8_result);
    EXPECT_EQ(codes(run_op("ai.assay:QConv", {x, w, Tensor(), r}, kept)[0]), Ints{27}) << profile;
  }
}

TEST(QConv, S27_PaddingIsTheZeroPoint) {
  const Tensor x = u8({1, 1, 1, 3}, {129, 130, 131}), w = i8({1, 1, 1, 3}, {1, 1, 1});
  for (const std::string profile :
       {"onnx-qdq", "onednn-v3", "onednn-s16pair", "onnx-qlinear-ref", "tflite-single"}) {
    const Attributes a{{"x_scale", 1.0F},          {"x_zero_point", std::int64_t{128}},
                       {"pads", Ints{0, 1, 0, 1}}, {"y_zero_point", std::int64_t{128}},
                       {"y_dtype", u8_result},     {"profile", profile}};
    EXPECT_EQ(codes(run_op("ai.assay:QConv", {x, w}, a)[0]), (Ints{131, 134, 133})) << profile;
  }
}

// 45 % of a half-ties set: v = 0.5 with zero point 1. ONNX rounds 0.5 to 0 and adds 1; oneDNN
// rounds 1.5 to 2.
TEST(QConv, ZeroPointBeforeOrAfterRounding) {
  const Tensor x = u8({1, 1, 1, 1}, {1}), w = i8({1, 1, 1, 1}, {1});
  const Attributes a{{"x_scale", 0.5F}, {"y_zero_point", std::int64_t{1}}, {"y_dtype", u8_result}};
  EXPECT_EQ(codes(run_op("ai.assay:QConv", {x, w}, with(a, "onnx-qdq"))[0]), Ints{1});
  EXPECT_EQ(codes(run_op("ai.assay:QConv", {x, w}, with(a, "onednn-v3"))[0]), Ints{2});
}

// One group per channel, bias, Relu: channel 0: 3 * 2 * 0.5 - 4 = -1 -> 0; channel 1: 5 * -3 * 0.25
// * 0.5 + 10 = 8.125 -> 8.
TEST(QConv, DepthwiseWithBiasAndRelu) {
  const Tensor x = u8({1, 2, 1, 1}, {3, 5}), w = i8({2, 1, 1, 1}, {2, -3}), b = f32({2}, {-4, 10});
  for (const std::string profile :
       {"onnx-qdq", "onednn-v3", "onednn-s16pair", "ort-like", "gemmlowp-double"}) {
    const Attributes a{{"x_scale", 0.5F},          {"w_scales", std::vector<float>{1, 0.25F}},
                       {"group", std::int64_t{2}}, {"activation", std::string("Relu")},
                       {"y_dtype", u8_result},     {"profile", profile}};
    EXPECT_EQ(codes(run_op("ai.assay:QConv", {x, w, b}, a)[0]), (Ints{0, 8})) << profile;
  }
}

TEST(QConv, CountsSaturationAndTies) {
  IntegerStats stats;
  const CollectIntegerStats scope(stats);
  const Tensor x = u8({1, 1, 1, 3}, {1, 200, 4}), w = i8({1, 1, 1, 1}, {2});
  run_op("ai.assay:QConv", {x, w},
         {{"x_scale", 0.75F}, {"y_dtype", u8_result}, {"profile", std::string("onednn-v3")}});
  const IntegerCounts c = stats.by_node().at("out0_node");  // values 1.5, 300, 6
  EXPECT_EQ(c.elements, 3);
  EXPECT_EQ(c.saturated_high, 1);
  EXPECT_EQ(c.ties, 1);
}

TEST(QAdd, S26_OneCodeApart) {
  const Attributes a{{"a_scale", 0.02534690499305725F},
                     {"a_zero_point", std::int64_t{-106}},
                     {"b_scale", 0.035809919238090515F},
                     {"b_zero_point", std::int64_t{-120}},
                     {"y_scale", 0.0365859717130661F},
                     {"y_zero_point", std::int64_t{-105}},
                     {"y_dtype", s8_result}};
  for (const std::string profile : {"onnx-qdq", "onnx-qlinear-ref"}) {
    EXPECT_EQ(
        codes(run_op("ai.assay:QAdd", {i8({1}, {-114}), i8({1}, {-122})}, with(a, profile))[0]),
        Ints{-113})
        << profile;
  }
}

TEST(QConcat, S22_DifferentScales) {
  const Tensor a = u8({2}, {10, 20}), b = u8({2}, {10, 20});
  const auto join = [&](std::vector<float> scales, Ints zeros, float y, std::int64_t zero,
                        const std::string& profile) {
    return codes(run_op("ai.assay:QConcat", {a, b},
                        {{"axis", std::int64_t{0}},
                         {"x_scales", scales},
                         {"x_zero_points", zeros},
                         {"y_scale", y},
                         {"y_zero_point", zero},
                         {"y_dtype", u8_result},
                         {"profile", profile}})[0]);
  };
  for (const std::string profile : {"onnx-qdq", "onednn-v3"}) {
    EXPECT_EQ(join({0.1F, 1}, {0, 5}, 0.1F, 0, profile), (Ints{10, 20, 50, 150}));
    EXPECT_EQ(join({0.1F, 1}, {0, 5}, 0.5F, 3, profile), (Ints{5, 7, 13, 33}));
    EXPECT_EQ(join({0.1F, 0.1F}, {0, 5}, 0.1F, 0, profile), (Ints{10, 20, 5, 15}));
  }
}

TEST(QConv, RefusesWhatTheProfileDoesNotDefine) {
  const Tensor x = u8({1, 1, 1, 1}, {1}), w = i8({1, 1, 1, 1}, {1});
  EXPECT_THROW(
      run_op("ai.assay:QConv", {x, w, Tensor(), x}, {{"profile", std::string("tflite-single")}}),
      Error);
  EXPECT_THROW(run_op("ai.assay:QConv", {x, w}, {{"profile", std::string("nope")}}), Error);
  EXPECT_THROW(run_op("ai.assay:QConv", {x, w}, {{"acc", std::string("nope")}}), Error);
  EXPECT_THROW(run_op("ai.assay:QConv", {x, w}, {{"w_scales", std::vector<float>{1, 1}}}), Error);
}

}  // namespace
}  // namespace assay::test::linear_test
