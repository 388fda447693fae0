#include "runtime/onnx/graph_writer.h"

#include "runtime/infer.h"
#include "runtime/onnx/tensor_proto.h"

namespace assay {
namespace {

// Smaller tensors stay in the model also when there is a data file.
constexpr std::int64_t small_tensor = 1024;

void write_info(const std::string& name, const ValueType& type, onnx::ValueInfoProto& proto) {
  proto.set_name(name);
  if (type.dtype != DType::undefined) write_type(type, *proto.mutable_type());
}

/// Names of inner values that the graph around uses too get fresh ones: files may not shadow.
Graph without_shadowing(const Graph& g, const std::set<std::string>& outer_names) {
  Graph copy = g;
  const std::set<ValueId> captured(g.captures().begin(), g.captures().end());
  for (const ValueId v : g.value_ids()) {
    if (captured.count(v) || !outer_names.count(g.name(v))) continue;
    std::string fresh = copy.fresh_name(g.name(v) + "_inner");
    while (outer_names.count(fresh)) fresh = copy.fresh_name(fresh + "_inner");
    copy.rename(v, fresh);
  }
  return copy;
}

bool shadows(const Graph& g, const std::set<std::string>& outer_names) {
  const std::set<ValueId> captured(g.captures().begin(), g.captures().end());
  for (const ValueId v : g.value_ids()) {
    if (!captured.count(v) && outer_names.count(g.name(v))) return true;
  }
  return false;
}

}  // namespace

void write_type(const ValueType& type, onnx::TypeProto& proto) {
  auto& tensor = *proto.mutable_tensor_type();
  tensor.set_elem_type(static_cast<int>(type.dtype));
  if (!type.dims) return;
  auto& shape = *tensor.mutable_shape();
  for (const Dim& d : *type.dims) {
    auto& dim = *shape.add_dim();
    if (d.size >= 0) {
      dim.set_dim_value(d.size);
    } else if (!d.symbol.empty()) {
      dim.set_dim_param(d.symbol);
    }
  }
}

void GraphWriter::write(const Graph& g, onnx::GraphProto& proto,
                        const std::set<std::string>& outer_names) {
  if (shadows(g, outer_names)) return write(without_shadowing(g, outer_names), proto, outer_names);
  proto.set_name(g.info.graph_name.empty() ? "graph" : g.info.graph_name);
  write_values(g, proto);
  std::set<std::string> names = outer_names;
  for (const ValueId v : g.value_ids()) names.insert(g.name(v));
  for (const NodeId n : g.topological_order()) write_node(g, g.node(n), names, *proto.add_node());
}

void GraphWriter::write_values(const Graph& g, onnx::GraphProto& proto) {
  for (const ValueId v : g.inputs()) write_info(g.name(v), g.value(v).type, *proto.add_input());
  for (const ValueId v : g.outputs()) write_info(g.name(v), g.value(v).type, *proto.add_output());
  for (const ValueId v : g.value_ids()) {
    const Value& x = g.value(v);
    if (x.initializer.defined()) {
      write_initializer(x.initializer, x.name, *proto.add_initializer());
    } else if (x.producer.valid() && !g.is_output(v) && x.type.dtype != DType::undefined) {
      write_info(x.name, x.type, *proto.add_value_info());
    }
  }
}

void GraphWriter::write_initializer(const Tensor& tensor, const std::string& name,
                                    onnx::TensorProto& proto) {
  if (data_ == nullptr || tensor.bytes() < small_tensor) return write_tensor(tensor, name, proto);
  proto.set_name(name);
  proto.set_data_type(static_cast<int>(tensor.dtype()));
  for (const std::int64_t d : tensor.shape().dims()) proto.add_dims(d);
  proto.set_data_location(onnx::TensorProto::EXTERNAL);
  const auto put = [&](const char* key, const std::string& value) {
    auto& entry = *proto.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  };
  put("location", data_->location());
  put("offset", std::to_string(data_->append(tensor)));
  put("length", std::to_string(tensor.bytes()));
}

void GraphWriter::write_node(const Graph& g, const Node& node, const std::set<std::string>& names,
                             onnx::NodeProto& proto) {
  proto.set_name(node.name);
  proto.set_op_type(node.op_type);
  if (!node.domain.empty()) proto.set_domain(node.domain);
  for (const ValueId v : node.inputs) proto.add_input(v.valid() ? g.name(v) : "");
  for (const ValueId v : node.outputs) proto.add_output(v.valid() ? g.name(v) : "");
  for (const auto& [name, attribute] : node.attributes.items()) {
    auto& a = *proto.add_attribute();
    a.set_name(name);
    write_attribute(attribute, names, a);
  }
  if (node.domain == assay_domain) proto.set_op_type(add_function(g, node));
}

void GraphWriter::write_attribute(const Attribute& attribute, const std::set<std::string>& names,
                                  onnx::AttributeProto& proto) {
  using A = onnx::AttributeProto;
  const auto list = [&](A::AttributeType type, const auto& values, auto* field) {
    proto.set_type(type);
    for (const auto& x : values) *field->Add() = x;
  };
  std::visit(
      [&]<class T>(const T& x) {
        if constexpr (std::is_same_v<T, std::int64_t>) {
          proto.set_type(A::INT), proto.set_i(x);
        } else if constexpr (std::is_same_v<T, float>) {
          proto.set_type(A::FLOAT), proto.set_f(x);
        } else if constexpr (std::is_same_v<T, std::string>) {
          proto.set_type(A::STRING), proto.set_s(x);
        } else if constexpr (std::is_same_v<T, Tensor>) {
          proto.set_type(A::TENSOR);
          write_tensor(x, proto.name(), *proto.mutable_t());
        } else if constexpr (std::is_same_v<T, GraphPtr>) {
          proto.set_type(A::GRAPH);
          write(*x, *proto.mutable_g(), names);
        } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
          list(A::INTS, x, proto.mutable_ints());
        } else if constexpr (std::is_same_v<T, std::vector<float>>) {
          list(A::FLOATS, x, proto.mutable_floats());
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          list(A::STRINGS, x, proto.mutable_strings());
        } else {
          proto.set_type(A::TENSORS);
          for (const Tensor& t : x) write_tensor(t, "", *proto.add_tensors());
        }
      },
      attribute);
}

}  // namespace assay
