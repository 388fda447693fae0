#include "runtime/numeric/gemm.h"

#include <gtest/gtest.h>

#include <limits>

#include "runtime/numeric/gemm_sinks.h"
#include "tests/runtime/numeric/dot_oracle.h"

namespace assay::gemm_test {
namespace {

using oracle::bits;
using oracle::Fill;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// One product with every optional part, kept as owned data.
struct Problem {
  int64_t m, n, k;
  std::vector<float> a, b, c, r;
  bool trans_a = false, trans_b = false;
  float alpha = 1.0F, beta = 1.0F;

  GemmArgs<float> args(float* out) const {
    GemmArgs<float> g{.m = m,
                      .n = n,
                      .k = k,
                      .a = a.data(),
                      .trans_a = trans_a,
                      .b = b.data(),
                      .trans_b = trans_b,
                      .out = out,
                      .alpha = alpha,
                      .beta = beta,
                      .addend = {},
                      .residual = {}};
    if (!c.empty()) g.addend = {.data = c.data(), .row_stride = 0, .col_stride = 1};
    if (!r.empty()) g.residual = {.data = r.data(), .row_stride = n, .col_stride = 1};
    return g;
  }
  float a_at(int64_t i, int64_t p) const {
    return a[static_cast<size_t>(trans_a ? p * m + i : i * k + p)];
  }
  float b_at(int64_t p, int64_t j) const {
    return b[static_cast<size_t>(trans_b ? j * k + p : p * n + j)];
  }

  float exact(int64_t i, int64_t j) const {
    std::vector<oracle::Term> terms;
    for (int64_t p = 0; p < k; ++p) terms.push_back({a_at(i, p), b_at(p, j), alpha});
    if (!c.empty()) terms.push_back({beta, c[static_cast<size_t>(j)]});
    if (!r.empty()) terms.push_back({1.0, r[static_cast<size_t>(i * n + j)]});
    return oracle::exact<float>(terms);
  }
  float canonical(int64_t i, int64_t j) const {
    std::vector<std::pair<float, float>> factors;
    for (int64_t p = 0; p < k; ++p) factors.emplace_back(a_at(i, p), b_at(p, j));
    float s = oracle::chain(factors);
    if (alpha != 1.0F) s = alpha * s;
    if (!c.empty())
      s = s + (beta == 1.0F ? c[static_cast<size_t>(j)] : beta * c[static_cast<size_t>(j)]);
    if (!r.empty()) s = s + r[static_cast<size_t>(i * n + j)];
    return s;
  }
};

Problem make(int64_t m, int64_t n, int64_t k, Fill kind, uint32_t seed) {
  Problem p{.m = m, .n = n, .k = k, .a = {}, .b = {}, .c = {}, .r = {}};
  p.a = oracle::fill(static_cast<size_t>(m * k), kind, seed);
  p.b = oracle::fill(static_cast<size_t>(n * k), kind, seed + 1);
  return p;
}

void expect_exact(const Problem& p, const char* what) {
  std::vector<float> out(static_cast<size_t>(p.m * p.n));
  gemm(p.args(out.data()), DotMode::correct);
  for (int64_t i = 0; i < p.m; ++i)
    for (int64_t j = 0; j < p.n; ++j)
      ASSERT_EQ(bits(out[static_cast<size_t>(i * p.n + j)]), bits(p.exact(i, j)))
          << what << " at " << i << ',' << j << " k=" << p.k;
}

TEST(Gemm, CorrectMatchesExactSums) {
  uint32_t seed = 1;
  for (const Fill kind : {Fill::normal, Fill::dyadic, Fill::wide, Fill::tiny, Fill::huge})
    for (const int64_t k : {1, 7, 64, 256, 257, 700}) {
      Problem p = make(9, 27, k, kind, seed++);
      expect_exact(p, "plain");
      p.trans_a = p.trans_b = true;
      p.alpha = 0.3F;
      p.beta = -1.7F;
      p.c = oracle::fill(static_cast<size_t>(p.n), kind, seed++);
      p.r = oracle::fill(static_cast<size_t>(p.m * p.n), kind, seed++);
      expect_exact(p, "all parts");
    }
}

TEST(Gemm, CorrectSurvivesCancellation) {
  for (const Fill kind : {Fill::normal, Fill::wide, Fill::tiny}) {
    Problem p = make(9, 30, 300, kind, 77);
    p.trans_b = true;
    for (size_t i = 0; i < 9; ++i)  // every second factor of a row repeats the one before, negated
      for (size_t k = 0; k + 2 < 300; k += 2) p.a[i * 300 + k + 1] = -p.a[i * 300 + k];
    for (size_t j = 0; j < 30; ++j)
      for (size_t k = 0; k + 2 < 300; k += 2) p.b[j * 300 + k + 1] = p.b[j * 300 + k];
    expect_exact(p, "cancellation");
  }
}

// The residual cancels each sum but for its own rounding to float, about 2^-25 of it. One rounding
// error in double then moves many results by an ulp: the proved radius catches them all, one shrunk
// by 2^10 does not.
TEST(Gemm, ShrunkRadiusIsCaught) {
  const int64_t m = 8, n = 96, k = 60;
  Problem p = make(m, n, k, Fill::normal, 91);
  std::vector<float> out(static_cast<size_t>(m * n));
  gemm(p.args(out.data()), DotMode::correct);
  for (const float v : out) p.r.push_back(-v);
  const auto wrong = [&](double scale) {
    dot::set_radius_scale_for_test(scale);
    gemm(p.args(out.data()), DotMode::correct);
    dot::set_radius_scale_for_test(1.0);
    int64_t count = 0;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        count += bits(out[static_cast<size_t>(i * n + j)]) != bits(p.exact(i, j)) ? 1 : 0;
    return count;
  };
  EXPECT_EQ(wrong(1.0), 0);
  EXPECT_GT(wrong(0x1p-10), 0);
}

// 1 + 2^-24 is the midpoint of two floats; a last term decides, down to 2^-149 * 2^-149.
TEST(Gemm, CorrectDecidesTrueMidpoints) {
  const float tie = 0x1p-24F;
  Problem p{.m = 1, .n = 6, .k = 3, .a = {1.0F, 1.0F, 0x1p-149F}, .b = {}, .c = {}, .r = {}};
  p.b = {1,
         1,
         1,
         1,
         1 + 0x1p-23F,
         1 + 0x1p-23F,  //
         tie,
         tie,
         tie,
         -tie,
         tie,
         tie,  //
         0,
         0x1p-149F,
         -0x1p-149F,
         0,
         0,
         -0x1p-149F};
  std::vector<float> out(6);
  gemm(p.args(out.data()), DotMode::correct);
  const std::vector<float> expected = {1.0F,       1.0F + 0x1p-23F, 1.0F,
                                       1.0F - tie, 1.0F + 0x1p-22F, 1.0F + 0x1p-23F};
  EXPECT_EQ(out, expected);
}

TEST(Gemm, CorrectRoundsSubnormalsAndOverflowOnce) {
  // 2^-75 * 2^-75 = 2^-150, half the smallest subnormal: ties to 0, a little more rounds up to
  // 2^-149. max + half an ulp overflows, anything less does not.
  const float max = std::numeric_limits<float>::max();
  Problem p{.m = 4, .n = 1, .k = 2, .a = {}, .b = {1.0F, 1.0F}, .c = {}, .r = {}};
  p.a = {0x1p-149F, -0x1p-149F, 0, 0, max, 0x1p103F, max, 0x1.fffffep102F};
  std::vector<float> out(4);
  gemm(p.args(out.data()), DotMode::correct);
  EXPECT_EQ(bits(out[0]), bits(0.0F));
  EXPECT_EQ(out[2], kInf);
  EXPECT_EQ(out[3], max);
  Problem q{.m = 3, .n = 1, .k = 2, .a = {}, .b = {0x1p-75F, 0x1p-100F}, .c = {}, .r = {}};
  q.a = {0x1p-75F, 0.0F, 0x1p-75F, 0x1p-149F, -0x1p-75F, 0.0F};
  gemm(q.args(out.data()), DotMode::correct);
  EXPECT_EQ(bits(out[0]), bits(0.0F));
  EXPECT_EQ(out[1], 0x1p-149F);
  EXPECT_EQ(bits(out[2]), bits(-0.0F));  // an inexact result keeps its sign
}

TEST(Gemm, SpecialValues) {
  struct Case {
    float a0, b0, a1, b1, expected;
  };
  const std::vector<Case> cases = {
      {kInf, 1, 1, 1, kInf},       {kInf, 0, 1, 1, kNan},       {kInf, 1, -kInf, 1, kNan},
      {kNan, 1, 1, 1, kNan},       {-kInf, 2, 3, 1e38F, -kInf}, {-0.0F, 1, 0.0F, -1, -0.0F},
      {-0.0F, 1, 0.0F, 1, 0.0F},   {1, 1, -1, 1, 0.0F},         {-1, 1, 1, 1, 0.0F},
      {3e38F, 2, 3e38F, -2, 0.0F}, {3e38F, 2, 3e38F, 1, kInf}};
  for (const Case& c : cases) {
    const std::vector<float> a = {c.a0, c.a1}, b = {c.b0, c.b1};
    float out = 0;
    gemm<float>({.m = 1,
                 .n = 1,
                 .k = 2,
                 .a = a.data(),
                 .b = b.data(),
                 .out = &out,
                 .addend = {},
                 .residual = {}},
                DotMode::correct);
    EXPECT_EQ(bits(out), bits(c.expected)) << c.a0 << '*' << c.b0 << '+' << c.a1 << '*' << c.b1;
  }
}

TEST(Gemm, CanonicalIsTheWrittenChain) {
  for (const int64_t k : {0, 1, 255, 256, 257, 800}) {
    Problem p = make(10, 37, k, Fill::normal, 5);
    p.alpha = 0.7F;
    p.beta = 1.3F;
    p.c = oracle::fill(37, Fill::normal, 6);
    p.r = oracle::fill(370, Fill::normal, 7);
    std::vector<float> out(370);
    oracle::under_all_settings([&] {
      gemm(p.args(out.data()), DotMode::canonical);
      for (int64_t i = 0; i < p.m; ++i)
        for (int64_t j = 0; j < p.n; ++j)
          ASSERT_EQ(bits(out[static_cast<size_t>(i * p.n + j)]), bits(p.canonical(i, j)))
              << isa_name(current_isa()) << " k=" << k;
    });
  }
}

TEST(Gemm, CanonicalDoubleIsTheWrittenChain) {
  const int64_t m = 9, n = 31, k = 300;
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::vector<double> a(static_cast<size_t>(m * k)), b(static_cast<size_t>(n * k)),
      out(static_cast<size_t>(m * n));
  for (double& v : a) v = normal(random);
  for (double& v : b) v = normal(random);
  const GemmArgs<double> args{.m = m,
                              .n = n,
                              .k = k,
                              .a = a.data(),
                              .b = b.data(),
                              .trans_b = true,
                              .out = out.data(),
                              .addend = {},
                              .residual = {}};
  const PackedWeights packed = pack_gemm_weights(args, DotMode::canonical);
  for (const bool use_packed : {false, true})
    oracle::under_all_settings([&] {
      if (use_packed)
        gemm_packed(args, DotMode::canonical, packed);
      else
        gemm(args, DotMode::canonical);
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          std::vector<std::pair<double, double>> factors;
          for (int64_t p = 0; p < k; ++p)
            factors.emplace_back(a[static_cast<size_t>(i * k + p)],
                                 b[static_cast<size_t>(j * k + p)]);
          ASSERT_EQ(out[static_cast<size_t>(i * n + j)], oracle::chain(factors));
        }
    });
}

TEST(Gemm, CanonicalNanIsCanonical) {
  const std::vector<float> a = {kInf, 1.0F}, b = {0.0F, 1.0F};
  float out = 0;
  oracle::under_all_settings([&] {
    gemm<float>({.m = 1,
                 .n = 1,
                 .k = 2,
                 .a = a.data(),
                 .b = b.data(),
                 .out = &out,
                 .addend = {},
                 .residual = {}},
                DotMode::canonical);
    EXPECT_EQ(bits(out), 0x7FC00000U);
  });
}

TEST(Gemm, CorrectBitsDoNotDependOnSettings) {
  Problem p = make(35, 130, 600, Fill::wide, 21);
  p.c = oracle::fill(130, Fill::wide, 22);
  std::vector<float> reference(static_cast<size_t>(p.m * p.n)), out(reference.size());
  gemm(p.args(reference.data()), DotMode::correct);
  const PackedWeights packed = pack_gemm_weights(p.args(out.data()), DotMode::correct);
  oracle::under_all_settings([&] {
    gemm(p.args(out.data()), DotMode::correct);
    ASSERT_EQ(out, reference) << isa_name(current_isa());
    std::fill(out.begin(), out.end(), 0.0F);
    gemm_packed(p.args(out.data()), DotMode::correct, packed);
    ASSERT_EQ(out, reference) << isa_name(current_isa());
  });
}

TEST(Gemm, ResidualInPlace) {
  Problem p = make(17, 40, 90, Fill::dyadic, 31);
  p.r = oracle::fill(static_cast<size_t>(p.m * p.n), Fill::dyadic, 32);
  std::vector<float> expected(p.r.size());
  gemm(p.args(expected.data()), DotMode::correct);
  std::vector<float> out = p.r;
  GemmArgs<float> args = p.args(out.data());
  args.residual.data = out.data();
  gemm(args, DotMode::correct);
  EXPECT_EQ(out, expected);
}

TEST(Gemm, CorrectDouble) {
  const std::vector<double> a = {1.0, 0x1p-53, 0x1p-1074, 3.0, -3.0, 0.5},
                            b = {1.0, 1.0, 0x1p-1074};
  std::vector<double> out(2);
  gemm<double>({.m = 2,
                .n = 1,
                .k = 3,
                .a = a.data(),
                .b = b.data(),
                .out = out.data(),
                .addend = {},
                .residual = {}},
               DotMode::correct);
  EXPECT_EQ(out[0], 1.0 + 0x1p-52);  // the midpoint plus 2^-2148
  EXPECT_EQ(out[1], 0.0);            // 2^-1075 ties to even
  GemmArgs<double> scaled{.m = 2,
                          .n = 1,
                          .k = 3,
                          .a = a.data(),
                          .b = b.data(),
                          .out = out.data(),
                          .alpha = 0.25,
                          .addend = {},
                          .residual = {}};
  gemm(scaled, DotMode::correct);
  EXPECT_EQ(out[0], 0.25 + 0x1p-54);
  std::mt19937_64 random(9);
  std::normal_distribution<double> normal;
  std::vector<oracle::Term> terms;
  std::vector<double> x(50), y(50);
  for (size_t i = 0; i < 50; ++i) terms.push_back({x[i] = normal(random), y[i] = normal(random)});
  gemm<double>({.m = 1,
                .n = 1,
                .k = 50,
                .a = x.data(),
                .b = y.data(),
                .out = out.data(),
                .addend = {},
                .residual = {}},
               DotMode::correct);
  EXPECT_EQ(out[0], oracle::exact<double>(terms));
}

}  // namespace
}  // namespace assay::gemm_test
