#include "runtime/numeric/int_gemm.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/runtime/numeric/dot_oracle.h"

namespace assay::int_gemm_test {
namespace {

std::vector<uint8_t> codes(size_t count, uint32_t seed, bool extreme) {
  std::mt19937 random(seed);
  std::vector<uint8_t> values(count);
  for (uint8_t& v : values)
    v = static_cast<uint8_t>(extreme ? (random() & 1U) * 127U + 128U : random());
  return values;
}

int64_t value(const std::vector<uint8_t>& data, bool is_signed, int64_t at) {
  const uint8_t v = data[static_cast<size_t>(at)];
  return is_signed ? static_cast<int8_t>(v) : v;
}

TEST(IntGemm, MatchesExactSums) {
  const int64_t m = 13, n = 61, k = 103;
  uint32_t seed = 1;
  for (const bool a_signed : {false, true})
    for (const bool b_signed : {false, true})
      for (const bool trans : {false, true})
        for (const bool extreme : {false, true}) {
          const auto a = codes(static_cast<size_t>(m * k), seed++, extreme);
          const auto b = codes(static_cast<size_t>(n * k), seed++, extreme);
          const std::vector<int32_t> a_zero = {a_signed ? -5 : 117};
          std::vector<int32_t> b_zero(static_cast<size_t>(n));
          for (size_t j = 0; j < b_zero.size(); ++j)
            b_zero[j] = static_cast<int32_t>(j % 7) + (b_signed ? -3 : 100);
          std::vector<int32_t> out(static_cast<size_t>(m * n));
          std::vector<int32_t> expected;
          for (int64_t i = 0; i < m; ++i)
            for (int64_t j = 0; j < n; ++j) {
              int64_t sum = 0;
              for (int64_t p = 0; p < k; ++p)
                sum += (value(a, a_signed, i * k + p) - a_zero[0]) *
                       (value(b, b_signed, trans ? j * k + p : p * n + j) -
                        b_zero[static_cast<size_t>(j)]);
              expected.push_back(static_cast<int32_t>(sum));
            }
          oracle::under_all_settings([&] {
            std::fill(out.begin(), out.end(), -1);
            const IntReport report =
                int_gemm({.m = m,
                          .n = n,
                          .k = k,
                          .a = {.data = a.data(), .is_signed = a_signed, .zero = a_zero},
                          .b = {.data = b.data(), .is_signed = b_signed, .zero = b_zero},
                          .trans_b = trans,
                          .out = out.data()});
            EXPECT_EQ(report.overflowed, 0);
            ASSERT_EQ(out, expected) << isa_name(current_isa());
          });
        }
}

// 255 * 127 * 70000 is above 2^31: the exact sum overflows, the result wraps, the report says so.
TEST(IntGemm, ReportsOverflow) {
  const int64_t k = 70000;
  const std::vector<uint8_t> a(static_cast<size_t>(2 * k), 255);
  std::vector<uint8_t> b(static_cast<size_t>(k), 127);
  std::vector<int32_t> out(2);
  const IntReport report = int_gemm({.m = 2,
                                     .n = 1,
                                     .k = k,
                                     .a = {.data = a.data(), .is_signed = false, .zero = {}},
                                     .b = {.data = b.data(), .is_signed = true, .zero = {}},
                                     .out = out.data()});
  const int64_t exact = int64_t{255} * 127 * k;
  EXPECT_EQ(report.overflowed, 2);
  EXPECT_EQ(report.max_abs, exact);
  EXPECT_EQ(out[0], static_cast<int32_t>(exact));
}

struct Case {
  std::string name;
  ConvShape shape;
};

TEST(IntConv, MatchesExactSums) {
  const std::vector<Case> cases = {
      {"3x3",
       {.batch = 2,
        .in_channels = 19,
        .out_channels = 21,
        .in = {1, 9, 11},
        .kernel = {1, 3, 3},
        .out = {1, 9, 11},
        .pad = {0, 1, 1}}},
      {"1x1 stride 2",
       {.in_channels = 10,
        .out_channels = 9,
        .in = {1, 9, 11},
        .out = {1, 5, 6},
        .stride = {1, 2, 2}}},
      {"depthwise",
       {.in_channels = 6,
        .out_channels = 6,
        .groups = 6,
        .in = {1, 10, 13},
        .kernel = {1, 3, 3},
        .out = {1, 5, 7},
        .stride = {1, 2, 2},
        .pad = {0, 1, 1}}},
      {"grouped 3-d",
       {.in_channels = 6,
        .out_channels = 4,
        .groups = 2,
        .in = {3, 5, 6},
        .kernel = {2, 2, 3},
        .out = {2, 6, 4},
        .dilation = {1, 1, 2},
        .pad = {0, 1, 1}}},
  };
  uint32_t seed = 50;
  for (const Case& c : cases)
    for (const bool x_signed : {false, true})
      for (const bool w_signed : {false, true}) {
        const ConvShape& s = c.shape;
        const int64_t in_group = s.in_channels / s.groups;
        const auto x =
            codes(static_cast<size_t>(s.batch * s.in_channels * s.in_spatial()), seed++, false);
        const auto w =
            codes(static_cast<size_t>(s.out_channels * in_group * s.kernel_size()), seed++, false);
        const std::vector<int32_t> x_zero = {x_signed ? 3 : 130};
        std::vector<int32_t> w_zero(static_cast<size_t>(s.out_channels), 0);
        if (!w_signed)
          for (size_t i = 0; i < w_zero.size(); ++i) w_zero[i] = 128 + static_cast<int32_t>(i % 3);
        std::vector<int32_t> y(static_cast<size_t>(s.batch * s.out_channels * s.out_spatial()));
        std::vector<int32_t> expected;
        for (int64_t n = 0; n < s.batch; ++n)
          for (int64_t oc = 0; oc < s.out_channels; ++oc)
            for (int64_t z = 0; z < s.out[0]; ++z)
              for (int64_t v = 0; v < s.out[1]; ++v)
                for (int64_t u = 0; u < s.out[2]; ++u) {
                  int64_t sum = 0;
                  for (int64_t q = 0; q < in_group * s.kernel_size(); ++q) {
                    const int64_t tap = q % s.kernel_size();
                    const int64_t iz = z * s.stride[0] - s.pad[0] +
                                       tap / (s.kernel[1] * s.kernel[2]) * s.dilation[0];
                    const int64_t iy = v * s.stride[1] - s.pad[1] +
                                       tap / s.kernel[2] % s.kernel[1] * s.dilation[1];
                    const int64_t ix =
                        u * s.stride[2] - s.pad[2] + tap % s.kernel[2] * s.dilation[2];
                    if (iz < 0 || iy < 0 || ix < 0 || iz >= s.in[0] || iy >= s.in[1] ||
                        ix >= s.in[2])
                      continue;
                    const int64_t channel = n * s.in_channels +
                                            oc / (s.out_channels / s.groups) * in_group +
                                            q / s.kernel_size();
                    sum += (value(x, x_signed,
                                  ((channel * s.in[0] + iz) * s.in[1] + iy) * s.in[2] + ix) -
                            x_zero[0]) *
                           (value(w, w_signed, oc * in_group * s.kernel_size() + q) -
                            w_zero[static_cast<size_t>(oc)]);
                  }
                  expected.push_back(static_cast<int32_t>(sum));
                }
        oracle::under_all_settings([&] {
          std::fill(y.begin(), y.end(), -1);
          const IntReport report =
              int_conv({.shape = s,
                        .x = {.data = x.data(), .is_signed = x_signed, .zero = x_zero},
                        .w = {.data = w.data(), .is_signed = w_signed, .zero = w_zero},
                        .y = y.data()});
          EXPECT_EQ(report.overflowed, 0);
          ASSERT_EQ(y, expected) << c.name << ' ' << isa_name(current_isa());
        });
      }
}

// Pairs saturate: 255 * 127 * 2 = 64770 becomes 32767, -255 * 128 * 2 becomes -32768, an odd end
// stands alone.
TEST(IntGemm, PairsSaturate) {
  EXPECT_EQ(dot_s16pair(std::vector<uint8_t>{255, 255}, std::vector<int8_t>{127, 127}), 32767);
  EXPECT_EQ(dot_s16pair(std::vector<uint8_t>{255, 255, 255}, std::vector<int8_t>{-128, -128, 127}),
            -32768 + 32385);
  EXPECT_EQ(dot_s16pair(std::vector<uint8_t>{255, 255, 1, 2}, std::vector<int8_t>{127, -127, 3, 4}),
            11);
}

// Two channels, kernel 2, input {255, 255 | 255, 0}, weights 127: tap 0 pairs 255 and 255
// (saturates), tap 1 pairs 255 and 0 (32385); padding holds code 1.
TEST(IntConv, PairsSaturate) {
  const std::vector<uint8_t> x = {255, 255, 255, 0};
  const std::vector<int8_t> w = {127, 127, 127, 127};
  std::vector<int32_t> y(2);
  IntConvArgs args{
      .shape = {.in_channels = 2, .in = {1, 1, 2}, .kernel = {1, 1, 2}, .out = {1, 1, 2}},
      .x = {.data = x.data(), .is_signed = false, .zero = {}},
      .w = {.data = w.data(), .is_signed = true, .zero = {}},
      .y = y.data()};
  int_conv_s16pair(args, 1);
  EXPECT_EQ(y[0], 32767 + 32385);
  EXPECT_EQ(y[1], 32385 + 254);
}

}  // namespace
}  // namespace assay::int_gemm_test
