#include "validation/selftest/net_maker.h"

#include <algorithm>
#include <cmath>

#include "datasets/dataset.h"
#include "runtime/numeric/quantize.h"
#include "runtime/op.h"

namespace assay::selftest {
namespace {

constexpr std::uint64_t weight_seed = 7;

/// Seeded numbers times a scale, each product rounded to float32 by IEEE 754.
Tensor scaled_fill(const std::string& name, Shape shape, float scale) {
  Tensor t = synthetic_tensor(DType::float32, shape, weight_seed, name);
  for (float& v : t.mutable_data<float>()) v = v * scale;
  return t;
}

}  // namespace

NetMaker::NetMaker(std::string name) : name_(std::move(name)) {
  graph_.info.opsets = {{"", 21}, {assay_domain, 1}, {"com.microsoft", 1}};
}

std::string NetMaker::input(const std::string& name, const std::vector<std::int64_t>& dims) {
  std::vector<Dim> declared{{.size = -1, .symbol = "N"}};
  for (const std::int64_t d : dims) declared.push_back({.size = d});
  graph_.add_input(name, {DType::float32, declared});
  const std::string factor = constant(name + "_factor", Tensor::scalar(0.7310586F));
  return inner(name + "_full", "Mul", {name, factor});
}

std::string NetMaker::constant(const std::string& name, Tensor tensor) {
  graph_.add_initializer(name, std::move(tensor));
  return name;
}

std::string NetMaker::weight(const std::string& name, Shape shape, float scale) {
  return constant(name, scaled_fill(name_ + "/" + name, std::move(shape), scale));
}

std::string NetMaker::positive(const std::string& name, Shape shape, float scale) {
  Tensor t = scaled_fill(name_ + "/" + name, std::move(shape), scale);
  for (float& v : t.mutable_data<float>()) v = std::abs(v) + 0.125F;
  return constant(name, std::move(t));
}

std::string NetMaker::weight_codes(const std::string& name, Shape shape) {
  const Tensor from = scaled_fill(name_ + "/" + name, shape, 40);
  Tensor codes(DType::int8, std::move(shape));
  std::ranges::transform(
      from.data<float>(), codes.mutable_data<std::int8_t>().begin(), [](float v) {
        return static_cast<std::int8_t>(std::clamp(round_half_even(static_cast<double>(v)),
                                                   std::int64_t{-127}, std::int64_t{127}));
      });
  return constant(name, std::move(codes));
}

std::string NetMaker::axes(const std::string& name, std::vector<std::int64_t> values) {
  return constant(name,
                  Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values));
}

std::string NetMaker::inner(const std::string& output, const std::string& op,
                            const std::vector<std::string>& inputs, Attributes attributes) {
  const auto colon = op.find(':');
  const bool standard = colon == std::string::npos;
  Node node{.name = output + "/" + op,
            .op_type = standard ? op : op.substr(colon + 1),
            .domain = standard ? "" : op.substr(0, colon),
            .attributes = std::move(attributes)};
  for (const std::string& name : inputs) {
    node.inputs.push_back(name.empty() ? ValueId{} : graph_.find_value(name).value());
  }
  node.outputs = {graph_.add_value(output)};
  graph_.add_node(std::move(node));
  return output;
}

std::string NetMaker::node(const std::string& output, const std::string& op,
                           const std::vector<std::string>& inputs, Attributes attributes) {
  inner(output, op, inputs, std::move(attributes));
  graph_.add_output(graph_.find_value(output).value());
  return output;
}

}  // namespace assay::selftest
