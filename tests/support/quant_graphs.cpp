#include "tests/support/quant_graphs.h"

namespace assay::test {
namespace {

template <class T>
Tensor narrow(Shape shape, const std::vector<int>& values) {
  std::vector<T> kept;
  for (const int v : values) kept.push_back(static_cast<T>(v));
  return Tensor::of<T>(std::move(shape), kept);
}

ValueType declared(DType dtype, const std::vector<std::int64_t>& dims) {
  std::vector<Dim> sizes;
  for (const std::int64_t d : dims) sizes.push_back({.size = d});
  return {dtype, sizes};
}

}  // namespace

GraphMaker::GraphMaker(std::int64_t opset) {
  graph.info.opsets = {{"", opset}, {assay_domain, 1}, {"com.microsoft", 1}};
}

GraphMaker& GraphMaker::input(const std::string& name, DType dtype,
                              std::vector<std::int64_t> dims) {
  graph.add_input(name, declared(dtype, dims));
  return *this;
}

GraphMaker& GraphMaker::constant(const std::string& name, Tensor value) {
  graph.add_initializer(name, std::move(value));
  return *this;
}

GraphMaker& GraphMaker::node(const std::string& op, const std::vector<std::string>& inputs,
                             const std::vector<std::string>& outputs, Attributes attributes) {
  Node node{.name = outputs.at(0) + "_node", .op_type = op, .attributes = std::move(attributes)};
  if (const auto colon = op.find(':'); colon != std::string::npos) {
    node.domain = op.substr(0, colon);
    node.op_type = op.substr(colon + 1);
  }
  for (const std::string& name : inputs) {
    node.inputs.push_back(name.empty() ? ValueId{} : graph.find_value(name).value());
  }
  for (const std::string& name : outputs) node.outputs.push_back(graph.add_value(name));
  graph.add_node(std::move(node));
  return *this;
}

GraphMaker& GraphMaker::output(const std::string& name) {
  graph.add_output(graph.find_value(name).value());
  return *this;
}

std::vector<Tensor> run_op(const std::string& op, const std::vector<Tensor>& inputs,
                           const Attributes& attributes, std::int64_t opset, std::size_t outputs) {
  GraphMaker maker(opset);
  Feeds feeds;
  std::vector<std::string> in, out;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    in.push_back(inputs[i].defined() ? "in" + std::to_string(i) : "");
    if (!inputs[i].defined()) continue;
    maker.input(in.back(), inputs[i].dtype(), inputs[i].shape().vec());
    feeds[in.back()] = inputs[i];
  }
  for (std::size_t i = 0; i < outputs; ++i) out.push_back("out" + std::to_string(i));
  maker.node(op, in, out, attributes);
  for (const std::string& name : out) maker.output(name);
  const auto found = Executor(maker.graph, Precision::cr).run(feeds);
  std::vector<Tensor> results;
  for (const std::string& name : out) results.push_back(found.at(name));
  return results;
}

std::vector<float> floats(const Tensor& t) {
  const auto data = t.data<float>();
  return {data.begin(), data.end()};
}
std::vector<std::int64_t> codes(const Tensor& t) { return to_ints(t); }

Tensor f32(Shape shape, std::vector<float> values) {
  return Tensor::of<float>(std::move(shape), values);
}
Tensor u8(Shape shape, std::vector<int> values) {
  return narrow<std::uint8_t>(std::move(shape), values);
}
Tensor i8(Shape shape, std::vector<int> values) {
  return narrow<std::int8_t>(std::move(shape), values);
}
Tensor i32(Shape shape, std::vector<int> values) {
  return narrow<std::int32_t>(std::move(shape), values);
}

}  // namespace assay::test
