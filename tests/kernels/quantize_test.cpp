// The native quantizer against the definition: rhe of the real quotient. In double the quotient of
// two float32 is wrong by less than 2^-52 of itself, while a quotient that is no tie is at least
// 2^-33 of itself away from one: the double decides exactly.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/program.h"
#include "tests/kernels/graph_maker.h"

namespace assay::kernels::quantize_test {
namespace {

int expected_code(float x, float scale, int zero, int low, int high) {
  if (std::isnan(x)) return zero;
  const double k = std::nearbyint(static_cast<double>(x) / static_cast<double>(scale));
  return static_cast<int>(
      std::min(std::max(k + zero, static_cast<double>(low)), static_cast<double>(high)));
}

template <class T>
Tensor quantize(const Tensor& x, float scale, int zero,
                const std::string& kernel = "native:quantize") {
  GraphMaker m;
  const ValueId in = m.input("x", DType::float32, x.shape());
  const ValueId s = m.constant("s", Tensor::scalar(scale));
  const ValueId z = m.constant("z", Tensor::scalar(static_cast<T>(zero)));
  m.graph.add_output(m.node("QuantizeLinear", "y", {in, s, z}, dtype_of<T>, x.shape()));
  Program p = Program::compile(m.graph, {}, {.threads = 2});
  EXPECT_EQ(p.steps()[0].kernel, kernel);
  return p.run({{"x", x}}).at("y");
}

template <class T>
void check(const Tensor& x, float scale, int zero) {
  const Tensor y = quantize<T>(x, scale, zero);
  const int low = std::is_same_v<T, std::int8_t> ? -128 : 0, high = low + 255;
  for (std::size_t i = 0; i < y.data<T>().size(); ++i) {
    const float v = x.data<float>()[i];
    ASSERT_EQ(static_cast<int>(y.data<T>()[i]), expected_code(v, scale, zero, low, high))
        << v << " / " << scale;
  }
}

TEST(Quantize, TiesGoToTheEvenQuotient) {
  // x / s = 0.5, 1.5, 2.5, -0.5, -1.5 with s = 0.5: 0, 2, 2, 0, -2; plus zero point 3.
  const Tensor y = quantize<std::uint8_t>(
      Tensor::of<float>({5}, {0.25F, 0.75F, 1.25F, -0.25F, -0.75F}), 0.5F, 3);
  const auto c = y.data<std::uint8_t>();
  EXPECT_EQ((std::vector<int>(c.begin(), c.end())), (std::vector<int>{3, 5, 5, 3, 1}));
}

// Long enough for the path that skips the exact signs unless an element is near a tie.
TEST(Quantize, TiesAndTheirNeighboursInLongArrays) {
  for (const float scale : {0.5F, 0.1F, 0.0123F, 3.7F}) {
    Tensor x(DType::float32, {3 * 256});
    const auto v = x.mutable_data<float>();
    for (std::size_t i = 0; i < 256; ++i) {
      const float tie = (static_cast<float>(i) - 127.5F) * scale;
      v[3 * i] = tie;
      v[3 * i + 1] = std::nextafter(tie, 1e9F);
      v[3 * i + 2] = std::nextafter(tie, -1e9F);
    }
    check<std::uint8_t>(x, scale, 128);
    check<std::int8_t>(x, scale, -3);
    v[100] = NAN;
    v[200] = INFINITY;
    v[300] = -INFINITY;
    v[400] = 3e38F;
    check<std::int8_t>(x, scale, 5);
  }
}

TEST(Quantize, ExtremesSaturateAndNanIsZero) {
  const float inf = INFINITY;
  const Tensor y = quantize<std::int8_t>(
      Tensor::of<float>({6}, {inf, -inf, NAN, 3e38F, -3e38F, -0.0F}), 0.1F, -7);
  const auto c = y.data<std::int8_t>();
  EXPECT_EQ((std::vector<int>(c.begin(), c.end())),
            (std::vector<int>{127, -128, -7, 127, -128, -7}));
}

TEST(Quantize, EqualsTheRealQuotientOnTiesAndTheirNeighbours) {
  for (const float scale : {0.1F, 0.0235F, 1.0F / 3.0F, 0.0078125F, 7.3F}) {
    std::vector<float> v;
    for (int k = -140; k < 270; ++k) {
      const float tie = (static_cast<float>(k) + 0.5F) * scale;
      for (const float x : {tie, std::nextafter(tie, 1e9F), std::nextafter(tie, -1e9F)})
        v.push_back(x);
    }
    const Tensor x =
        Tensor::of<float>({static_cast<std::int64_t>(v.size())}, std::span<const float>(v));
    check<std::uint8_t>(x, scale, 5);
    check<std::int8_t>(x, scale, 0);
  }
}

TEST(Quantize, PlanesComeOutChannelsLast) {
  Random random(4);
  for (const std::int64_t channels : {1, 3, 4, 8})
    check<std::uint8_t>(random.reals({2, channels, 19, 31}), 0.01F, 121);
}

TEST(Dequantize, DifferenceTimesScaleRoundedOnce) {
  GraphMaker m;
  const ValueId in = m.input("q", DType::uint8, {4});
  const ValueId s = m.constant("s", Tensor::scalar(0.1F));
  const ValueId z = m.constant("z", Tensor::scalar(std::uint8_t{5}));
  m.graph.add_output(m.node("DequantizeLinear", "y", {in, s, z}, DType::float32, {4}));
  Program p = Program::compile(m.graph, {}, {.threads = 1});
  EXPECT_EQ(p.steps()[0].kernel, "native:dequantize");
  const auto out = p.run({{"q", Tensor::of<std::uint8_t>({4}, {3, 5, 0, 255})}}).at("y");
  const auto y = out.data<float>();
  // -2 * 0.1f, 0, -5 * 0.1f = -0.5f (0.1f is 0.1 + 1.49e-9), 250 * 0.1f = 25.0f.
  EXPECT_EQ(y[0], -0.2F);
  EXPECT_EQ(y[1], 0.0F);
  EXPECT_EQ(y[2], -0.5F);
  EXPECT_EQ(y[3], 25.0F);
}

}  // namespace
}  // namespace assay::kernels::quantize_test
