// Integer operators of ONNX and com.microsoft, hand-computed.
#include <gtest/gtest.h>

#include "tests/support/quant_graphs.h"

namespace assay::test::qlinear_test {
namespace {

using Ints = std::vector<std::int64_t>;
Tensor one(float v) { return Tensor::scalar(v); }
Tensor zu(int v) { return u8({}, {v}); }
Tensor zi(int v) { return i8({}, {v}); }

TEST(MatMulInteger, S23_ZeroPoints) {
  const Tensor a = u8({3, 3}, {238, 115, 94, 245, 111, 102, 158, 225, 48});
  const Tensor b = i8({3, 3}, {25, 36, 125, 42, -123, 76, -81, -86, 35});
  EXPECT_EQ(codes(run_op("MatMulInteger", {a, b, zu(42), zi(-26)})[0]),
            (Ints{12100, 1951, 40214, 11745, 2293, 41351, 18030, -10919, 36548}));
  EXPECT_EQ(codes(run_op("MatMulInteger", {a, b})[0])[0], 3166);
  // Row 1 with zero point 40: each (a - 40) is 2 more than (a - 42), so sums grow by 2 * column sum
  // of (b + 26).
  const Ints rows = codes(run_op("MatMulInteger", {a, b, u8({3}, {42, 40, 42}), zi(-26)})[0]);
  EXPECT_EQ(rows[0], 12100);
  EXPECT_EQ(rows[3], 11745 + 2 * ((25 + 26) + (42 + 26) + (-81 + 26)));
}

TEST(MatMulInteger, S14_IntegersStayIntegers) {
  std::vector<int> x(6656, 50), w(6656, -128);
  w[0] = -87;
  EXPECT_EQ(codes(run_op("MatMulInteger", {i8({1, 6656}, x), i8({6656, 1}, w)})[0]),
            Ints{-42596350});
}

TEST(MatMulInteger, BatchesBroadcast) {
  const Tensor a = u8({2, 1, 2}, {1, 2, 3, 4}), b = u8({2, 1}, {10, 1});
  const Tensor y = run_op("MatMulInteger", {a, b})[0];
  EXPECT_EQ(y.shape(), (Shape{2, 1, 1}));
  EXPECT_EQ(codes(y), (Ints{12, 34}));
  EXPECT_EQ(run_op("MatMulInteger", {u8({1, 0}, {}), u8({0, 2}, {})})[0].shape(), (Shape{1, 2}));
}

TEST(ConvInteger, S14_IntegersStayIntegers) {
  std::vector<int> w(6656, -128);
  w[0] = -87;
  const Tensor x = i8({1, 6656, 1, 1}, std::vector<int>(6656, 50));
  EXPECT_EQ(codes(run_op("ConvInteger", {x, i8({1, 6656, 1, 1}, w)})[0]), Ints{-42596350});
}

TEST(ConvInteger, PaddingIsTheZeroPoint) {
  const Tensor x = u8({1, 1, 1, 3}, {129, 130, 131}), w = i8({1, 1, 1, 3}, {1, 1, 1});
  EXPECT_EQ(codes(run_op("ConvInteger", {x, w, zu(128)}, {{"pads", Ints{0, 1, 0, 1}}})[0]),
            (Ints{3, 6, 5}));
  EXPECT_EQ(codes(run_op("ConvInteger", {x, u8({1, 1, 1, 3}, {3, 3, 3}), zu(128), u8({1}, {2})},
                         {{"pads", Ints{0, 1, 0, 1}}})[0]),
            (Ints{3, 6, 5}));
}

TEST(QLinearConv, S18_BiasHasTheScaleOfTheOperands) {
  // (10 * 5 + 100) * 0.02 / 0.25 = 12; with w_scale 0.4 for channel 1: 24.
  const auto run = [](const Tensor& w, const Tensor& ws, const Tensor& wz, const Tensor& b) {
    return codes(run_op("QLinearConv", {u8({1, 1, 1, 1}, {10}), one(0.1F), zu(0), w, ws, wz,
                                        one(0.25F), zu(0), b})[0]);
  };
  EXPECT_EQ(run(i8({1, 1, 1, 1}, {5}), one(0.2F), zi(0), i32({1}, {100})), Ints{12});
  EXPECT_EQ(
      run(i8({2, 1, 1, 1}, {5, 5}), f32({2}, {0.2F, 0.4F}), i8({2}, {0, 0}), i32({2}, {100, 100})),
      (Ints{12, 24}));
}

TEST(QLinearConv, S27_PaddingIsTheZeroPoint) {
  const Tensor x = u8({1, 1, 1, 3}, {129, 130, 131}), w = i8({1, 1, 1, 3}, {1, 1, 1});
  EXPECT_EQ(codes(run_op("QLinearConv", {x, one(1), zu(128), w, one(1), zi(0), one(1), zu(128)},
                         {{"pads", Ints{0, 1, 0, 1}}})[0]),
            (Ints{131, 134, 133}));
}

TEST(QLinearFloatForms, DequantizeRunQuantize) {
  // sigmoid(0) = 0.5: 0.5 / 0.01 = 50; LeakyRelu(-4 * 0.5, 0.25) = -0.5: -0.5 / 0.125 + 10 = 6.
  EXPECT_EQ(codes(run_op("com.microsoft:QLinearSigmoid",
                         {u8({1}, {7}), one(0.3F), zu(7), one(0.01F), zu(0)})[0]),
            Ints{50});
  EXPECT_EQ(
      codes(run_op("com.microsoft:QLinearLeakyRelu",
                   {u8({1}, {1}), one(0.5F), zu(5), one(0.125F), zu(10)}, {{"alpha", 0.25F}})[0]),
      Ints{6});
  const Tensor x = u8({1, 1, 2, 2}, {11, 12, 13, 16});
  EXPECT_EQ(codes(run_op("com.microsoft:QLinearGlobalAveragePool",
                         {x, one(1), zu(10), one(0.5F), zu(1)})[0]),
            Ints{7});
  EXPECT_EQ(codes(run_op("com.microsoft:QLinearAveragePool", {x, one(1), zu(10), one(0.5F), zu(1)},
                         {{"kernel_shape", Ints{1, 2}}})[0]),
            (Ints{4, 10}));
  EXPECT_THROW(run_op("com.microsoft:QLinearGlobalAveragePool", {x, one(1), zu(10), one(1), zu(0)},
                      {{"channels_last", std::int64_t{1}}}),
               Error);
}

TEST(QLinearConcat, S22_DifferentScales) {
  EXPECT_EQ(codes(run_op("com.microsoft:QLinearConcat",
                         {one(0.5F), zu(3), u8({2}, {10, 20}), one(0.1F), zu(0), u8({2}, {10, 20}),
                          one(1), zu(5)},
                         {{"axis", std::int64_t{0}}})[0]),
            (Ints{5, 7, 13, 33}));
}

TEST(QLinearMatMul, RoundsOnce) {
  // (3 - 1) * 5 * 0.5 * 0.5 / 1 = 2.5 to even 2, plus 1.
  EXPECT_EQ(codes(run_op("QLinearMatMul", {u8({1, 1}, {3}), one(0.5F), zu(1), u8({1, 1}, {5}),
                                           one(0.5F), zu(0), one(1), zu(1)})[0]),
            Ints{3});
}

TEST(QLinearAdd, S26_OneCodeApart) {
  EXPECT_EQ(
      codes(run_op("com.microsoft:QLinearAdd",
                   {i8({1}, {-114}), one(0.02534690499305725F), zi(-106), i8({1}, {-122}),
                    one(0.035809919238090515F), zi(-120), one(0.0365859717130661F), zi(-105)})[0]),
      Ints{-113});
}

TEST(QLinearMul, Broadcasts) {
  // (a - 1) * b * 0.5 * 0.5 / 0.25 = (a - 1) * b
  EXPECT_EQ(codes(run_op("com.microsoft:QLinearMul",
                         {u8({2, 1}, {2, 3}), one(0.5F), zu(1), u8({2}, {4, 5}), one(0.5F), zu(0),
                          one(0.25F), zu(0)})[0]),
            (Ints{4, 5, 8, 10}));
}

TEST(QGemm, S13_ExactWithFloatResult) {
  const auto y = run_op("com.microsoft:QGemm", {u8({1, 3}, {210, 198, 234}), one(0.01F), zu(0),
                                                i8({3, 1}, {-81, -80, 127}), one(0.01F), zi(0)});
  EXPECT_FLOAT_EQ(floats(y[0])[0], -0.3132F);
}

TEST(QGemm, BiasTransposeAndCodes) {
  // a^T b: [1 2] * [[3], [4]] = 11, + 5 = 16, * 0.5 * 0.5 = 4, / 2 = 2, + 10.
  const auto y = run_op("com.microsoft:QGemm",
                        {u8({2, 1}, {1, 2}), one(0.5F), zu(0), i8({1, 2}, {3, 4}), one(0.5F), zi(0),
                         i32({1}, {5}), one(2), zu(10)},
                        {{"transA", std::int64_t{1}}, {"transB", std::int64_t{1}}});
  EXPECT_EQ(codes(y[0]), Ints{12});
}

}  // namespace
}  // namespace assay::test::qlinear_test
