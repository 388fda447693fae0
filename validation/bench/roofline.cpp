#include "validation/bench/roofline.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "kernels/program.h"

namespace assay::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t edge = 1024;

Node product_node(const std::string& op, const std::string& domain, std::vector<ValueId> in,
                  ValueId out) {
  return {.name = "product",
          .op_type = op,
          .domain = domain,
          .inputs = std::move(in),
          .outputs = {out},
          .attributes = {},
          .captures = {}};
}

Graph float_product() {
  Graph g;
  g.info.opsets[""] = 13;
  const ValueId x = g.add_input("x", type_of(DType::float32, {edge, edge}));
  Tensor weights = Tensor::zeros(DType::float32, {edge, edge});
  std::fill(weights.mutable_data<float>().begin(), weights.mutable_data<float>().end(), 0.5F);
  const ValueId w = g.add_initializer("w", weights);
  const ValueId y = g.add_value("y", type_of(DType::float32, {edge, edge}));
  g.add_node(product_node("MatMul", "", {x, w}, y));
  g.add_output(y);
  return g;
}

/// A 1x1 convolution on codes: the fastest integer product of the kernels.
Graph integer_product() {
  Graph g;
  g.info.opsets[""] = 13;
  g.info.opsets[assay_domain] = 1;
  const ValueId x = g.add_input("x", type_of(DType::uint8, {1, edge, 32, 32}));
  Tensor weights = Tensor::zeros(DType::int8, {edge, edge, 1, 1});
  std::memset(weights.mutable_raw().data(), 3, static_cast<std::size_t>(weights.bytes()));
  const ValueId w = g.add_initializer("w", weights);
  const ValueId y = g.add_value("y", type_of(DType::uint8, {1, edge, 32, 32}));
  Node node = product_node("QConv", assay_domain, {x, w}, y);
  node.attributes.set("x_scale", 0.01F);
  node.attributes.set("w_scales", std::vector<float>{0.01F});
  node.attributes.set("y_scale", 0.1F);
  node.attributes.set("y_dtype", static_cast<std::int64_t>(DType::uint8));
  g.add_node(std::move(node));
  g.add_output(y);
  return g;
}

template <class F>
double best_seconds(int rounds, const F& f) {
  double best = 1e30;
  for (int i = 0; i < rounds; ++i) {
    const auto start = Clock::now();
    f();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

double product_rate(const Graph& g, int threads) {
  kernels::Program program =
      kernels::Program::compile(g, {}, {.threads = threads, .tune = true, .tune_rounds = 3});
  const ValueType& type = g.value(g.inputs()[0]).type;
  std::vector<std::int64_t> sizes;
  for (const Dim& d : *type.dims) sizes.push_back(d.size);
  program.bind_inputs({{"x", Tensor::zeros(type.dtype, Shape(sizes))}});
  const double seconds = best_seconds(12, [&] { program.execute(); });
  return 2.0 * static_cast<double>(edge) * static_cast<double>(edge) * static_cast<double>(edge) /
         seconds * 1e-9;
}

double stream_rate(int threads) {
  constexpr std::int64_t bytes = 96 << 20;
  std::vector<char> from(bytes, 1), to(bytes, 2);
  const double seconds = best_seconds(5, [&] {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::int64_t block = 0; block < 96; ++block) {
      std::memcpy(to.data() + (block << 20), from.data() + (block << 20), 1 << 20);
    }
  });
  return 2.0 * static_cast<double>(bytes) / seconds * 1e-9;
}

}  // namespace

double Roofline::limit(bool integer, std::int64_t macs, std::int64_t bytes) const {
  const double peak = integer ? int8_gops : f32_gflops;
  if (bytes <= 0) return peak;
  return std::min(peak, 2.0 * static_cast<double>(macs) / static_cast<double>(bytes) * gbytes);
}

Roofline measure_roofline(int threads) {
  return {product_rate(float_product(), threads), product_rate(integer_product(), threads),
          stream_rate(threads)};
}

}  // namespace assay::bench
