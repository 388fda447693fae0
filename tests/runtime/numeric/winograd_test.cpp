#include "runtime/numeric/winograd.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/runtime/numeric/dot_oracle.h"

namespace assay::winograd_test {
namespace {

using oracle::bits;
using oracle::Fill;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// A 3x3 convolution with padding 1 on all sides.
struct Problem {
  int64_t channels, outputs, height, width;
  std::vector<float> x, w, bias, residual;

  Problem(int64_t c, int64_t o, int64_t h, int64_t wide, uint32_t seed)
      : channels(c), outputs(o), height(h), width(wide) {
    x = oracle::fill(static_cast<size_t>(c * h * wide), Fill::normal, seed);
    w = oracle::fill(static_cast<size_t>(o * c * 9), Fill::normal, seed + 1);
  }

  ConvShape shape() const {
    return {.in_channels = channels,
            .out_channels = outputs,
            .in = {1, height, width},
            .kernel = {1, 3, 3},
            .out = {1, height, width},
            .pad = {0, 1, 1}};
  }

  std::vector<float> run() const {
    std::vector<float> y(static_cast<size_t>(outputs * height * width));
    conv<float>({.shape = shape(),
                 .x = x.data(),
                 .w = w.data(),
                 .bias = bias.empty() ? nullptr : bias.data(),
                 .residual = residual.empty() ? nullptr : residual.data(),
                 .y = y.data()},
                DotMode::correct);
    return y;
  }

  // All factors of one output, from the definition.
  std::vector<oracle::Term> terms(int64_t at) const {
    const int64_t o = at / (height * width), y = at / width % height, px = at % width;
    std::vector<oracle::Term> list;
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t i = std::max<int64_t>(y - 1, 0); i <= std::min(y + 1, height - 1); ++i)
        for (int64_t j = std::max<int64_t>(px - 1, 0); j <= std::min(px + 1, width - 1); ++j)
          list.push_back(
              {x[static_cast<size_t>((c * height + i) * width + j)],
               w[static_cast<size_t>((o * channels + c) * 9 + (i - y + 1) * 3 + j - px + 1)]});
    if (!bias.empty()) list.push_back({1.0, bias[static_cast<size_t>(o)]});
    if (!residual.empty()) list.push_back({1.0, residual[static_cast<size_t>(at)]});
    return list;
  }

  // The exact sum, rounded once; of values that are not finite, the sum by IEEE 754.
  float expected(int64_t at) const {
    const std::vector<oracle::Term> list = terms(at);
    double plain = 0.0;
    for (const oracle::Term& t : list) plain += t.a * t.b;
    if (std::isnan(plain)) return kNan;
    return std::isinf(plain) ? static_cast<float>(plain) : oracle::exact<float>(list);
  }

  // Outputs in steps of `step` that are not the expected ones.
  int64_t wrong(const std::vector<float>& y, int64_t step) const {
    int64_t count = 0;
    for (int64_t at = 0; at < static_cast<int64_t>(y.size()); at += step)
      count += bits(y[static_cast<size_t>(at)]) != bits(expected(at)) ? 1 : 0;
    return count;
  }
};

bool in_tiles(const Problem& p) {
  return dot::winograd::applies(p.shape()) &&
         (current_isa() == Isa::sse2 || dot::winograd::pays(dot::conv_plan(p.shape())));
}

// The residual cancels each sum but for its own rounding to float, about 2^-25 of it, so that one
// rounding error in double moves many results by an ulp: a radius that is too small is caught
// (tests/scripts/shrunk_radii.py).
TEST(Winograd, WhatIsLeftAfterCancellationIsExact) {
  for (const int64_t channels : {16, 70}) {
    Problem p(channels, 16, 6, 22, 5);
    ASSERT_TRUE(in_tiles(p));
    for (const float v : p.run()) p.residual.push_back(-v);
    EXPECT_EQ(p.wrong(p.run(), 1), 0);
  }
}

TEST(Winograd, ValuesThatAreNotFiniteReachTheirOutputsOnly) {
  Problem p(16, 17, 7, 22, 15);
  ASSERT_TRUE(in_tiles(p));
  p.bias = oracle::fill(17, Fill::normal, 3);
  p.x[30] = kInf;
  p.x[static_cast<size_t>(5 * 7 * 22 + 3)] = -kInf;
  p.x[static_cast<size_t>(9 * 7 * 22 + 100)] = kNan;
  p.x[static_cast<size_t>(9 * 7 * 22 + 153)] = kInf;
  EXPECT_EQ(p.wrong(p.run(), 1), 0);
  p.w[4] = kInf;
  p.w[9 * 16 + 2] = -kInf;
  p.w[2 * 9 * 16 + 9] = kNan;
  EXPECT_EQ(p.wrong(p.run(), 1), 0);
}

// Most products are zeros of either sign, and many sums are.
TEST(Winograd, ExactZerosHaveTheSignOfTheirAddends) {
  Problem p(16, 16, 9, 24, 25);
  ASSERT_TRUE(in_tiles(p));
  for (size_t i = 0; i < p.x.size(); ++i)
    if (i % 97 != 0) p.x[i] = i % 3 == 0 ? -0.0F : 0.0F;
  for (size_t i = 0; i < p.w.size(); ++i)
    if (i / 144 % 3 == 1) p.w[i] = i % 2 == 0 ? -0.0F : 0.0F;
  p.bias.assign(16, -0.0F);
  for (const bool addend : {true, false}) {
    if (!addend) p.bias.clear();
    EXPECT_EQ(p.wrong(p.run(), 1), 0);
  }
}

TEST(Winograd, LargestAndSmallestFloats) {
  for (const Fill kind : {Fill::tiny, Fill::huge, Fill::wide}) {
    Problem p(18, 16, 8, 20, 35);
    ASSERT_TRUE(in_tiles(p));
    p.x = oracle::fill(p.x.size(), kind, 1);
    p.w = oracle::fill(p.w.size(), kind, 2);
    EXPECT_EQ(p.wrong(p.run(), 3), 0);
  }
}

}  // namespace
}  // namespace assay::winograd_test
