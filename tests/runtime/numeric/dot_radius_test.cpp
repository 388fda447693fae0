#include "runtime/numeric/dot_radius.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/runtime/numeric/dot_oracle.h"

namespace assay::dot_radius_test {
namespace {

using oracle::Fill;

struct Case {
  GemmArgs<float> args;
  std::vector<float> a, b, c, r, out;
};

Case make(int64_t k, Fill kind, uint32_t seed) {
  const int64_t m = 9, n = 33;
  Case p{.args = {},
         .a = oracle::fill(static_cast<size_t>(m * k), kind, seed),
         .b = oracle::fill(static_cast<size_t>(n * k), kind, seed + 1),
         .c = oracle::fill(static_cast<size_t>(n), kind, seed + 2),
         .r = oracle::fill(static_cast<size_t>(m * n), kind, seed + 3),
         .out = std::vector<float>(static_cast<size_t>(m * n))};
  p.args = {.m = m,
            .n = n,
            .k = k,
            .a = p.a.data(),
            .b = p.b.data(),
            .out = p.out.data(),
            .alpha = 0.3F,
            .beta = 1.7F,
            .addend = {.data = p.c.data(), .row_stride = 0, .col_stride = 1},
            .residual = {.data = p.r.data(), .row_stride = n, .col_stride = 1}};
  return p;
}

std::vector<oracle::Term> terms(const Case& p, int64_t i, int64_t j) {
  std::vector<oracle::Term> list;
  for (int64_t k = 0; k < p.args.k; ++k)
    list.push_back({p.a[static_cast<size_t>(i * p.args.k + k)],
                    p.b[static_cast<size_t>(k * p.args.n + j)], static_cast<float>(p.args.alpha)});
  list.push_back({static_cast<float>(p.args.beta), p.c[static_cast<size_t>(j)]});
  list.push_back({1.0, p.r[static_cast<size_t>(i * p.args.n + j)]});
  return list;
}

double error_of(const Case& p, int64_t i, int64_t j) {
  std::vector<oracle::Term> list = terms(p, i, j);
  list.push_back({-1.0, p.out[static_cast<size_t>(i * p.args.n + j)]});
  return std::fabs(oracle::exact<double, true>(list));
}

// The running bound holds, and is within 200 times the worst error seen; gamma_n holds too.
TEST(DotRadius, BoundsHoldAndAreTight) {
  uint32_t seed = 1;
  for (const Fill kind : {Fill::normal, Fill::wide, Fill::tiny})
    for (const int64_t k : {1, 20, 300, 1500}) {
      Case p = make(k, kind, seed += 10);
      std::vector<double> radius(p.out.size()), sums(p.out.size());
      std::vector<float> canonical(p.out.size());
      p.args.out = canonical.data();
      gemm(p.args, DotMode::canonical);
      p.args.out = p.out.data();
      gemm_running(p.args, radius.data());
      ASSERT_EQ(p.out, canonical);
      gemm_abs_sum(p.args, sums.data());
      double worst = 0.0;
      for (int64_t i = 0; i < p.args.m; ++i)
        for (int64_t j = 0; j < p.args.n; ++j) {
          const auto at = static_cast<size_t>(i * p.args.n + j);
          const double error = error_of(p, i, j);
          ASSERT_LE(error, radius[at]) << k;
          ASSERT_LE(error, gamma_n(k + 4, kUnitFloat) * sums[at] +
                               static_cast<double>(k + 4) * kTinyFloat);
          worst = std::fmax(worst, error / radius[at]);
        }
      EXPECT_GE(worst, 1.0 / 200.0) << "k " << k;
    }
}

TEST(DotRadius, AbsSumIsAnUpperBound) {
  Case p = make(400, Fill::wide, 5);
  std::vector<double> sums(p.out.size());
  gemm_abs_sum(p.args, sums.data());
  for (int64_t i = 0; i < p.args.m; ++i)
    for (int64_t j = 0; j < p.args.n; ++j) {
      std::vector<oracle::Term> list = terms(p, i, j);
      for (oracle::Term& t : list) t = {std::fabs(t.a), std::fabs(t.b), std::fabs(t.scale)};
      const double exact = oracle::exact<double, true>(list);
      const double sum = sums[static_cast<size_t>(i * p.args.n + j)];
      ASSERT_GE(sum, exact);
      ASSERT_LE(sum, exact * (1.0 + 1e-12));
    }
}

// Equal terms of 1 + 3 * 2^-23: while the sum is between 64 and 120 every step loses 3 * 2^-23, far
// more than a radius shrunk by 2^10 allows.
TEST(DotRadius, ShrunkRadiusIsCaught) {
  const int64_t k = 120;
  std::vector<float> a(static_cast<size_t>(k), 1.0F), b(static_cast<size_t>(k), 1.0F + 0x1p-23F),
      out(1);
  GemmArgs<float> args{.m = 1,
                       .n = 1,
                       .k = k,
                       .a = a.data(),
                       .b = b.data(),
                       .out = out.data(),
                       .addend = {},
                       .residual = {}};
  double radius = 0.0;
  gemm_running(args, &radius);
  const double exact = static_cast<double>(k) * (1.0 + 0x1.8p-22);
  const double error = std::fabs(static_cast<double>(out[0]) - exact);
  EXPECT_LE(error, radius);
  EXPECT_GT(error, radius * 0x1p-10);
}

TEST(DotRadius, ConvolutionsAgreeWithConvAndHold) {
  const ConvShape plain{.batch = 2,
                        .in_channels = 40,
                        .out_channels = 9,
                        .in = {1, 7, 8},
                        .kernel = {1, 3, 3},
                        .out = {1, 7, 8},
                        .pad = {0, 1, 1}};
  const ConvShape transposed{.in_channels = 40,
                             .out_channels = 9,
                             .in = {1, 4, 5},
                             .kernel = {1, 3, 3},
                             .out = {1, 9, 11},
                             .stride = {1, 2, 2}};
  for (const bool is_transposed : {false, true}) {
    ConvArgs<float> args;
    args.shape = is_transposed ? transposed : plain;
    const ConvShape& s = args.shape;
    const auto x = oracle::fill(static_cast<size_t>(s.batch * s.in_channels * s.in_spatial()),
                                Fill::normal, 3);
    const auto w = oracle::fill(
        static_cast<size_t>(s.in_channels * s.out_channels * s.kernel_size()), Fill::normal, 4);
    const auto bias = oracle::fill(9, Fill::normal, 5);
    std::vector<float> y(static_cast<size_t>(s.batch * s.out_channels * s.out_spatial())),
        expected(y.size());
    std::vector<double> radius(y.size()), exact(y.size());
    args.x = x.data();
    args.w = w.data();
    args.bias = bias.data();
    args.y = expected.data();
    const auto run = [&](const auto& a, DotMode mode) {
      if (is_transposed)
        conv_transpose(a, mode);
      else
        conv(a, mode);
    };
    run(args, DotMode::canonical);
    args.y = y.data();
    conv_running(args, is_transposed, radius.data());
    EXPECT_EQ(y, expected);
    const std::vector<double> xd(x.begin(), x.end()), wd(w.begin(), w.end()),
        bd(bias.begin(), bias.end());
    ConvArgs<double> wide;
    wide.shape = s;
    wide.x = xd.data();
    wide.w = wd.data();
    wide.bias = bd.data();
    wide.y = exact.data();
    run(wide, DotMode::correct);
    double worst = 0.0;
    for (size_t i = 0; i < y.size(); ++i) {
      const double error = std::fabs(static_cast<double>(y[i]) - exact[i]);
      ASSERT_LE(error, radius[i]);
      worst = std::fmax(worst, error / radius[i]);
    }
    EXPECT_GE(worst, 1.0 / 200.0);
  }
}

TEST(DotRadius, OverflowGivesAnInfiniteRadius) {
  const std::vector<float> a = {3e38F, 1.0F}, b = {10.0F, 1.0F};
  float out = 0;
  double radius = 0;
  gemm_running<float>({.m = 1,
                       .n = 1,
                       .k = 2,
                       .a = a.data(),
                       .b = b.data(),
                       .out = &out,
                       .addend = {},
                       .residual = {}},
                      &radius);
  EXPECT_EQ(out, std::numeric_limits<float>::infinity());
  EXPECT_EQ(radius, std::numeric_limits<double>::infinity());
}

TEST(DotRadius, Gamma) {
  EXPECT_NEAR(gamma_n(1000, kUnitFloat), 1000.0 * 0x1p-24, 1e-8);
  EXPECT_EQ(gamma_n(1 << 24, kUnitFloat), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace assay::dot_radius_test
