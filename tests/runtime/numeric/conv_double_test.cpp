// Canonical double convolutions against a plain loop in the written order. Units of 8 columns are
// one run of an output row or cross to the next in every way.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/runtime/numeric/conv_oracle.h"
#include "tests/runtime/numeric/dot_oracle.h"

namespace assay::conv_test {
namespace {

using Case = oracle::ConvCase;

static_assert(kDotBlock == 128);  // the written order, which oracle::chain follows

std::vector<Case> cases() {
  return {
      {"width 24", {2, 15, 5, 24}, {9, 15, 3, 3}, {}, {}, {1, 1}, {1, 1}, {}},
      {"width 28", {1, 15, 4, 28}, {17, 15, 3, 3}, {}, {}, {1, 1}, {1, 1}, {}},
      {"width 14", {2, 29, 5, 14}, {8, 29, 3, 3}, {}, {}, {1, 1}, {1, 1}, {}},
      {"width 13", {1, 4, 6, 13}, {5, 4, 3, 3}, {}, {}, {1, 1}, {1, 1}, {}},
      {"width 7", {2, 15, 7, 7}, {16, 15, 3, 3}, {}, {}, {1, 1}, {1, 1}, {}},
      {"one column behind a unit", {1, 15, 3, 11}, {9, 15, 3, 3}, {}, {}, {}, {}, {}},
      {"width 9", {1, 3, 9, 9}, {3, 3, 3, 3}, {}, {}, {1, 1}, {1, 1}, {}},
      {"part of the last unit", {1, 15, 3, 30}, {6, 15, 3, 3}, {}, {}, {}, {}, {}},
      {"few columns", {3, 15, 3, 5}, {1, 15, 3, 3}, {}, {}, {}, {}, {}},
      {"no padding in the width", {1, 2, 6, 16}, {5, 2, 5, 1}, {}, {}, {}, {}, {}},
      {"stride 2", {1, 3, 21, 47}, {9, 3, 7, 7}, {2, 2}, {}, {3, 3}, {3, 3}, {}},
      {"stride 1, 2", {1, 5, 6, 31}, {7, 5, 4, 4}, {1, 2}, {}, {2, 1}, {1, 2}, {}},
      {"asymmetric", {1, 6, 7, 17}, {6, 6, 3, 2}, {}, {}, {0, 0}, {2, 0}, {}},
      {"dilated", {1, 6, 9, 16}, {6, 6, 3, 3}, {}, {2, 3}, {2, 3}, {2, 3}, {}},
      {"grouped", {2, 12, 5, 40}, {12, 3, 3, 3}, {}, {}, {1, 1}, {1, 1}, {}, 4},
      {"3-d", {1, 3, 4, 5, 8}, {6, 3, 2, 3, 3}, {}, {}, {0, 1, 1}, {1, 1, 1}, {}},
      {"many rows", {1, 15, 3, 16}, {129, 15, 3, 3}, {}, {}, {1, 1}, {1, 1}, {}},
  };
}

std::vector<double> fill(int64_t count, uint32_t seed) {
  const std::vector<float> narrow =
      oracle::fill(static_cast<size_t>(count), oracle::Fill::normal, seed);
  std::vector<double> wide;
  for (const float v : narrow) wide.push_back(static_cast<double>(v) / 3.0);
  return wide;
}

TEST(ConvDouble, IsTheWrittenChainUnderAllSettings) {
  uint32_t seed = 0;
  for (const Case& c : cases()) {
    const ConvShape s = c.shape();
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
      const int64_t oc = row % s.out_channels;
      const std::array<int64_t, 3> o{col / (s.out[1] * s.out[2]), col / s.out[2] % s.out[1],
                                     col % s.out[2]};
      expected.push_back(oracle::chain(oracle::conv_factors(args, row / s.out_channels, oc, o)) +
                         args.bias[oc]);
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
