#include "runtime/onnx/functions.h"

#include <fmt/format.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <functional>

#include "runtime/onnx/graph_writer.h"
#include "runtime/op.h"

namespace assay {
namespace {

// Fields that are newer than the protobuf classes; they arrive as unknown fields.
constexpr int function_attribute_proto = 11;
constexpr int function_overload = 13;
constexpr int node_overload = 8;

template <class Message>
std::vector<std::string> newer_field(const Message& message, int number) {
  std::vector<std::string> found;
  const auto& fields = message.unknown_fields();
  for (int i = 0; i < fields.field_count(); ++i) {
    const auto& f = fields.field(i);
    const bool text = f.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED;
    if (f.number() == number && text) found.push_back(f.length_delimited());
  }
  return found;
}

template <class Message>
std::string overload_of(const Message& message, int number) {
  const auto found = newer_field(message, number);
  return found.empty() ? "" : found.back();
}

/// Calls `f` with every node of a list and of all subgraphs below it.
template <class Nodes, class F>
void for_each_node(const Nodes& nodes, const F& f) {
  for (const auto& node : nodes) {
    f(node);
    for (const auto& a : node.attribute()) {
      if (a.has_g()) for_each_node(a.g().node(), f);
      for (const auto& g : a.graphs()) for_each_node(g.node(), f);
    }
  }
}

std::string title(const std::string& domain, const std::string& name) {
  return "function '" + (domain.empty() ? name : domain + "." + name) + "'";
}

}  // namespace

std::string normal_domain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

FunctionLibrary::Key FunctionLibrary::key_of(const onnx::NodeProto& node) {
  return {normal_domain(node.domain()), node.op_type(), overload_of(node, node_overload)};
}

FunctionLibrary::FunctionLibrary(const onnx::ModelProto& model, const ReadOptions& options)
    : options_(options) {
  for (const auto& f : model.functions()) {
    const Key key{normal_domain(f.domain()), f.name(), overload_of(f, function_overload)};
    // Operators of Assay's own domain keep their node: the function is only for other tools.
    if (std::get<0>(key) == assay_domain && find_op(assay_domain, without_form(f.name()), 1))
      continue;
    Function function{.proto = &f};
    for (const auto& bytes : newer_field(f, function_attribute_proto)) {
      onnx::AttributeProto attribute;
      if (!attribute.ParseFromString(bytes)) {
        throw Error({.what = "unreadable attribute", .where = title(f.domain(), f.name())});
      }
      function.defaults.push_back(std::move(attribute));
    }
    if (!functions_.emplace(key, std::move(function)).second) {
      throw Error({.what = "function is defined twice", .where = title(f.domain(), f.name())});
    }
  }
  for (const auto& [key, function] : functions_) {
    std::vector<Key> stack;
    check_calls(key, stack);
  }
  if (!functions_.empty()) collect_names(model.graph());
}

/// Number of nodes that a call stands for; 1 for what is no call.
std::int64_t FunctionLibrary::check_calls(const Key& key, std::vector<Key>& stack) {
  const auto found = functions_.find(key);
  if (found == functions_.end()) return 1;
  if (const auto known = sizes_.find(key); known != sizes_.end()) return known->second;
  const std::string where = title(std::get<0>(key), std::get<1>(key));
  if (std::find(stack.begin(), stack.end(), key) != stack.end()) {
    throw Error({.what = "function calls itself, directly or through others", .where = where});
  }
  if (static_cast<int>(stack.size()) >= options_.max_nesting) {
    throw Error({.what = "functions call each other too deeply",
                 .where = where,
                 .expected = fmt::format("at most {} levels", options_.max_nesting)});
  }
  stack.push_back(key);
  std::int64_t size = 0;
  for_each_node(found->second.proto->node(), [&](const onnx::NodeProto& n) {
    size = std::min(size + check_calls(key_of(n), stack), options_.max_nodes + 1);
  });
  stack.pop_back();
  return sizes_[key] = size;
}

void FunctionLibrary::collect_names(const onnx::GraphProto& graph) {
  for (const auto& v : graph.input()) names_.insert(v.name());
  for (const auto& t : graph.initializer()) names_.insert(t.name());
  for_each_node(graph.node(), [&](const onnx::NodeProto& n) {
    names_.insert(n.input().begin(), n.input().end());
    names_.insert(n.output().begin(), n.output().end());
    for (const auto& a : n.attribute()) {
      for (const auto& t : a.g().initializer()) names_.insert(t.name());
      for (const auto& v : a.g().input()) names_.insert(v.name());
    }
  });
}

const FunctionLibrary::Function* FunctionLibrary::find(const onnx::NodeProto& node) const {
  const auto it = functions_.find(key_of(node));
  return it == functions_.end() ? nullptr : &it->second;
}

/// One call being inlined: how the function's names and attributes read at the place of the call.
class FunctionLibrary::Call {
 public:
  Call(const onnx::NodeProto& node, const Function& function,
       std::unordered_set<std::string>& names)
      : node_(node), function_(*function.proto), names_(names) {
    prefix_ = !node.name().empty()
                  ? node.name()
                  : node.op_type() + "_" + (node.output_size() ? node.output(0) : "");
    if (node.input_size() > function_.input_size() ||
        node.output_size() > function_.output_size()) {
      throw Error(
          {.what = "call does not fit its function",
           .where = "node '" + prefix_ + "'",
           .got = fmt::format("{} inputs, {} outputs", node.input_size(), node.output_size()),
           .expected =
               fmt::format("at most {} and {}", function_.input_size(), function_.output_size())});
    }
    for (const auto& a : function.defaults) attributes_[a.name()] = &a;
    for (const auto& a : node.attribute()) attributes_[a.name()] = &a;
    for (int i = 0; i < function_.input_size(); ++i) {
      renamed_[function_.input(i)] = i < node.input_size() ? node.input(i) : "";
    }
    for (int i = 0; i < node.output_size(); ++i) bind_output(i);
  }

  /// The nodes of the body at this place.
  std::vector<onnx::NodeProto> body() {
    std::vector<onnx::NodeProto> nodes(function_.node().begin(), function_.node().end());
    for (auto& n : nodes) place(n);
    nodes.insert(nodes.end(), identities_.begin(), identities_.end());
    return nodes;
  }

 private:
  void bind_output(int i) {
    const std::string& formal = function_.output(i);
    const std::string& actual = node_.output(i);
    if (actual.empty()) return;
    if (!renamed_.count(formal)) {
      renamed_[formal] = actual;
      return;
    }
    // An input handed through, or one value under two output names.
    onnx::NodeProto identity;
    identity.set_op_type("Identity");
    identity.set_name(prefix_ + "/" + formal);
    identity.add_input(renamed_[formal]);
    identity.add_output(actual);
    identities_.push_back(std::move(identity));
  }

  const std::string& renamed(const std::string& name) {
    const auto it = renamed_.find(name);
    if (name.empty() || it != renamed_.end()) return name.empty() ? name : it->second;
    std::string fresh = prefix_ + "/" + name;
    for (int i = 1; !names_.insert(fresh).second; ++i)
      fresh = fmt::format("{}/{}_{}", prefix_, name, i);
    return renamed_[name] = fresh;
  }

  void place(onnx::NodeProto& n) {
    const std::string own = n.name().empty() ? n.op_type() : n.name();
    n.set_name(prefix_ + "/" + own);
    for (auto& name : *n.mutable_input()) name = renamed(std::string(name));
    for (auto& name : *n.mutable_output()) name = renamed(std::string(name));
    for (int i = 0; i < n.attribute_size();) {
      auto& a = *n.mutable_attribute(i);
      if (!a.ref_attr_name().empty() && !substitute(a)) {
        n.mutable_attribute()->DeleteSubrange(i, 1);
        continue;
      }
      if (a.has_g()) place(*a.mutable_g());
      for (auto& g : *a.mutable_graphs()) place(g);
      ++i;
    }
  }

  void place(onnx::GraphProto& g) {
    for (auto& v : *g.mutable_input()) v.set_name(renamed(v.name()));
    for (auto& v : *g.mutable_output()) v.set_name(renamed(v.name()));
    for (auto& t : *g.mutable_initializer()) t.set_name(renamed(t.name()));
    g.clear_value_info();
    for (auto& n : *g.mutable_node()) place(n);
  }

  /// Puts the caller's value, or the default, in place of a reference. False when there is neither:
  /// the attribute is absent.
  bool substitute(onnx::AttributeProto& a) {
    const auto it = attributes_.find(a.ref_attr_name());
    if (it == attributes_.end()) return false;
    const std::string name = a.name();
    a = *it->second;
    a.set_name(name);
    return true;
  }

  const onnx::NodeProto& node_;
  const onnx::FunctionProto& function_;
  std::unordered_set<std::string>& names_;
  std::string prefix_;
  std::map<std::string, const onnx::AttributeProto*> attributes_;
  std::map<std::string, std::string> renamed_;
  std::vector<onnx::NodeProto> identities_;
};

namespace {

/// The function's operators must mean the same under the model's versions.
void merge_opsets(const onnx::FunctionProto& f, std::map<std::string, std::int64_t>& opsets) {
  for (const auto& import : f.opset_import()) {
    const std::string domain = normal_domain(import.domain());
    const auto [it, added] = opsets.emplace(domain, import.version());
    if (added || it->second == import.version()) continue;
    for_each_node(f.node(), [&, model = it->second](const onnx::NodeProto& n) {
      if (normal_domain(n.domain()) != domain) return;
      if (find_op(domain, n.op_type(), model) == find_op(domain, n.op_type(), import.version()))
        return;
      throw Error(
          {.what = fmt::format("function uses {} of opset {}", n.op_type(), import.version()),
           .where = title(f.domain(), f.name()),
           .expected = fmt::format("the model's opset {}", model),
           .advice = "convert the model to one opset",
           .kind = ErrorKind::unsupported});
    });
  }
}

}  // namespace

void FunctionLibrary::expand(const onnx::NodeProto& node,
                             std::map<std::string, std::int64_t>& opsets,
                             std::vector<const onnx::NodeProto*>& out) {
  const Function* function = find(node);
  if (function == nullptr) {
    out.push_back(&node);
    return;
  }
  if (static_cast<std::int64_t>(made_.size()) + sizes_.at(key_of(node)) > options_.max_nodes) {
    throw Error({.what = "functions expand to too many nodes",
                 .where = title(normal_domain(node.domain()), node.op_type()),
                 .expected = fmt::format("at most {}", options_.max_nodes)});
  }
  merge_opsets(*function->proto, opsets);
  Call call(node, *function, names_);
  for (onnx::NodeProto& n : call.body()) {
    made_.push_back(std::move(n));
    expand(made_.back(), opsets, out);
  }
}

std::vector<const onnx::NodeProto*> FunctionLibrary::expanded(
    const onnx::GraphProto& graph, std::map<std::string, std::int64_t>& opsets) {
  std::vector<const onnx::NodeProto*> nodes;
  nodes.reserve(static_cast<std::size_t>(graph.node_size()));
  for (const auto& n : graph.node()) {
    if (functions_.empty()) {
      nodes.push_back(&n);
    } else {
      expand(n, opsets, nodes);
    }
  }
  return nodes;
}

}  // namespace assay
