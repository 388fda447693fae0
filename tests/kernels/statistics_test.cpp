// The errors of oneDNN's float32 kernels as a sample: no bias, and no more scatter than a plain
// float32 sum. The bound for any order of summation is loose (gamma_n over the worst error seen:
// 147 times at 576 products), so a kernel that truncates, or that rounds its operands to fewer
// bits, stays inside it; these tests see it.
//
// Inputs are generated with mean zero, so that correct roundings are as often up as down, both of
// the number and of its magnitude. With n outputs, errors e_i and s their standard deviation,
//   t = mean(e) sqrt(n) / s,   and the same of e_i sign(y_i) (towards or away from zero),
// is nearly standard normal for rounding to nearest: |t| > 7 has a probability of 3e-12. The
// variance may be 4 times that of a sum of K products in one chain. Rounding the k-th partial sum
// adds a variance proportional to k: K^2/2 in all, and 64 K for the blocks of 128 of the canonical
// order, which are summed here. So the limit is 4 max(1, K/128) times the variance of that order.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "kernels/program.h"
#include "runtime/executor.h"
#include "tests/kernels/graph_maker.h"

namespace assay::kernels::statistics_test {
namespace {

constexpr double kMostT = 7, kMostVariance = 4;

struct Statistics {
  double up = 0;        ///< t of the errors
  double away = 0;      ///< t of the errors of the magnitudes
  double variance = 0;  ///< mean square
};

double t_of(const std::vector<double>& e) {
  double mean = 0, square = 0;
  for (const double x : e) mean += x / static_cast<double>(e.size());
  for (const double x : e) square += (x - mean) * (x - mean) / static_cast<double>(e.size() - 1);
  return mean * std::sqrt(static_cast<double>(e.size()) / square);
}

Statistics statistics(std::span<const float> y, std::span<const double> exact) {
  std::vector<double> up, away;
  Statistics s;
  for (std::size_t i = 0; i < y.size(); ++i) {
    up.push_back(static_cast<double>(y[i]) - exact[i]);
    away.push_back(exact[i] < 0 ? -up.back() : up.back());
    s.variance += up.back() * up.back() / static_cast<double>(y.size());
  }
  s.up = t_of(up);
  s.away = t_of(away);
  return s;
}

bool unbiased(const Statistics& s) {
  return std::abs(s.up) <= kMostT && std::abs(s.away) <= kMostT;
}

struct Net {
  GraphMaker maker;
  Feeds feeds;
};

struct Case {
  std::string name;
  std::int64_t channels, filters, kernel, group;
};

Net conv_net(const Case& c) {
  Net n;
  Random random(11);
  const std::int64_t side = 16 + c.kernel - 1;
  const Shape in{1, c.channels, side, side}, out{1, c.filters, 16, 16};
  const ValueId w =
      n.maker.constant("w", random.reals({c.filters, c.channels / c.group, c.kernel, c.kernel}));
  const ValueId x = n.maker.input("x", DType::float32, in);
  n.feeds["x"] = random.reals(in);
  n.maker.graph.add_output(
      n.maker.node("Conv", "y", {x, w}, DType::float32, out, Attributes{{"group", c.group}}));
  return n;
}

Net product_net(std::int64_t m, std::int64_t k, std::int64_t n) {
  Net net;
  Random random(12);
  const ValueId w = net.maker.constant("w", random.reals({k, n}));
  const ValueId x = net.maker.input("x", DType::float32, {m, k});
  net.feeds["x"] = random.reals({m, k});
  net.maker.graph.add_output(net.maker.node("MatMul", "y", {x, w}, DType::float32, {m, n}));
  return net;
}

/// `k`: products per output.
void expect_plain_rounding(const Net& n, std::int64_t k) {
  Program program = Program::compile(n.maker.graph, {}, {.threads = 2});
  for (const StepInfo& s : program.steps()) ASSERT_FALSE(s.reference()) << s.reason;
  const Tensor exact = Executor(n.maker.graph, Precision::f64).run(n.feeds).at("y");
  const Tensor canonical = Executor(n.maker.graph, Precision::f32).run(n.feeds).at("y");
  const Tensor kernel = program.run(n.feeds).at("y");
  ASSERT_GE(kernel.numel(), 16384);
  const Statistics own = statistics(canonical.data<float>(), exact.data<double>());
  const Statistics got = statistics(kernel.data<float>(), exact.data<double>());
  EXPECT_TRUE(unbiased(own)) << own.up << ", " << own.away;
  EXPECT_TRUE(unbiased(got)) << got.up << ", " << got.away;
  const double chain = std::max(1.0, static_cast<double>(k) / 128);
  EXPECT_LE(got.variance, kMostVariance * chain * own.variance);
}

class KernelStatistics : public ::testing::TestWithParam<Case> {};

TEST_P(KernelStatistics, ConvolutionsRoundToNearest) {
  const Case& c = GetParam();
  expect_plain_rounding(conv_net(c), c.channels / c.group * c.kernel * c.kernel);
}

INSTANTIATE_TEST_SUITE_P(Convolutions, KernelStatistics,
                         ::testing::Values(Case{"k3", 64, 64, 3, 1}, Case{"k1", 256, 64, 1, 1},
                                           Case{"grouped", 64, 64, 3, 4},
                                           Case{"depthwise", 64, 64, 3, 64}),
                         [](const auto& c) { return c.param.name; });

TEST(KernelStatistics, ProductsRoundToNearest) {
  expect_plain_rounding(product_net(128, 512, 128), 512);
}

/// A float32 chain whose every sum is rounded in its own way.
using Rounding = std::function<float(double)>;

float toward_zero(double v) {
  const auto nearest = static_cast<float>(v);
  return std::abs(static_cast<double>(nearest)) > std::abs(v) ? std::nextafter(nearest, 0.0F)
                                                              : nearest;
}
float upward(double v) {
  const auto nearest = static_cast<float>(v);
  return static_cast<double>(nearest) < v ? std::nextafter(nearest, 1e30F) : nearest;
}
float to_nearest(double v) { return static_cast<float>(v); }

/// The lower 16 bits away, to nearest: bfloat16 but for ties.
float half_the_bits(float v) {
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(v) + 0x8000U) & 0xFFFF0000U);
}

struct Model {
  Rounding sum = to_nearest, last = to_nearest;
  bool short_operands = false;
};

Statistics of_model(const Model& model) {
  const Net n = product_net(128, 512, 128);
  const auto x = n.feeds.at("x").data<float>();
  const auto w = n.maker.graph.constant(*n.maker.graph.find_value("w"))->data<float>();
  const Tensor exact = Executor(n.maker.graph, Precision::f64).run(n.feeds).at("y");
  std::vector<float> y;
  for (std::size_t i = 0; i < 128; ++i) {
    for (std::size_t j = 0; j < 128; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < 512; ++k) {
        const float a = x[i * 512 + k], b = w[k * 128 + j];
        const double product = model.short_operands
                                   ? static_cast<double>(half_the_bits(a)) * half_the_bits(b)
                                   : static_cast<double>(a) * b;
        sum = k + 1 < 512 ? model.sum(sum + product) : model.last(sum + product);
      }
      y.push_back(static_cast<float>(sum));
    }
  }
  return statistics(y, exact.data<double>());
}

// What the tests above would say of kernels that do not round to nearest.
TEST(KernelStatistics, WrongRoundingsAreFound) {
  const Statistics plain = of_model({});
  EXPECT_TRUE(unbiased(plain)) << plain.up << ", " << plain.away;
  EXPECT_LT(of_model({.sum = toward_zero, .last = toward_zero}).away, -10 * kMostT);
  EXPECT_GT(of_model({.sum = upward, .last = upward}).up, 10 * kMostT);
  EXPECT_LT(of_model({.last = toward_zero}).away, -kMostT / 2);
  EXPECT_GT(of_model({.short_operands = true}).variance, 1000 * kMostVariance * plain.variance);
}

}  // namespace
}  // namespace assay::kernels::statistics_test
