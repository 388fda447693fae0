#include "runtime/onnx/graph_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/onnx/graph_writer.h"
#include "runtime/op.h"

namespace assay {
namespace {

bool is_constant_node(const onnx::NodeProto& n) {
  return n.op_type() == "Constant" && normal_domain(n.domain()).empty() && n.output_size() == 1;
}

template <class T, class Field>
std::vector<T> list_of(const Field& field) {
  return std::vector<T>(field.begin(), field.end());
}

template <class T>
Tensor row(const std::vector<T>& values) {
  return Tensor::of<T>(Shape{static_cast<std::int64_t>(values.size())}, std::span<const T>(values));
}

/// The kind of an attribute; files before IR 2 do not state it.
onnx::AttributeProto::AttributeType kind_of(const onnx::AttributeProto& a) {
  using A = onnx::AttributeProto;
  if (a.type() != A::UNDEFINED) return a.type();
  if (a.has_f()) return A::FLOAT;
  if (a.has_i()) return A::INT;
  if (a.has_s()) return A::STRING;
  if (a.has_t()) return A::TENSOR;
  if (a.has_g()) return A::GRAPH;
  if (a.floats_size()) return A::FLOATS;
  if (a.ints_size()) return A::INTS;
  if (a.strings_size()) return A::STRINGS;
  if (a.tensors_size()) return A::TENSORS;
  return A::UNDEFINED;
}

}  // namespace

ValueType read_type(const onnx::TypeProto& type) {
  ValueType out;
  if (!type.has_tensor_type()) return out;
  const auto& tensor = type.tensor_type();
  out.dtype = static_cast<DType>(tensor.elem_type());
  if (!tensor.has_shape()) return out;
  out.dims.emplace();
  for (const auto& d : tensor.shape().dim()) {
    // Some exporters write -1 for "unknown".
    const bool known = d.has_dim_value() && d.dim_value() >= 0;
    out.dims->push_back({.size = known ? d.dim_value() : -1, .symbol = known ? "" : d.dim_param()});
  }
  return out;
}

GraphReader::GraphReader(ModelReading& reading, const onnx::GraphProto& proto, GraphReader* outer)
    : reading_(reading), proto_(proto), outer_(outer), depth_(outer ? outer->depth_ + 1 : 0) {
  if (depth_ > reading.options.max_nesting) {
    throw Error({.what = "subgraphs are nested too deeply",
                 .expected = fmt::format("at most {} levels", reading.options.max_nesting)});
  }
}

Graph GraphReader::read() {
  nodes_ = reading_.functions->expanded(proto_, reading_.info.opsets);
  graph_.info = reading_.info;
  if (outer_ != nullptr) graph_.info.graph_name = proto_.name();
  read_inputs();
  read_initializers();
  read_constants();
  declare_outputs();
  read_types();
  read_nodes();
  read_outputs();
  graph_.info.opsets = reading_.info.opsets;  // functions of subgraphs may have added some
  graph_.sort_nodes();
  graph_.verify();
  return std::move(graph_);
}

// ---- names

std::string GraphReader::node_name(const onnx::NodeProto& n) const {
  if (!n.name().empty()) return n.name();
  for (const auto& name : n.output()) {
    if (!name.empty()) return n.op_type() + "_" + name;
  }
  return n.op_type();
}

void GraphReader::fail(const onnx::NodeProto& n, ErrorParts parts) const {
  parts.where = "node '" + node_name(n) + "' (" + n.op_type() + ")";
  throw Error(std::move(parts));
}

bool GraphReader::sees(const std::string& name) const {
  return graph_.find_value(name).has_value() || (outer_ != nullptr && outer_->sees(name));
}

ValueType GraphReader::type_seen(const std::string& name) const {
  const auto v = graph_.find_value(name);
  return v ? graph_.value(*v).type : outer_ != nullptr ? outer_->type_seen(name) : ValueType{};
}

/// Checks a name that this graph is about to define. It may hide one of the graph around it.
void GraphReader::declare(const std::string& name) const {
  if (graph_.find_value(name)) {
    throw Error({.what = "two values have the same name",
                 .got = "'" + name + "'",
                 .expected = "one input, initializer or node that defines it"});
  }
}

std::optional<ValueId> GraphReader::resolve(const std::string& name) {
  if (const auto v = graph_.find_value(name)) {
    // Nodes may be listed in any order, so a name that is read before its definition, while the
    // graph around has it too, could be either.
    if (outer_ != nullptr && undefined_.count(name) && outer_->sees(name)) {
      throw Error({.what = "subgraph '" + proto_.name() +
                           "' reads a name before it defines it, and the graph around has it too",
                   .got = "'" + name + "'",
                   .expected = "unique names"});
    }
    return v;
  }
  if (outer_ == nullptr || !outer_->sees(name)) return std::nullopt;
  return graph_.add_capture(name, outer_->type_seen(name));
}

// ---- values

void GraphReader::read_inputs() {
  std::set<std::string> constants;
  if (reading_.info.ir_version < 4) {  // every initializer is listed as an input there
    for (const auto& t : proto_.initializer()) constants.insert(t.name());
  }
  for (const auto& input : proto_.input()) {
    if (constants.count(input.name())) continue;
    declare(input.name());
    graph_.add_input(input.name(), read_type(input.type()));
  }
}

void GraphReader::read_initializers() {
  for (const auto& t : proto_.initializer()) {
    Tensor tensor = read_tensor(t, reading_.source);
    const auto input = graph_.find_value(t.name());
    const bool overridable =
        input && graph_.value(*input).is_input && !graph_.value(*input).initializer.defined();
    if (overridable) {
      const ValueType stated = graph_.value(*input).type;
      graph_.set_initializer(*input, std::move(tensor));
      if (stated.dims) graph_.set_type(*input, {graph_.value(*input).type.dtype, stated.dims});
      continue;
    }
    declare(t.name());
    graph_.add_initializer(t.name(), std::move(tensor));
  }
  for (const auto& t : proto_.sparse_initializer()) {
    throw Error({.what = "sparse tensors are not supported",
                 .where = "tensor '" + t.values().name() + "'",
                 .kind = ErrorKind::unsupported});
  }
}

Tensor GraphReader::constant_value(const onnx::NodeProto& n) const {
  if (n.attribute_size() != 1) {
    fail(n, {.what = "a Constant needs exactly one value",
             .got = fmt::format("{} attributes", n.attribute_size())});
  }
  const auto& a = n.attribute(0);
  if (a.name() == "value" && a.has_t()) return read_tensor(a.t(), reading_.source, n.output(0));
  if (a.name() == "value_float") return Tensor::scalar<float>(a.f());
  if (a.name() == "value_int") return Tensor::scalar<std::int64_t>(a.i());
  if (a.name() == "value_floats") return row(list_of<float>(a.floats()));
  if (a.name() == "value_ints") return row(list_of<std::int64_t>(a.ints()));
  if (a.name() == "value_string") return Tensor(DType::string, Shape{}, nullptr);
  if (a.name() == "value_strings") return Tensor(DType::string, Shape{a.strings_size()}, nullptr);
  fail(n, {.what = "a Constant of this form is not supported",
           .got = "attribute '" + a.name() + "'",
           .kind = ErrorKind::unsupported});
}

void GraphReader::read_constants() {
  for (const auto* n : nodes_) {
    if (!is_constant_node(*n)) continue;
    declare(n->output(0));
    graph_.add_initializer(n->output(0), constant_value(*n));
  }
  std::erase_if(nodes_, [](const auto* n) { return is_constant_node(*n); });
}

void GraphReader::declare_outputs() {
  for (const auto* n : nodes_) {
    for (const auto& name : n->output()) {
      if (name.empty()) continue;
      try {
        declare(name);
      } catch (const Error& e) {
        throw e.at("node '" + node_name(*n) + "' (" + n->op_type() + ")");
      }
      graph_.add_value(name);
      undefined_.insert(name);
    }
  }
}

void GraphReader::read_types() {
  for (const auto* list : {&proto_.value_info(), &proto_.output()}) {
    for (const auto& info : *list) {
      const auto v = graph_.find_value(info.name());
      const bool open = v && graph_.value(*v).producer == NodeId{} && !graph_.value(*v).is_input &&
                        !graph_.value(*v).initializer.defined();
      if (open) graph_.set_type(*v, read_type(info.type()));
    }
  }
}

void GraphReader::read_outputs() {
  for (const auto& output : proto_.output()) {
    const auto v = resolve(output.name());
    if (!v) {
      throw Error({.what = "graph output is given by nothing",
                   .got = "'" + output.name() + "'",
                   .expected = "the output of a node, an input or an initializer"});
    }
    graph_.add_output(*v);
  }
}

// ---- nodes

void GraphReader::read_nodes() {
  for (const auto* n : nodes_) read_node(*n);
}

void GraphReader::read_node(const onnx::NodeProto& n) {
  Node node{.name = node_name(n), .op_type = n.op_type(), .domain = normal_domain(n.domain())};
  if (node.domain == assay_domain) node.op_type = without_form(node.op_type);
  if (n.op_type().empty()) fail(n, {.what = "node without an operator"});
  const std::string stem = node.name;
  for (int i = 1; !node_names_.insert(node.name).second; ++i)
    node.name = fmt::format("{}_{}", stem, i);
  for (const auto& name : n.input()) {
    const auto v = name.empty() ? std::optional(ValueId{}) : resolve(name);
    if (!v) {
      fail(n, {.what = "input is given by nothing",
               .got = "'" + name + "'",
               .expected = "a graph input, an initializer or the output of a node"});
    }
    node.inputs.push_back(*v);
  }
  for (const auto& name : n.output()) {
    node.outputs.push_back(name.empty() ? ValueId{} : *graph_.find_value(name));
  }
  for (const auto& a : n.attribute()) {
    if (node.attributes.has(a.name())) {
      fail(n, {.what = "attribute '" + a.name() + "' is given twice"});
    }
    node.attributes.set(a.name(), read_attribute(a, node));
  }
  for (const auto& name : n.output()) undefined_.erase(name);
  graph_.add_node(std::move(node));
}

Attribute GraphReader::read_attribute(const onnx::AttributeProto& a, Node& node) {
  using A = onnx::AttributeProto;
  const std::string where = describe(node) + ", attribute '" + a.name() + "'";
  if (!a.ref_attr_name().empty()) {
    throw Error({.what = "attribute refers to a function's outside one", .where = where});
  }
  switch (kind_of(a)) {
    case A::FLOAT:
      return a.f();
    case A::INT:
      return static_cast<std::int64_t>(a.i());
    case A::STRING:
      return a.s();
    case A::TENSOR:
      try {
        return read_tensor(a.t(), reading_.source);
      } catch (const Error& e) {
        throw e.at(where);
      }
    case A::GRAPH:
      return read_body(a.g(), node);
    case A::FLOATS:
      return list_of<float>(a.floats());
    case A::INTS:
      return list_of<std::int64_t>(a.ints());
    case A::STRINGS:
      return list_of<std::string>(a.strings());
    case A::TENSORS: {
      std::vector<Tensor> tensors;
      for (const auto& t : a.tensors()) tensors.push_back(read_tensor(t, reading_.source));
      return tensors;
    }
    default:
      throw Error({.what = "attribute of a kind that is not supported",
                   .where = where,
                   .got = A::AttributeType_Name(a.type()),
                   .kind = ErrorKind::unsupported});
  }
}

GraphPtr GraphReader::read_body(const onnx::GraphProto& proto, Node& node) {
  auto body = std::make_shared<Graph>(GraphReader(reading_, proto, this).read());
  for (const ValueId inner : body->captures()) {
    const ValueId v = *resolve(body->name(inner));
    if (std::find(node.captures.begin(), node.captures.end(), v) == node.captures.end()) {
      node.captures.push_back(v);
    }
  }
  return body;
}

}  // namespace assay
