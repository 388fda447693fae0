#include "tests/support/op_call.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace assay::test {

Graph graph_of(const OpCall& call) {
  Graph g;
  g.info.opsets = {{"", call.opset}};
  if (!call.domain.empty()) g.info.opsets[call.domain] = call.domain == "" ? call.opset : 1;
  Node node;
  node.op_type = call.type;
  node.domain = call.domain;
  node.name = "n";
  node.attributes = call.attributes;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const Tensor& t = call.inputs[i];
    const std::string name = "i" + std::to_string(i);
    if (!t.defined()) {
      node.inputs.emplace_back();
    } else if (i > 0 && call.constant_weights) {
      node.inputs.push_back(g.add_initializer(name, t));
    } else {
      node.inputs.push_back(g.add_input(name, {t.dtype(), std::nullopt}));
    }
  }
  for (std::size_t i = 0; i < call.outputs; ++i) {
    node.outputs.push_back(g.add_value("o" + std::to_string(i)));
  }
  const auto outputs = node.outputs;
  g.add_node(node);
  for (const ValueId v : outputs) g.add_output(v);
  return g;
}

std::vector<Tensor> run(const OpCall& call) {
  const Executor executor(graph_of(call), call.precision);
  Feeds feeds;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (call.inputs[i].defined() && !(i > 0 && call.constant_weights)) {
      feeds["i" + std::to_string(i)] = call.inputs[i];
    }
  }
  const auto found = executor.run(feeds);
  std::vector<Tensor> out;
  for (std::size_t i = 0; i < call.outputs; ++i) out.push_back(found.at("o" + std::to_string(i)));
  return out;
}

Tensor run_one(const OpCall& call) { return run(call).at(0); }

Tensor tensor(Shape shape, std::vector<float> values) {
  return Tensor::of<float>(std::move(shape), std::span<const float>(values));
}

Tensor tensor64(Shape shape, std::vector<double> values) {
  return Tensor::of<double>(std::move(shape), std::span<const double>(values));
}

Tensor ints(Shape shape, std::vector<std::int64_t> values) {
  return Tensor::of<std::int64_t>(std::move(shape), std::span<const std::int64_t>(values));
}

std::vector<float> values(const Tensor& t) {
  const Tensor f = convert(t, DType::float32);
  const auto data = f.data<float>();
  return {data.begin(), data.end()};
}

std::vector<std::int64_t> indices(const Tensor& t) { return to_ints(t); }

Tensor random_tensor(Shape shape, float low, float high, unsigned seed) {
  std::mt19937 engine(seed);
  Tensor t(DType::float32, std::move(shape));
  for (float& v : t.mutable_data<float>()) {
    const double unit = static_cast<double>(engine()) / 4294967296.0;
    v = static_cast<float>(low + (static_cast<double>(high) - low) * unit);
  }
  return t;
}

std::uint32_t bits(float v) { return std::bit_cast<std::uint32_t>(v); }

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return "";
}

Tensor radius_of(const OpCall& call, const std::vector<Tensor>& input_radii, bool any_order) {
  OpCall f32 = call;
  f32.precision = Precision::f32;
  const Graph g = graph_of(call);
  const Node& node = g.node(g.node_ids().at(0));
  BoundContext c;
  c.node = &node;
  c.opset = g.opset(call.domain);
  c.unit = 0x1p-24;
  c.tiny = 0x1p-149;
  c.any_order = any_order;
  // As validation/certificate/radius.cpp hands them over: floats as double, integers as they are.
  const auto wide = [](const Tensor& t) {
    return t.defined() && is_float(t.dtype()) ? convert(t, DType::float64) : t;
  };
  for (const Tensor& t : call.inputs) c.inputs.push_back(wide(t));
  c.radii = input_radii;
  c.radii.resize(call.inputs.size());
  for (const Tensor& t : run(f32)) c.outputs.push_back(wide(t));
  const OpDef& def = require_op(node, c.opset);
  EXPECT_NE(def.bound, nullptr);
  def.bound(c);
  return c.result.at(0);
}

double radius_use(OpCall call, bool any_order) {
  const Tensor radius = radius_of(call, {}, any_order);
  call.precision = Precision::f32;
  const auto f32 = to_doubles(run_one(call));
  call.precision = Precision::dd;
  const auto exact = to_doubles(run_one(call));
  double worst = 0.0;
  for (std::size_t i = 0; i < f32.size(); ++i) {
    const double error = std::fabs(f32[i] - exact[i]);
    if (error == 0.0) continue;
    worst = std::max(worst, error / radius.data<double>()[i]);
  }
  return worst;
}

}  // namespace assay::test
