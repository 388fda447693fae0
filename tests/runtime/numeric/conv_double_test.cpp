// Canonical double convolutions against a plain loop in the written order. Units of 8 columns are
// one run of an output row or cross to the next in every way.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "runtime/numeric/conv.h"
#include "tests/runtime/numeric/dot_oracle.h"

namespace assay::conv_test {
namespace {

struct Case {
  std::string name;
  std::vector<int64_t> x, w, strides, dilations, begin, end;
  int64_t groups = 1;
};

std::vector<Case> cases() {
  return {
      {"width 24", {2, 15, 5, 24}, {9, 15, 3, 3}, {}, {}, {1, 1}, {1, 1}},
      {"width 28", {1, 15, 4, 28}, {17, 15, 3, 3}, {}, {}, {1, 1}, {1, 1}},
      {"width 14", {2, 29, 5, 14}, {8, 29, 3, 3}, {}, {}, {1, 1}, {1, 1}},
      {"width 13", {1, 4, 6, 13}, {5, 4, 3, 3}, {}, {}, {1, 1}, {1, 1}},
      {"width 7", {2, 15, 7, 7}, {16, 15, 3, 3}, {}, {}, {1, 1}, {1, 1}},
      {"one column behind a unit", {1, 15, 3, 11}, {9, 15, 3, 3}, {}, {}, {}, {}},
      {"width 9", {1, 3, 9, 9}, {3, 3, 3, 3}, {}, {}, {1, 1}, {1, 1}},
      {"part of the last unit", {1, 15, 3, 30}, {6, 15, 3, 3}, {}, {}, {}, {}},
      {"few columns", {3, 15, 3, 5}, {1, 15, 3, 3}, {}, {}, {}, {}},
      {"no padding in the width", {1, 2, 6, 16}, {5, 2, 5, 1}, {}, {}, {}, {}},
      {"stride 2", {1, 3, 21, 47}, {9, 3, 7, 7}, {2, 2}, {}, {3, 3}, {3, 3}},
      {"stride 1, 2", {1, 5, 6, 31}, {7, 5, 4, 4}, {1, 2}, {}, {2, 1}, {1, 2}},
      {"asymmetric", {1, 6, 7, 17}, {6, 6, 3, 2}, {}, {}, {0, 0}, {2, 0}},
      {"dilated", {1, 6, 9, 16}, {6, 6, 3, 3}, {}, {2, 3}, {2, 3}, {2, 3}},
      {"grouped", {2, 12, 5, 40}, {12, 3, 3, 3}, {}, {}, {1, 1}, {1, 1}, 4},
      {"3-d", {1, 3, 4, 5, 8}, {6, 3, 2, 3, 3}, {}, {}, {0, 1, 1}, {1, 1, 1}},
      {"many rows", {1, 15, 3, 16}, {129, 15, 3, 3}, {}, {}, {1, 1}, {1, 1}},
  };
}

std::vector<double> fill(int64_t count, uint32_t seed) {
  const std::vector<float> narrow =
      oracle::fill(static_cast<size_t>(count), oracle::Fill::normal, seed);
  std::vector<double> wide;
  for (const float v : narrow) wide.push_back(static_cast<double>(v) / 3.0);
  return wide;
}

// The input an output reads with one tap, zero outside.
double input_at(const ConvArgs<double>& args, int64_t plane, const std::array<int64_t, 3>& o,
                int64_t tap) {
  const ConvShape& s = args.shape;
  const std::array<int64_t, 3> t{tap / (s.kernel[1] * s.kernel[2]), tap / s.kernel[2] % s.kernel[1],
                                 tap % s.kernel[2]};
  int64_t index = plane;
  for (size_t a = 0; a < 3; ++a) {
    const int64_t i = o[a] * s.stride[a] - s.pad[a] + t[a] * s.dilation[a];
    if (i < 0 || i >= s.in[a]) return 0.0;
    index = index * s.in[a] + i;
  }
  return args.x[index];
}

// Blocks of 128 terms, each a chain of fused multiply-adds, added in order; then the bias.
double written_chain(const ConvArgs<double>& args, int64_t n, int64_t oc,
                     const std::array<int64_t, 3>& o) {
  const ConvShape& s = args.shape;
  const int64_t in_group = s.in_channels / s.groups, group = oc / (s.out_channels / s.groups);
  const int64_t terms = in_group * s.kernel_size();
  double total = 0.0;
  for (int64_t first = 0; first < terms; first += 128) {
    double block = 0.0;
    for (int64_t k = first; k < std::min(terms, first + 128); ++k) {
      const int64_t channel = group * in_group + k / s.kernel_size();
      const double x = input_at(args, n * s.in_channels + channel, o, k % s.kernel_size());
      block = std::fma(args.w[oc * terms + k], x, block);
    }
    total = first == 0 ? block : total + block;
  }
  return total + args.bias[oc];
}

TEST(ConvDouble, IsTheWrittenChainUnderAllSettings) {
  uint32_t seed = 0;
  for (const Case& c : cases()) {
    const ConvShape s = conv_shape({.x_shape = c.x,
                                    .w_shape = c.w,
                                    .strides = c.strides,
                                    .dilations = c.dilations,
                                    .pads_begin = c.begin,
                                    .pads_end = c.end,
                                    .output_padding = {},
                                    .groups = c.groups});
    const std::vector<double> x = fill(s.batch * s.in_channels * s.in_spatial(), ++seed);
    const int64_t terms = s.in_channels / s.groups * s.kernel_size();
    const std::vector<double> w = fill(s.out_channels * terms, ++seed);
    const std::vector<double> bias = fill(s.out_channels, ++seed);
    std::vector<double> y(static_cast<size_t>(s.batch * s.out_channels * s.out_spatial()));
    ConvArgs<double> args;
    args.shape = s;
    args.x = x.data();
    args.w = w.data();
    args.bias = bias.data();
    args.y = y.data();
    std::vector<double> expected;
    for (int64_t at = 0; at < static_cast<int64_t>(y.size()); ++at) {
      const int64_t row = at / s.out_spatial(), col = at % s.out_spatial();
      expected.push_back(
          written_chain(args, row / s.out_channels, row % s.out_channels,
                        {col / (s.out[1] * s.out[2]), col / s.out[2] % s.out[1], col % s.out[2]}));
    }
    oracle::under_all_settings([&] {
      std::fill(y.begin(), y.end(), 0.0);
      conv(args, DotMode::canonical);
      ASSERT_EQ(y, expected) << c.name << ' ' << isa_name(current_isa());
    });
  }
}

}  // namespace
}  // namespace assay::conv_test
