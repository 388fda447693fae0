// Dot-product kernels on layers of ResNet-18, ResNet-50 and MobileNetV2 at batch 1: correctly
// rounded, double, float and 8-bit, beside Eigen's float product of the same size (M = out
// channels, N = positions, K = terms; no im2col), built with this project's baseline flags.
// Counters: GMAC/s. Weights are packed outside the timed loop.
#include <benchmark/benchmark.h>

#include <Eigen/Core>
#include <random>
#include <string>
#include <vector>

#include "runtime/numeric/conv.h"
#include "runtime/numeric/int_gemm.h"

namespace {

using namespace assay;

struct Layer {
  const char* name;
  int64_t in, out, size, kernel, stride, groups;
};

const std::vector<Layer> layers = {
    {"7x7s2_3_64_224", 3, 64, 224, 7, 2, 1},     {"3x3_64_64_56", 64, 64, 56, 3, 1, 1},
    {"1x1_64_256_56", 64, 256, 56, 1, 1, 1},     {"1x1_256_64_56", 256, 64, 56, 1, 1, 1},
    {"3x3s2_64_128_56", 64, 128, 56, 3, 2, 1},   {"3x3_128_128_28", 128, 128, 28, 3, 1, 1},
    {"1x1_128_512_28", 128, 512, 28, 1, 1, 1},   {"3x3_256_256_14", 256, 256, 14, 3, 1, 1},
    {"1x1_1024_256_14", 1024, 256, 14, 1, 1, 1}, {"3x3_512_512_7", 512, 512, 7, 3, 1, 1},
    {"1x1_512_2048_7", 512, 2048, 7, 1, 1, 1},   {"dw3x3_144_56", 144, 144, 56, 3, 1, 144},
    {"dw3x3s2_96_112", 96, 96, 112, 3, 2, 96},
};

ConvShape shape_of(const Layer& l) {
  const int64_t pad = l.kernel / 2, out = (l.size + 2 * pad - l.kernel) / l.stride + 1;
  return {.in_channels = l.in,
          .out_channels = l.out,
          .groups = l.groups,
          .in = {1, l.size, l.size},
          .kernel = {1, l.kernel, l.kernel},
          .out = {1, out, out},
          .stride = {1, l.stride, l.stride},
          .pad = {0, pad, pad}};
}

int64_t macs(const ConvShape& s) {
  return s.batch * s.out_channels * s.out_spatial() * dot_length(s);
}

void set_rate(benchmark::State& state, const ConvShape& s) {
  state.counters["GMAC/s"] = benchmark::Counter(static_cast<double>(macs(s)) * 1e-9,
                                                benchmark::Counter::kIsIterationInvariantRate);
}

template <typename T>
std::vector<T> random_values(int64_t count, uint32_t seed, float scale) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0F, scale);
  std::vector<T> values(static_cast<size_t>(count));
  for (T& v : values) v = static_cast<T>(normal(random));
  return values;
}

template <typename T>
void run_conv(benchmark::State& state, const Layer& layer, DotMode mode) {
  const ConvShape s = shape_of(layer);
  auto x = random_values<T>(s.in_channels * s.in_spatial(), 1, 1.0F);
  for (T& v : x) v = v > T(0) ? v : T(0);  // as after ReLU
  const auto w = random_values<T>(s.out_channels * dot_length(s), 2, 0.05F);
  const auto bias = random_values<T>(s.out_channels, 3, 0.1F);
  std::vector<T> y(static_cast<size_t>(s.out_channels * s.out_spatial()));
  ConvArgs<T> args;
  args.shape = s;
  args.x = x.data();
  args.w = w.data();
  args.bias = bias.data();
  args.y = y.data();
  const PackedWeights packed = pack_conv_weights(s, w.data(), mode);
  for (auto _ : state) {
    conv_packed(args, mode, packed);
    benchmark::DoNotOptimize(y.data());
  }
  set_rate(state, s);
}

void run_int8(benchmark::State& state, const Layer& layer) {
  const ConvShape s = shape_of(layer);
  const auto x = random_values<uint8_t>(s.in_channels * s.in_spatial(), 1, 20.0F);
  const auto w = random_values<int8_t>(s.out_channels * dot_length(s), 2, 40.0F);
  std::vector<int32_t> y(static_cast<size_t>(s.out_channels * s.out_spatial()));
  const IntConvArgs args{.shape = s,
                         .x = {.data = x.data(), .is_signed = false, .zero = {}},
                         .w = {.data = w.data(), .is_signed = true, .zero = {}},
                         .y = y.data()};
  for (auto _ : state) {
    int_conv(args);
    benchmark::DoNotOptimize(y.data());
  }
  set_rate(state, s);
}

void run_eigen(benchmark::State& state, const Layer& layer) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const ConvShape s = shape_of(layer);
  const Matrix w = Matrix::Random(s.out_channels, dot_length(s));
  const Matrix x = Matrix::Random(dot_length(s), s.out_spatial());
  Matrix y(s.out_channels, s.out_spatial());
  for (auto _ : state) {
    y.noalias() = w * x;
    benchmark::DoNotOptimize(y.data());
  }
  set_rate(state, s);
}

const bool registered = [] {
  for (const Layer& l : layers) {
    const std::string name = l.name;
    const auto add = [&](const char* kind, auto&& fn) {
      benchmark::RegisterBenchmark((kind + ("/" + name)).c_str(), fn)
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond);
    };
    add("cr", [&l](benchmark::State& s) { run_conv<float>(s, l, DotMode::correct); });
    add("f64", [&l](benchmark::State& s) { run_conv<double>(s, l, DotMode::canonical); });
    add("f32", [&l](benchmark::State& s) { run_conv<float>(s, l, DotMode::canonical); });
    add("int8", [&l](benchmark::State& s) { run_int8(s, l); });
    if (l.groups == 1) add("eigen_f32", [&l](benchmark::State& s) { run_eigen(s, l); });
  }
  return true;
}();

}  // namespace
