// Nanoseconds per element of the correctly rounded functions, one thread, 2^16 normally distributed
// floats.

#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "runtime/numeric/elementary.h"
#include "runtime/numeric/rows.h"

namespace {

using namespace assay;

constexpr std::size_t kSize = 1 << 16;

std::vector<float> inputs(bool positive) {
  std::mt19937_64 rng(1);
  std::normal_distribution<float> normal(0.0F, 2.0F);
  std::vector<float> x(kSize);
  for (float& value : x) {
    value = normal(rng);
    if (positive) value = std::fabs(value) + 1.0F / 1024;
  }
  return x;
}

void report(benchmark::State& state) {
  // Shown as nanoseconds although the counter is in seconds per element.
  state.counters["per_element"] =
      benchmark::Counter(static_cast<double>(kSize), benchmark::Counter::kIsIterationInvariantRate |
                                                         benchmark::Counter::kInvert);
}

template <class Fn, bool Positive = false>
void elementwise(benchmark::State& state) {
  const std::vector<float> x = inputs(Positive);
  std::vector<float> y(kSize);
  for (auto _ : state) {
    cr(Fn{}, std::span<const float>(x), std::span<float>(y));
    benchmark::DoNotOptimize(y.data());
  }
  report(state);
}

void batch_norm(benchmark::State& state) {
  const std::vector<float> x = inputs(false);
  std::vector<float> y(kSize);
  for (auto _ : state) {
    const BatchNormChannel channel({.scale = 1.1F, .bias = 0.3F, .mean = 0.2F, .variance = 3.7F});
    channel(x, y);
    benchmark::DoNotOptimize(y.data());
  }
  report(state);
}

template <void (*Function)(std::span<const float>, std::span<float>)>
void rows_of(benchmark::State& state) {
  const std::vector<float> x = inputs(false);
  std::vector<float> y(kSize);
  const auto length = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    for (std::size_t i = 0; i < kSize; i += length) {
      Function(std::span(x).subspan(i, length), std::span(y).subspan(i, length));
    }
    benchmark::DoNotOptimize(y.data());
  }
  report(state);
}

void layer_norm(std::span<const float> x, std::span<float> y) { cr_layer_norm(x, {}, y); }

// Means of four neighbours, as AveragePool 2 x 2 takes them: a quarter of them are ties.
void average_of_four(benchmark::State& state) {
  const std::vector<float> x = inputs(false);
  std::vector<float> y(kSize / 4);
  for (auto _ : state) {
    for (std::size_t i = 0; i < y.size(); ++i)
      y[i] = cr_sum_over(std::span(x).subspan(4 * i, 4), 4);
    benchmark::DoNotOptimize(y.data());
  }
  report(state);
}

void power(benchmark::State& state) {
  const std::vector<float> x = inputs(true);
  std::vector<float> y(kSize);
  for (auto _ : state) {
    for (std::size_t i = 0; i < kSize; ++i) y[i] = cr_pow(x[i], 1.7F);
    benchmark::DoNotOptimize(y.data());
  }
  report(state);
}

BENCHMARK(elementwise<ExpFn>);
BENCHMARK(elementwise<SigmoidFn>);
BENCHMARK(elementwise<TanhFn>);
BENCHMARK(elementwise<SwishFn>);
BENCHMARK(elementwise<MishFn>);
BENCHMARK(elementwise<EluFn>);
BENCHMARK(elementwise<SeluFn>);
BENCHMARK(elementwise<SoftplusFn>);
BENCHMARK(elementwise<ErfFn>);
BENCHMARK(elementwise<GeluErfFn>);
BENCHMARK(elementwise<GeluTanhFn>);
BENCHMARK(elementwise<HardSwishFn>);
BENCHMARK(elementwise<HardSigmoidFn>);
BENCHMARK(elementwise<LeakyReluFn>);
BENCHMARK(elementwise<SoftsignFn>);
BENCHMARK(elementwise<RoundFn>);
BENCHMARK(elementwise<ReciprocalFn>);
BENCHMARK((elementwise<SqrtFn, true>));
BENCHMARK((elementwise<RsqrtFn, true>));
BENCHMARK((elementwise<LogFn, true>));
BENCHMARK(elementwise<SinFn>);
BENCHMARK(elementwise<CosFn>);
BENCHMARK(elementwise<TanFn>);
BENCHMARK(elementwise<AtanFn>);
BENCHMARK(elementwise<AsinhFn>);
BENCHMARK(power);
BENCHMARK(batch_norm);
BENCHMARK(average_of_four);
BENCHMARK(rows_of<cr_softmax>)->Arg(16)->Arg(1024);
BENCHMARK(rows_of<cr_log_softmax>)->Arg(1024);
BENCHMARK(rows_of<layer_norm>)->Arg(64)->Arg(1024);

}  // namespace
