// The same bits under every instruction set: each function and row under the SSE2 cap and under
// what the CPU offers.

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <vector>

#include "runtime/numeric/cpu_isa.h"
#include "runtime/numeric/elementary.h"
#include "runtime/numeric/rows.h"

namespace assay::elementary_isa_test {
namespace {

std::vector<float> points() {
  std::mt19937_64 rng(1);
  std::normal_distribution<float> normal(0.0F, 4.0F);
  std::vector<float> x;
  for (int i = 0; i < 20000; ++i) {
    x.push_back(normal(rng));
    x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(rng())));
  }
  return x;
}

template <class Run>
std::vector<std::uint32_t> bits_under(Isa cap, Run run) {
  set_isa_cap(cap);
  const std::vector<float> y = run();
  set_isa_cap(Isa::avx512);
  std::vector<std::uint32_t> bits;
  for (const float value : y) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

template <class Run>
void expect_same_bits(Run run) {
  EXPECT_EQ(bits_under(Isa::sse2, run), bits_under(Isa::avx512, run));
}

template <class... Fn>
void check_functions(const Fn&... fns) {
  const std::vector<float> x = points();
  const auto check = [&](const auto& fn) {
    expect_same_bits([&] {
      std::vector<float> y(x.size());
      cr(fn, std::span<const float>(x), std::span<float>(y));
      return y;
    });
  };
  (check(fns), ...);
}

TEST(ElementaryIsa, Functions) {
  check_functions(ExpFn{}, SigmoidFn{}, TanhFn{}, SinhFn{}, CoshFn{}, SoftplusFn{}, SwishFn{},
                  MishFn{}, EluFn{}, CeluFn{}, SeluFn{}, ErfFn{}, GeluErfFn{}, GeluTanhFn{},
                  LogFn{}, AsinhFn{}, AcoshFn{}, AtanhFn{});
  check_functions(SinFn{}, CosFn{}, TanFn{}, AsinFn{}, AcosFn{}, AtanFn{}, SqrtFn{}, RsqrtFn{},
                  ReciprocalFn{}, SoftsignFn{}, LeakyReluFn{}, ThresholdedReluFn{}, HardSigmoidFn{},
                  HardSwishFn{}, RoundFn{}, FloorFn{}, CeilFn{});
}

TEST(ElementaryIsa, Rows) {
  std::mt19937_64 rng(2);
  std::normal_distribution<float> normal(0.0F, 3.0F);
  std::vector<float> x(1003);
  for (float& value : x) value = normal(rng);
  const std::span<const float> in(x);
  const auto check = [&](auto run) {
    expect_same_bits([&] {
      std::vector<float> y(x.size());
      run(std::span<float>(y));
      return y;
    });
  };
  check([&](std::span<float> y) { cr_softmax(in, y); });
  check([&](std::span<float> y) { cr_log_softmax(in, y); });
  check([&](std::span<float> y) { cr_layer_norm(in, {}, y); });
  check([&](std::span<float> y) { BatchNormChannel({.scale = 1.5F, .mean = 0.1F})(in, y); });
  check([&](std::span<float> y) { row_softmax(in, y); });
  check([&](std::span<float> y) { row_layer_norm(in, {.epsilon = 1e-5F}, y); });
  check([&](std::span<float> y) { row_batch_norm(in, {1.5F, 0.5F, 0.1F, 2.0F, 1e-5F}, y); });
  check([&](std::span<float> y) { y[0] = row_dot(in, in); });
}

}  // namespace
}  // namespace assay::elementary_isa_test
