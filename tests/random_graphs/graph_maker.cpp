#include "tests/random_graphs/graph_maker.h"

#include "runtime/infer.h"

namespace assay::testing {
namespace {

GraphPtr body_of(const char* op, const std::string& captured, const std::string& inner) {
  Graph body;
  const ValueId x = body.add_capture(captured);
  const ValueId y = body.add_value(inner);
  body.add_node({.name = inner + "_node", .op_type = op, .inputs = {x}, .outputs = {y}});
  body.add_output(y);
  return std::make_shared<const Graph>(std::move(body));
}

Tensor int_tensor(const std::vector<std::int64_t>& values) {
  return Tensor::of<std::int64_t>(Shape{static_cast<std::int64_t>(values.size())},
                                  std::span<const std::int64_t>(values));
}

}  // namespace

GraphMaker::GraphMaker(std::uint64_t seed, std::int64_t opset_, DType dtype_)
    : random(seed), opset(opset_), dtype(dtype_) {
  graph_.info.opsets[""] = opset;
}

Cell GraphMaker::input(const Shape& shape) {
  const Cell x{graph_.add_input(name("x"), type_of(dtype, shape)), shape};
  cells.push_back(x);
  return x;
}

TensorType GraphMaker::known_type(ValueId v) const {
  if (const auto it = types_.find(v); it != types_.end()) return it->second;
  const Value& value = graph_.value(v);
  if (value.initializer.defined()) return TensorType::of(value.initializer);
  TensorType t{value.type.dtype, std::vector<std::int64_t>{}};
  for (const Dim& d : *value.type.dims) t.dims->push_back(d.size);
  return t;
}

Tensor GraphMaker::floats(const Shape& shape, double spread) {
  Tensor t(DType::float64, shape);
  for (double& v : t.mutable_data<double>()) v = random.normal() * spread;
  return convert(convert(t, DType::float32), dtype);
}

Tensor GraphMaker::scalar(double value, const Shape& shape) const {
  Tensor t(DType::float64, shape);
  for (double& v : t.mutable_data<double>()) v = value;
  return convert(t, dtype);
}

ValueId GraphMaker::plain(const std::string& stem, Tensor t) {
  return graph_.add_initializer(name(stem), std::move(t));
}

ValueId GraphMaker::ints(const std::string& stem, const std::vector<std::int64_t>& values) {
  return plain(stem, int_tensor(values));
}

/// The constant behind one or two nodes that read constants only.
ValueId GraphMaker::computed(const std::string& stem, const Tensor& t) {
  const auto one = [&](const char* type, ValueId in) {
    const ValueId out = graph_.add_value(name(stem + "_computed"));
    graph_.add_node({.name = graph_.fresh_node_name("make_" + stem),
                     .op_type = type,
                     .inputs = {in},
                     .outputs = {out}});
    types_[out] = TensorType::of(t);
    return out;
  };
  if (random.chance(0.5)) return one("Identity", plain(stem, t));
  return one("Neg", one("Neg", plain(stem, t)));
}

ValueId GraphMaker::parameter(const std::string& stem, Tensor t) {
  const double how = random.unit();
  if (how < 0.05) {
    for (const auto& [v, known] : parameters_) {
      if (known.shape() == t.shape() && random.chance(0.5)) return v;
    }
  }
  ValueId v;
  if (how >= 0.05 && how < 0.09) {
    v = computed(stem, t);
  } else if (how >= 0.09 && how < 0.12) {
    v = graph_.add_value(name(stem));
    Attributes value;
    value.set("value", t);
    graph_.add_node({.name = graph_.fresh_node_name("constant_" + stem),
                     .op_type = "Constant",
                     .outputs = {v},
                     .attributes = std::move(value)});
    types_[v] = TensorType::of(t);
  } else if (how >= 0.12 && how < 0.15) {
    v = graph_.add_input(name(stem), type_of(t.dtype(), t.shape()));
    if (random.chance(0.5)) {
      graph_.set_initializer(v, t);
      defaults.emplace_back(graph_.name(v), t);
    } else {
      given.emplace_back(graph_.name(v), t);
    }
  } else {
    v = plain(stem, t);
  }
  parameters_.emplace_back(v, std::move(t));
  return v;
}

std::vector<Cell> GraphMaker::node_with(std::size_t outputs, const std::string& type,
                                        const std::vector<ValueId>& inputs,
                                        const Attributes& attributes) {
  Node node{.name = graph_.fresh_node_name(type),
            .op_type = type,
            .inputs = inputs,
            .attributes = attributes};
  for (std::size_t i = 0; i < outputs; ++i) node.outputs.push_back(graph_.add_value(name("t")));
  const auto made = node.outputs;
  const NodeId n = graph_.add_node(std::move(node));
  std::vector<TensorType> types;
  std::vector<const Tensor*> tensors;
  for (const ValueId v : inputs) {
    tensors.push_back(v.valid() ? graph_.constant(v) : nullptr);
    types.push_back(v.valid() ? known_type(v) : TensorType{});
  }
  const auto found = infer_node(graph_, n, types, tensors, Precision::f32);
  std::vector<Cell> result;
  for (std::size_t i = 0; i < made.size(); ++i) {
    types_[made[i]] = found[i];
    result.push_back({made[i], found[i].shape()});
  }
  return result;
}

Cell GraphMaker::node(const std::string& type, const std::vector<ValueId>& inputs,
                      const Attributes& attributes) {
  return node_with(1, type, inputs, attributes)[0];
}

Cell GraphMaker::binary(const std::string& type, const Cell& a, ValueId b, bool swapped) {
  Attributes attributes;
  if (opset < 7) {
    // Before opset 7 the second operand lies at `axis` of the first, by default at its end.
    attributes.set("broadcast", std::int64_t{1});
    swapped = false;
    const TensorType second = known_type(b);
    if (second.dims->size() == 1 && second.dims->front() == a.shape[1] && random.chance(0.7))
      attributes.set("axis", std::int64_t{1});
  }
  return node(type, swapped ? std::vector{b, a.id} : std::vector{a.id, b}, attributes);
}

Cell GraphMaker::clip(const Cell& x, std::optional<double> low, std::optional<double> high) {
  if (opset < 11) {
    Attributes a;
    if (low) a.set("min", static_cast<float>(*low));
    if (high) a.set("max", static_cast<float>(*high));
    return node("Clip", {x.id}, a);
  }
  std::vector<ValueId> inputs = {x.id, low ? plain("low", scalar(*low)) : ValueId{}};
  if (high) inputs.push_back(plain("high", scalar(*high)));
  return node("Clip", inputs);
}

Cell GraphMaker::pad(const Cell& x, const std::vector<std::int64_t>& pads, double value) {
  if (opset < 11) {
    Attributes a;
    a.set("pads", pads);
    a.set("value", static_cast<float>(value));
    return node("Pad", {x.id}, a);
  }
  std::vector<ValueId> inputs = {x.id, ints("pads", pads)};
  if (value != 0 || random.chance(0.5)) inputs.push_back(plain("fill", scalar(value)));
  return node("Pad", inputs);
}

Cell GraphMaker::slice(const Cell& x, std::int64_t axis, std::int64_t begin, std::int64_t end) {
  if (opset < 10) {
    Attributes a;
    a.set("starts", std::vector<std::int64_t>{begin});
    a.set("ends", std::vector<std::int64_t>{end});
    a.set("axes", std::vector<std::int64_t>{axis});
    return node("Slice", {x.id}, a);
  }
  return node("Slice", {x.id, ints("starts", {begin}), ints("ends", {end}), ints("axes", {axis})});
}

std::vector<Cell> GraphMaker::split(const Cell& x, std::int64_t axis,
                                    const std::vector<std::int64_t>& sizes) {
  Attributes a;
  a.set("axis", axis);
  std::vector<ValueId> inputs = {x.id};
  if (opset < 13)
    a.set("split", sizes);
  else
    inputs.push_back(ints("sizes", sizes));
  return node_with(sizes.size(), "Split", inputs, a);
}

Cell GraphMaker::reshape(const Cell& x, const std::vector<std::int64_t>& dims) {
  return node("Reshape", {x.id, ints("target", dims)});
}

Cell GraphMaker::transpose(const Cell& x, const std::vector<std::int64_t>& perm) {
  Attributes a;
  a.set("perm", perm);
  return node("Transpose", {x.id}, a);
}

Cell GraphMaker::captured(const Cell& x) {
  const ValueId cond = graph_.add_input(name("cond"), type_of(DType::boolean, Shape{}));
  given.emplace_back(graph_.name(cond), Tensor::scalar<bool>(random.chance(0.5)));
  const std::string& outer = graph_.name(x.id);
  Node node{.name = graph_.fresh_node_name("If"), .op_type = "If", .inputs = {cond}};
  node.attributes.set("then_branch", body_of("Relu", outer, name("then")));
  node.attributes.set("else_branch", body_of("Neg", outer, name("otherwise")));
  node.captures = {x.id};
  const Cell y{graph_.add_value(name("t")), x.shape};
  node.outputs = {y.id};
  types_[y.id] = known_type(x.id);
  graph_.add_node(std::move(node));
  return y;
}

}  // namespace assay::testing
