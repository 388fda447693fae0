// Google Benchmark targets of the compiled kernels: one layer per benchmark, in the shapes of
// ResNet-50 and MobileNetV2.
// `--benchmark_format=json` gives a file that tools/compare.py of Google Benchmark can set against
// an older one.
#include <benchmark/benchmark.h>

#include "kernels/program.h"

namespace assay::kernel_bench {
namespace {

using kernels::Program;

struct Layer {
  const char* name;
  std::int64_t channels, filters, kernel, stride, group, size;
};

constexpr Layer layers[] = {
    {"resnet 7x7 s2", 3, 64, 7, 2, 1, 224},
    {"resnet 1x1 64-256 @56", 64, 256, 1, 1, 1, 56},
    {"resnet 3x3 64 @56", 64, 64, 3, 1, 1, 56},
    {"resnet 3x3 256 @14", 256, 256, 3, 1, 1, 14},
    {"resnet 1x1 2048-512 @7", 2048, 512, 1, 1, 1, 7},
    {"mobilenet 1x1 16-96 @112", 16, 96, 1, 1, 1, 112},
    {"mobilenet dw 96 s2 @112", 96, 96, 3, 2, 96, 112},
    {"mobilenet dw 576 @14", 576, 576, 3, 1, 576, 14},
};

Attributes attributes_of(const Layer& l) {
  const std::int64_t pad = l.kernel / 2;
  return {{"strides", std::vector<std::int64_t>{l.stride, l.stride}},
          {"pads", std::vector<std::int64_t>{pad, pad, pad, pad}},
          {"kernel_shape", std::vector<std::int64_t>{l.kernel, l.kernel}},
          {"group", l.group}};
}

Graph layer_graph(const Layer& l, bool integer) {
  const DType code = integer ? DType::uint8 : DType::float32;
  const std::int64_t out = (l.size - 1) / l.stride + 1;
  Graph g;
  g.info.opsets = {{"", 13}, {assay_domain, 1}};
  const ValueId x = g.add_input("x", type_of(code, {1, l.channels, l.size, l.size}));
  const Tensor weights = Tensor::zeros(integer ? DType::int8 : DType::float32,
                                       {l.filters, l.channels / l.group, l.kernel, l.kernel});
  const ValueId w = g.add_initializer("w", weights);
  const ValueId b = g.add_initializer("b", Tensor::zeros(DType::float32, {l.filters}));
  const ValueId y = g.add_value("y", type_of(code, {1, l.filters, out, out}));
  Attributes a = attributes_of(l);
  if (integer) {
    a.set("y_dtype", std::int64_t{2});
    a.set("activation", std::string("Relu"));
  }
  g.add_node({.name = "layer",
              .op_type = integer ? "QConv" : "ConvRelu",
              .domain = assay_domain,
              .inputs = {x, w, b},
              .outputs = {y},
              .attributes = a,
              .captures = {}});
  g.add_output(y);
  return g;
}

void run_layer(benchmark::State& state, const Layer& l, bool integer) {
  Program p = Program::compile(layer_graph(l, integer), {},
                               {.threads = static_cast<int>(state.range(0)), .tune = true});
  const DType code = integer ? DType::uint8 : DType::float32;
  p.bind_inputs({{"x", Tensor::zeros(code, {1, l.channels, l.size, l.size})}});
  for (auto _ : state) p.execute();
  const std::int64_t out = (l.size - 1) / l.stride + 1;
  const std::int64_t macs = out * out * l.filters * l.channels / l.group * l.kernel * l.kernel;
  state.counters["GOP/s"] = benchmark::Counter(2e-9 * static_cast<double>(macs),
                                               benchmark::Counter::kIsIterationInvariantRate);
  for (const auto& s : p.steps()) {
    if (s.op != "Reorder") state.SetLabel(s.kernel);
  }
}

void quantize_image(benchmark::State& state) {
  Graph g;
  g.info.opsets[""] = 13;
  const ValueId x = g.add_input("x", type_of(DType::float32, {1, 3, 224, 224}));
  const ValueId s = g.add_initializer("s", Tensor::scalar(0.02F));
  const ValueId z = g.add_initializer("z", Tensor::scalar(std::uint8_t{114}));
  const ValueId y = g.add_value("y", type_of(DType::uint8, {1, 3, 224, 224}));
  g.add_node({.name = "q",
              .op_type = "QuantizeLinear",
              .domain = {},
              .inputs = {x, s, z},
              .outputs = {y},
              .attributes = {},
              .captures = {}});
  // A consumer that wants channels-last, so that only the quantizer is timed with its own layout
  // change.
  const ValueId p1 = g.add_value("p", type_of(DType::uint8, {1, 3, 1, 1}));
  Attributes pool{{"kernel_shape", std::vector<std::int64_t>{224, 224}}};
  g.add_node({.name = "p",
              .op_type = "MaxPool",
              .domain = {},
              .inputs = {y},
              .outputs = {p1},
              .attributes = pool,
              .captures = {}});
  g.add_output(p1);
  Program p = Program::compile(g, {}, {.threads = static_cast<int>(state.range(0))});
  p.bind_inputs({{"x", Tensor::zeros(DType::float32, {1, 3, 224, 224})}});
  std::vector<double> seconds;
  for (auto _ : state) {
    p.execute_timed(seconds);
    state.SetIterationTime(seconds[0]);
  }
}

int register_all() {
  for (const Layer& l : layers) {
    for (const bool integer : {false, true}) {
      const std::string name = std::string(integer ? "int8 " : "f32 ") + l.name;
      benchmark::RegisterBenchmark(name.c_str(),
                                   [&l, integer](benchmark::State& s) { run_layer(s, l, integer); })
          ->Arg(1)
          ->Arg(2)
          ->ArgName("threads")
          ->UseRealTime();
    }
  }
  benchmark::RegisterBenchmark("quantize 3x224x224", quantize_image)
      ->Arg(1)
      ->Arg(2)
      ->ArgName("threads")
      ->UseManualTime();
  return 0;
}

const int registered = register_all();

}  // namespace
}  // namespace assay::kernel_bench
