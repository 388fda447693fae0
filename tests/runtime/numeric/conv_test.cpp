#include "runtime/numeric/conv.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "runtime/numeric/conv_generic.h"
#include "tests/runtime/numeric/conv_oracle.h"
#include "tests/runtime/numeric/dot_oracle.h"

namespace assay::conv_test {
namespace {

using oracle::bits;
using oracle::Fill;

constexpr float kInf = std::numeric_limits<float>::infinity();

using Case = oracle::ConvCase;

std::vector<Case> cases() {
  return {
      {"1x1", {2, 19, 5, 7}, {13, 19, 1, 1}, {}, {}, {}, {}, {}},
      {"1x1 stride 2", {1, 9, 7, 9}, {10, 9, 1, 1}, {2, 2}, {}, {}, {}, {}},
      {"3x3 padded", {2, 33, 7, 7}, {17, 33, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {}},
      {"7x7 stride 2", {1, 3, 23, 30}, {9, 3, 7, 7}, {2, 2}, {1, 1}, {3, 3}, {3, 3}, {}},
      {"asymmetric", {1, 4, 9, 8}, {5, 4, 3, 2}, {3, 2}, {2, 3}, {0, 2}, {2, 1}, {}},
      {"crop", {1, 3, 9, 10}, {4, 3, 3, 3}, {1, 1}, {1, 1}, {-1, 1}, {1, -2}, {}},
      {"grouped", {2, 12, 6, 29}, {8, 3, 3, 3}, {1, 2}, {1, 1}, {1, 1}, {1, 1}, {}, 4},
      {"depthwise", {2, 11, 9, 14}, {11, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {}, 11},
      {"depthwise stride 2",
       {1, 10, 13, 37},
       {10, 1, 5, 5},
       {2, 2},
       {1, 1},
       {2, 2},
       {1, 2},
       {},
       10},
      {"depthwise multiplier", {1, 6, 8, 8}, {12, 1, 3, 3}, {1, 1}, {2, 2}, {2, 2}, {2, 2}, {}, 6},
      {"1-d", {2, 5, 40}, {7, 5, 3}, {2}, {1}, {1}, {0}, {}},
      {"3-d", {1, 3, 4, 5, 9}, {6, 3, 2, 3, 3}, {1, 2, 2}, {1, 1, 2}, {0, 1, 2}, {1, 1, 1}, {}},
      {"3x3 in tiles", {1, 17, 9, 21}, {18, 17, 3, 3}, {}, {}, {1, 1}, {1, 1}, {}},
      {"1x3 in tiles, grouped", {2, 32, 5, 33}, {34, 16, 1, 3}, {}, {}, {0, 1}, {0, 0}, {}, 2},
      {"5x3 in tiles, crop", {1, 70, 12, 20}, {17, 70, 5, 3}, {}, {}, {2, -1}, {0, 2}, {}},
      {"transposed k2 s2", {2, 9, 5, 6}, {9, 7, 2, 2}, {2, 2}, {}, {}, {}, {}, 1, true},
      {"transposed k3 s2",
       {1, 4, 5, 6},
       {4, 3, 3, 3},
       {2, 2},
       {1, 1},
       {1, 1},
       {1, 1},
       {1, 1},
       2,
       true},
      {"transposed k1 s3", {1, 3, 4, 4}, {3, 2, 1, 1}, {3, 3}, {}, {}, {}, {}, 1, true},
      {"transposed dilated",
       {1, 2, 6, 5},
       {2, 3, 3, 2},
       {2, 1},
       {2, 3},
       {1, 0},
       {2, 1},
       {1, 0},
       1,
       true},
      {"transposed 1-d", {1, 5, 9}, {5, 4, 4}, {2}, {1}, {1}, {1}, {}, 1, true},
  };
}

// Every (input value, weight) that reaches one output, straight from ONNX's definition: plain
// convolution reads x[o * stride - pad + t * dilation]; transposed adds x[i] * w[t] to o = i *
// stride - pad + t * dilation.
template <typename T, typename Fn>
void visit_taps(const ConvArgs<T>& args, bool transposed, int64_t n, int64_t oc,
                std::array<int64_t, 3> o, const Fn& fn) {
  const ConvShape& s = args.shape;
  const int64_t in_group = s.in_channels / s.groups, out_group = s.out_channels / s.groups;
  const int64_t group = oc / out_group;
  for (int64_t c = 0; c < in_group; ++c)
    for (int64_t z = 0; z < s.in[0]; ++z)
      for (int64_t y = 0; y < s.in[1]; ++y)
        for (int64_t x = 0; x < s.in[2]; ++x) {
          const std::array<int64_t, 3> i{z, y, x};
          std::array<int64_t, 3> t{};
          bool reaches = true;
          for (size_t a = 0; a < 3; ++a) {
            const int64_t distance = transposed ? o[a] + s.pad[a] - i[a] * s.stride[a]
                                                : i[a] + s.pad[a] - o[a] * s.stride[a];
            t[a] = distance / s.dilation[a];
            reaches =
                reaches && distance >= 0 && distance % s.dilation[a] == 0 && t[a] < s.kernel[a];
          }
          if (!reaches) continue;
          const int64_t channel = group * in_group + c;
          const int64_t tap = (t[0] * s.kernel[1] + t[1]) * s.kernel[2] + t[2];
          const int64_t w = transposed
                                ? (channel * out_group + oc % out_group) * s.kernel_size() + tap
                                : (oc * in_group + c) * s.kernel_size() + tap;
          const int64_t at =
              (n * s.in_channels + channel) * s.in_spatial() + (z * s.in[1] + y) * s.in[2] + x;
          fn(args.x[at], args.w[w]);
        }
}

template <typename T, typename Fn>
void for_each_output(const ConvArgs<T>& args, const Fn& fn) {
  const ConvShape& s = args.shape;
  int64_t at = 0;
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t oc = 0; oc < s.out_channels; ++oc)
      for (int64_t z = 0; z < s.out[0]; ++z)
        for (int64_t y = 0; y < s.out[1]; ++y)
          for (int64_t x = 0; x < s.out[2]; ++x, ++at)
            fn(at, n, oc, std::array<int64_t, 3>{z, y, x});
}

struct Data {
  std::vector<float> x, w, bias, residual, y;
  ConvArgs<float> args;

  Data(const Case& c, Fill kind, uint32_t seed) {
    args.shape = c.shape();
    const ConvShape& s = args.shape;
    x = oracle::fill(static_cast<size_t>(s.batch * s.in_channels * s.in_spatial()), kind, seed);
    size_t weights = 1;
    for (const int64_t d : c.w) weights *= static_cast<size_t>(d);
    w = oracle::fill(weights, kind, seed + 1);
    bias = oracle::fill(static_cast<size_t>(s.out_channels), kind, seed + 2);
    y.resize(static_cast<size_t>(s.batch * s.out_channels * s.out_spatial()));
    residual = oracle::fill(y.size(), kind, seed + 3);
    args.x = x.data();
    args.w = w.data();
    args.bias = bias.data();
    args.residual = residual.data();
    args.y = y.data();
  }
};

template <typename T>
void run(const ConvArgs<T>& args, bool transposed, DotMode mode) {
  if (transposed)
    conv_transpose(args, mode);
  else
    conv(args, mode);
}

float exact_output(const ConvArgs<float>& args, bool transposed, int64_t at, int64_t n, int64_t oc,
                   const std::array<int64_t, 3>& o) {
  std::vector<oracle::Term> terms;
  visit_taps(args, transposed, n, oc, o, [&](float x, float w) { terms.push_back({x, w}); });
  if (args.bias != nullptr) terms.push_back({1.0, args.bias[oc]});
  if (args.residual != nullptr) terms.push_back({1.0, args.residual[at]});
  return oracle::exact<float>(terms);
}

TEST(Conv, CorrectMatchesExactSums) {
  uint32_t seed = 100;
  for (const Case& c : cases())
    for (const Fill kind : {Fill::normal, Fill::dyadic, Fill::wide}) {
      Data d(c, kind, seed += 10);
      if (kind == Fill::dyadic) d.args.residual = d.args.bias = nullptr;
      run(d.args, c.transposed, DotMode::correct);
      for_each_output(d.args, [&](int64_t at, int64_t n, int64_t oc, const auto& o) {
        if (at % 7 != 0) return;  // a seventh of the outputs: the exact sums are slow
        EXPECT_EQ(bits(d.y[static_cast<size_t>(at)]),
                  bits(exact_output(d.args, c.transposed, at, n, oc, o)))
            << c.name << " at " << at;
      });
    }
}

// Away from the border all taps take part, so the chain is exactly the written order.
TEST(Conv, CanonicalIsTheWrittenChain) {
  for (const Case& c : cases()) {
    Data d(c, Fill::normal, 7);
    run(d.args, c.transposed, DotMode::canonical);
    std::vector<float> first = d.y;
    if (!c.transposed) {
      for_each_output(d.args, [&](int64_t at, int64_t n, int64_t oc, const auto& o) {
        float sum =
            oracle::chain(oracle::conv_factors(d.args, n, oc, o)) + d.bias[static_cast<size_t>(oc)];
        sum = sum + d.residual[static_cast<size_t>(at)];
        ASSERT_EQ(bits(first[static_cast<size_t>(at)]), bits(sum)) << c.name << " at " << at;
      });
    }
    oracle::under_all_settings([&] {
      run(d.args, c.transposed, DotMode::canonical);
      ASSERT_EQ(d.y, first) << c.name << ' ' << isa_name(current_isa());
    });
  }
}

TEST(Conv, CorrectBitsDoNotDependOnSettings) {
  for (const Case& c : cases()) {
    Data d(c, Fill::wide, 17);
    run(d.args, c.transposed, DotMode::correct);
    const std::vector<float> first = d.y;
    oracle::under_all_settings([&] {
      run(d.args, c.transposed, DotMode::correct);
      ASSERT_EQ(d.y, first) << c.name << ' ' << isa_name(current_isa());
    });
  }
}

// Eight equal images give eight times the bits of one.
TEST(Conv, BatchDoesNotChangeBits) {
  const Case one{"", {1, 20, 9, 11}, {24, 20, 3, 3}, {}, {}, {1, 1}, {1, 1}, {}};
  Case eight = one;
  eight.x[0] = 8;
  for (const DotMode mode : {DotMode::canonical, DotMode::correct}) {
    Data a(one, Fill::normal, 3), b(eight, Fill::normal, 3);
    for (size_t i = 0; i < b.x.size(); ++i) b.x[i] = a.x[i % a.x.size()];
    b.w = a.w;
    b.args.w = b.w.data();
    b.args.bias = a.args.bias;
    b.args.residual = a.args.residual = nullptr;
    run(a.args, false, mode);
    run(b.args, false, mode);
    for (size_t i = 0; i < b.y.size(); ++i) ASSERT_EQ(bits(b.y[i]), bits(a.y[i % a.y.size()]));
  }
}

// x = 1..9 (3x3), w = 1..4 (2x2): y = 1*x00 + 2*x01 + 3*x10 + 4*x11.
TEST(Conv, HandComputed) {
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8, 9}, w = {1, 2, 3, 4}, bias = {0.5F};
  std::vector<float> y(4);
  ConvArgs<float> args;
  args.shape = {.in = {1, 3, 3}, .kernel = {1, 2, 2}, .out = {1, 2, 2}};
  args.x = x.data();
  args.w = w.data();
  args.bias = bias.data();
  args.y = y.data();
  const std::vector<float> expected = {37.5F, 47.5F, 67.5F, 77.5F};
  for (const DotMode mode : {DotMode::canonical, DotMode::correct}) {
    conv(args, mode);
    EXPECT_EQ(y, expected);
  }
  conv_generic(args, false);
  EXPECT_EQ(y, expected);
}

// Stride 2 spreads x = {1, 2} (1x2) with w = {1, 10, 100}: 1, 10, 100 + 2, 20, 200.
TEST(Conv, HandComputedTransposed) {
  const std::vector<float> x = {1, 2}, w = {1, 10, 100};
  std::vector<float> y(5);
  ConvArgs<float> args;
  args.shape = {.in = {1, 1, 2}, .kernel = {1, 1, 3}, .out = {1, 1, 5}, .stride = {1, 1, 2}};
  args.x = x.data();
  args.w = w.data();
  args.y = y.data();
  const std::vector<float> expected = {1, 10, 102, 20, 200};
  for (const DotMode mode : {DotMode::canonical, DotMode::correct}) {
    conv_transpose(args, mode);
    EXPECT_EQ(y, expected);
  }
  conv_generic(args, true);
  EXPECT_EQ(y, expected);
}

// An infinite weight over a padding tap must not make 0 * inf.
TEST(Conv, PaddingTapsDoNotTakePart) {
  const std::vector<float> x = {1, 2, 3}, w = {kInf, 1, 1};
  std::vector<float> y(3);
  ConvArgs<float> args;
  args.shape = {.in = {1, 1, 3}, .kernel = {1, 1, 3}, .out = {1, 1, 3}, .pad = {0, 0, 1}};
  args.x = x.data();
  args.w = w.data();
  args.y = y.data();
  const std::vector<float> expected = {3, kInf, kInf};
  for (const DotMode mode : {DotMode::canonical, DotMode::correct}) {
    conv(args, mode);
    EXPECT_EQ(y, expected);
  }
}

// Only -0 addends give -0; a padding tap is no addend.
TEST(Conv, SignOfAnExactZero) {
  const std::vector<float> x = {-0.0F, -0.0F}, w = {1, 1};
  std::vector<float> y(3);
  ConvArgs<float> args;
  args.shape = {.in = {1, 1, 2}, .kernel = {1, 1, 2}, .out = {1, 1, 3}, .pad = {0, 0, 1}};
  args.x = x.data();
  args.w = w.data();
  args.y = y.data();
  conv(args, DotMode::correct);
  for (const float v : y) EXPECT_EQ(bits(v), bits(-0.0F));
  const float bias = 0.0F;
  args.bias = &bias;
  conv(args, DotMode::correct);
  for (const float v : y) EXPECT_EQ(bits(v), bits(0.0F));
}

TEST(Conv, ResidualInPlaceAndPackedWeights) {
  const Case c{"", {2, 16, 9, 9}, {24, 16, 3, 3}, {}, {}, {1, 1}, {1, 1}, {}};
  Data d(c, Fill::dyadic, 40);
  conv(d.args, DotMode::correct);
  const std::vector<float> expected = d.y;
  d.y = d.residual;
  d.args.residual = d.args.y = d.y.data();
  conv_packed(d.args, DotMode::correct,
              pack_conv_weights(d.args.shape, d.args.w, DotMode::correct));
  EXPECT_EQ(d.y, expected);
}

// The tail sees each element once, with the value it has without a tail, and what it leaves there
// stays.
template <typename T>
void expect_tail(ConvArgs<T> args, DotMode mode, const std::string& name) {
  const auto size =
      static_cast<size_t>(args.shape.batch * args.shape.out_channels * args.shape.out_spatial());
  std::vector<T> plain(size), y(size);
  args.y = plain.data();
  conv(args, mode);
  const RangeFn tail = [&](int64_t first, int64_t last) {
    for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(last); ++i)
      y[i] = y[i] == plain[i] ? y[i] * T(2) + T(1) : T(-7);
  };
  args.tail = &tail;
  args.y = y.data();
  conv(args, mode);
  for (size_t i = 0; i < size; ++i)
    ASSERT_EQ(y[i], plain[i] * T(2) + T(1)) << name << " element " << i;
}

TEST(Conv, TailTakesEveryFinalElementOnce) {
  for (const Case& c : cases()) {
    if (c.transposed) continue;
    for (const DotMode mode : {DotMode::canonical, DotMode::correct}) {
      const Data d(c, Fill::dyadic, 60);
      expect_tail(d.args, mode, c.name);
      const std::vector<double> x(d.x.begin(), d.x.end()), w(d.w.begin(), d.w.end());
      ConvArgs<double> args;
      args.shape = d.args.shape;
      args.x = x.data();
      args.w = w.data();
      expect_tail(args, mode, c.name);
    }
  }
}

TEST(Conv, DoubleMatchesGenericOnIntegers) {
  for (const Case& c : cases()) {
    Data d(c, Fill::dyadic, 50);
    const std::vector<double> x(d.x.begin(), d.x.end()), w(d.w.begin(), d.w.end()),
        bias(d.bias.begin(), d.bias.end());
    std::vector<double> y(d.y.size()), expected(d.y.size());
    ConvArgs<double> args;
    args.shape = d.args.shape;
    args.x = x.data();
    args.w = w.data();
    args.bias = bias.data();
    args.y = expected.data();
    conv_generic(args, c.transposed);
    args.y = y.data();
    run(args, c.transposed, DotMode::canonical);
    EXPECT_EQ(y, expected) << c.name;
    run(args, c.transposed, DotMode::correct);
    EXPECT_EQ(y, expected) << c.name;
  }
}

}  // namespace
}  // namespace assay::conv_test
