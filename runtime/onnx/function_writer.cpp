// Assay's own operators as model-local functions; writer.h states the conventions.
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>

#include "runtime/onnx/graph_writer.h"
#include "runtime/onnx/tensor_proto.h"
#include "runtime/op.h"

namespace assay {

std::string form_name(const std::string& op_type, std::size_t form) {
  return form == 0 ? op_type : op_type + form_mark + std::to_string(form + 1);
}

std::string without_form(const std::string& op_type) {
  const auto at = op_type.rfind(form_mark);
  const bool numbered = at != std::string::npos && at > 0 && at + 2 < op_type.size() &&
                        op_type.find_first_not_of("0123456789", at + 2) == std::string::npos;
  return numbered ? op_type.substr(0, at) : op_type;
}

namespace {

std::string fixed_bytes(const onnx::FunctionProto& f) {
  onnx::FunctionProto body = f;
  body.clear_attribute();
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream out(&stream);
  out.SetSerializationDeterministic(true);
  body.SerializePartialToCodedStream(&out);
  out.Trim();
  return bytes;
}

bool same_attribute(const std::string& name, const Attribute& a, const Attributes& of_node) {
  const auto it = of_node.items().find(name);
  return it != of_node.items().end() && same(Attributes{{name, a}}, Attributes{{name, it->second}});
}

void refer(const std::string& name, onnx::AttributeProto& a) {
  const auto type = a.type();
  const std::string own = a.name();
  a.Clear();
  a.set_name(own);
  a.set_type(type);
  a.set_ref_attr_name(name);
}

/// The form of Constant that can refer to an attribute of this value, or empty.
std::string constant_form(const Tensor& t, const Attribute& a) {
  if (t.shape().rank() == 0) {
    const auto* f = std::get_if<float>(&a);
    const auto* i = std::get_if<std::int64_t>(&a);
    if (f != nullptr && t.dtype() == DType::float32 && same_bits(t, Tensor::scalar(*f)))
      return "value_float";
    if (i != nullptr && t.dtype() == DType::int64 && same_bits(t, Tensor::scalar(*i)))
      return "value_int";
  }
  if (t.shape().rank() == 1) {
    const auto* f = std::get_if<std::vector<float>>(&a);
    const auto* i = std::get_if<std::vector<std::int64_t>>(&a);
    const auto is = [&](const auto& list) {
      using T = typename std::decay_t<decltype(list)>::value_type;
      return t.dtype() == dtype_of<T> && t.numel() == static_cast<std::int64_t>(list.size()) &&
             same_bits(t, Tensor::of<T>(t.shape(), std::span<const T>(list)));
    };
    if (f != nullptr && is(*f)) return "value_floats";
    if (i != nullptr && is(*i)) return "value_ints";
  }
  return "";
}

onnx::AttributeProto::AttributeType constant_type(const std::string& form) {
  using A = onnx::AttributeProto;
  if (form == "value_float") return A::FLOAT;
  if (form == "value_int") return A::INT;
  return form == "value_floats" ? A::FLOATS : A::INTS;
}

void write_constant(const Value& value, const Node& node, onnx::NodeProto& proto) {
  proto.set_op_type("Constant");
  proto.add_output(value.name);
  auto& a = *proto.add_attribute();
  const auto it = node.attributes.items().find(value.name);
  const std::string form =
      it == node.attributes.items().end() ? "" : constant_form(value.initializer, it->second);
  if (form.empty()) {
    a.set_name("value");
    a.set_type(onnx::AttributeProto::TENSOR);
    write_tensor(value.initializer, value.name, *a.mutable_t());
  } else {
    a.set_name(form);
    a.set_type(constant_type(form));
    a.set_ref_attr_name(value.name);
  }
}

}  // namespace

onnx::FunctionProto GraphWriter::function_of(const Graph& body, const Node& node,
                                             const std::map<std::string, std::int64_t>& opsets) {
  onnx::FunctionProto f;
  f.set_domain(node.domain);
  f.set_name(node.op_type);
  for (const ValueId v : body.inputs()) f.add_input(body.name(v));
  for (const ValueId v : body.outputs()) f.add_output(body.name(v));
  std::set<std::string> names;
  std::set<std::string> domains{""};
  for (const ValueId v : body.value_ids()) {
    names.insert(body.name(v));
    if (body.constant(v) != nullptr) write_constant(body.value(v), node, *f.add_node());
  }
  for (const NodeId n : body.topological_order()) {
    auto& proto = *f.add_node();
    write_node(body, body.node(n), names, proto);
    proto.clear_name();  // it would differ from call to call
    domains.insert(body.node(n).domain);
    for (auto& a : *proto.mutable_attribute()) {
      if (same_attribute(a.name(), body.node(n).attributes.items().at(a.name()), node.attributes)) {
        refer(a.name(), a);
      }
    }
  }
  for (const std::string& domain : domains) {
    const auto own = body.info.opsets.find(domain);
    const auto model = opsets.find(domain);
    auto& import = *f.add_opset_import();
    import.set_domain(domain);
    import.set_version(own != body.info.opsets.end() ? own->second
                       : model != opsets.end()       ? model->second
                                                     : 1);
  }
  return f;
}

namespace {

/// The body with every reference to a call's attribute taken out (a Constant keeps its own: it is
/// nothing without).
std::string bytes_without_references(const onnx::FunctionProto& f) {
  onnx::FunctionProto body = f;
  for (auto& n : *body.mutable_node()) {
    if (n.op_type() == "Constant") continue;
    auto& list = *n.mutable_attribute();
    list.erase(std::remove_if(list.begin(), list.end(),
                              [](const auto& a) { return !a.ref_attr_name().empty(); }),
               list.end());
  }
  return fixed_bytes(body);
}

std::set<std::string> attributes_of(const onnx::NodeProto& n) {
  std::set<std::string> names;
  for (const auto& a : n.attribute()) names.insert(a.name());
  return names;
}

/// Every reference of `from` that `to` lacks would read an attribute that no call of `to` has: then
/// it changes nothing there.
bool can_take(const onnx::FunctionProto& to, const onnx::FunctionProto& from,
              const std::set<std::string>& called_with) {
  for (int i = 0; i < from.node_size(); ++i) {
    const auto own = attributes_of(to.node(i));
    for (const auto& a : from.node(i).attribute()) {
      if (!own.count(a.name()) && called_with.count(a.ref_attr_name())) return false;
    }
  }
  return true;
}

void take(onnx::FunctionProto& to, const onnx::FunctionProto& from) {
  for (int i = 0; i < to.node_size(); ++i) {
    auto& list = *to.mutable_node(i)->mutable_attribute();
    const auto own = attributes_of(to.node(i));
    for (const auto& a : from.node(i).attribute()) {
      if (!own.count(a.name())) *list.Add() = a;
    }
    std::sort(list.begin(), list.end(),
              [](const auto& a, const auto& b) { return a.name() < b.name(); });
  }
}

}  // namespace

bool GraphWriter::Written::merge(const onnx::FunctionProto& other,
                                 const std::set<std::string>& other_called_with) {
  if (bytes_without_references(proto) != bytes_without_references(other)) return false;
  if (!can_take(proto, other, called_with) || !can_take(other, proto, other_called_with))
    return false;
  take(proto, other);
  called_with.insert(other_called_with.begin(), other_called_with.end());
  return true;
}

std::string GraphWriter::add_function(const Graph& g, const Node& node) {
  const OpDef& def = require_op(node, g.opset(node.domain));
  if (def.decompose == nullptr) {
    throw Error({.what = "this operator cannot be written as standard operators",
                 .where = describe(node),
                 .kind = ErrorKind::unsupported});
  }
  const Graph body = def.decompose(node);
  ASSAY_ASSERT(body.inputs().size() >= node.inputs.size() &&
               body.outputs().size() >= node.outputs.size());
  const onnx::FunctionProto made = function_of(body, node, g.info.opsets);
  std::set<std::string> attributes;
  for (const auto& [name, attribute] : node.attributes.items()) attributes.insert(name);
  auto& forms = functions_[node.op_type];
  for (std::size_t i = 0; i < forms.size(); ++i) {
    if (forms[i].merge(made, attributes)) return form_name(node.op_type, i);
  }
  forms.push_back({made, attributes});
  return form_name(node.op_type, forms.size() - 1);
}

std::vector<onnx::FunctionProto> GraphWriter::functions() const {
  std::vector<onnx::FunctionProto> all;
  for (const auto& [type, forms] : functions_) {
    for (std::size_t i = 0; i < forms.size(); ++i) {
      onnx::FunctionProto f = forms[i].proto;
      f.set_name(form_name(type, i));
      for (const std::string& name : forms[i].called_with) f.add_attribute(name);
      all.push_back(std::move(f));
    }
  }
  return all;
}

}  // namespace assay
