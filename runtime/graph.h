// Graph: a value. Nodes and values are addressed by typed ids that stay valid until erased.
//
// Names are the wiring of a file and are unique here: two values never share one. Constant nodes of
// a file are read as initializers, so "constant" means one thing. A value that is an initializer
// AND a graph input (IR >= 4) is a default that the caller may override; it is not a constant.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/attributes.h"

namespace assay {

template <class Tag>
struct Id {
  std::int32_t index = -1;
  bool valid() const { return index >= 0; }
  auto operator<=>(const Id&) const = default;
};
using ValueId = Id<struct ValueTag>;
using NodeId = Id<struct NodeTag>;

/// One axis of a declared type: a size, or -1 with an optional symbol.
struct Dim {
  std::int64_t size = -1;
  std::string symbol = {};
  bool operator==(const Dim&) const = default;
};

/// What is known of a value's type before running; dims is nullopt when even the rank is unknown.
struct ValueType {
  DType dtype = DType::undefined;
  std::optional<std::vector<Dim>> dims = {};
};
std::string to_string(const ValueType& t);
/// The type of a tensor whose shape is known.
ValueType type_of(DType dtype, const Shape& shape);

struct Value {
  std::string name;
  ValueType type = {};
  NodeId producer = {};     ///< invalid for inputs and initializers
  Tensor initializer = {};  ///< defined() for initializers
  bool is_input = false;
  std::vector<NodeId> readers =
      {};  ///< nodes that read it as input or capture, one entry per reading slot
};

struct Node {
  std::string name;
  std::string op_type;
  std::string domain = {};            ///< "" is ai.onnx
  std::vector<ValueId> inputs = {};   ///< an invalid id is an absent optional input
  std::vector<ValueId> outputs = {};  ///< an invalid id is an unnamed output
  Attributes attributes = {};
  std::vector<ValueId> captures = {};  ///< outer values that the node's subgraphs read, each once

  bool has_input(std::size_t i) const { return i < inputs.size() && inputs[i].valid(); }
  bool has_output(std::size_t i) const { return i < outputs.size() && outputs[i].valid(); }
  bool is(const std::string& type) const { return op_type == type && domain.empty(); }
};

/// "node 'conv1' (Conv)"; a nameless node is named by its first output in to_place.
std::string describe(const Node& node);

struct ModelInfo {
  std::int64_t ir_version = 8;
  std::string producer = "assay";
  std::string producer_version = {};
  std::string graph_name = "graph";
  std::string doc = {};
  std::map<std::string, std::int64_t> opsets = {};  ///< domain -> version
  std::map<std::string, std::string> metadata = {};
};

class Graph {
 public:
  ModelInfo info;

  // ---- building
  /// Throws Error when the name is taken or empty.
  ValueId add_value(const std::string& name, ValueType type = {});
  ValueId add_input(const std::string& name, ValueType type);
  ValueId add_initializer(const std::string& name, Tensor tensor);
  /// Outer value of the graph that holds this subgraph, by name.
  ValueId add_capture(const std::string& name, ValueType type = {});
  void add_output(ValueId v);
  /// Throws Error when an output already has a producer.
  NodeId add_node(Node node);
  /// `stem` if free, else stem_1, stem_2, ...
  std::string fresh_name(const std::string& stem) const;
  std::string fresh_node_name(const std::string& stem) const;

  // ---- reading
  const Node& node(NodeId n) const { return nodes_[at(n)]; }
  const Value& value(ValueId v) const { return values_[at(v)]; }
  bool alive(NodeId n) const { return n.valid() && at(n) < nodes_.size() && node_alive_[at(n)]; }
  bool alive(ValueId v) const { return v.valid() && at(v) < values_.size() && value_alive_[at(v)]; }
  std::vector<NodeId> node_ids() const;    ///< live nodes in insertion order
  std::vector<ValueId> value_ids() const;  ///< live values in insertion order
  std::int64_t node_count() const;
  const std::vector<ValueId>& inputs() const {
    return inputs_;
  }  ///< true inputs, overridable defaults included
  const std::vector<ValueId>& outputs() const { return outputs_; }
  const std::vector<ValueId>& captures() const {
    return captures_;
  }  ///< of a subgraph: values of the outer graph, by name
  std::optional<ValueId> find_value(const std::string& name) const;
  std::optional<NodeId> find_node(const std::string& name) const;
  const std::string& name(ValueId v) const { return value(v).name; }
  bool is_output(ValueId v) const;
  /// The tensor of an initializer that nobody can override, else nullptr.
  const Tensor* constant(ValueId v) const;
  /// Reading slots of nodes plus appearances in the output list.
  std::int64_t use_count(ValueId v) const;
  /// The node that writes `v`, or nullptr.
  const Node* producer(ValueId v) const;
  std::int64_t opset(const std::string& domain = "") const;
  /// Nodes so that each follows what it reads; stable with respect to insertion. Throws Error
  /// naming a node of a cycle.
  std::vector<NodeId> topological_order() const;

  // ---- rewriting
  void set_input(NodeId n, std::size_t i, ValueId v);
  void set_attributes(NodeId n, Attributes attributes);
  void set_op(NodeId n, const std::string& op_type, const std::string& domain);
  void set_type(ValueId v, ValueType type) { values_[at(v)].type = std::move(type); }
  /// Turns a free value (no producer) into an initializer, or replaces an initializer's tensor.
  void set_initializer(ValueId v, Tensor tensor);
  /// All readers and graph outputs of `from` then use `to`. Captures by subgraphs follow by
  /// renaming inside them.
  void replace_uses(ValueId from, ValueId to);
  /// Gives `v` the name of `with`, and `with` a fresh one. Used so that a rewrite keeps the name of
  /// its root output.
  void swap_names(ValueId v, ValueId with);
  void rename(ValueId v, const std::string& name);
  void erase_node(NodeId n);    ///< its outputs stay as free values until erased or produced again
  void erase_value(ValueId v);  ///< must have neither producer nor uses
  /// Erases nodes none of whose outputs is used, and free values and initializers without uses;
  /// repeats until nothing changes.
  void remove_dead();
  void set_inputs(std::vector<ValueId> inputs);
  void set_outputs(std::vector<ValueId> outputs) { outputs_ = std::move(outputs); }

  /// Renumbers the nodes so that insertion order is topological_order(). Node ids held outside
  /// become invalid.
  void sort_nodes();

  /// Full consistency check (wiring, names, readers, producers, acyclic). Throws Error naming what
  /// is wrong.
  void verify() const;

 private:
  template <class T>
  static std::size_t at(Id<T> id) {
    return static_cast<std::size_t>(id.index);
  }
  void add_reader(ValueId v, NodeId n);
  void drop_reader(ValueId v, NodeId n);
  /// Makes the capture `v` read the outer value `to`, whatever that name means here so far.
  void retarget_capture(ValueId v, const std::string& to);
  void rename_capture(NodeId n, const std::string& from, const std::string& to);

  std::vector<Node> nodes_;
  std::vector<Value> values_;
  std::vector<char> node_alive_;
  std::vector<char> value_alive_;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> outputs_;
  std::vector<ValueId> captures_;
  std::unordered_map<std::string, std::int32_t> by_name_;
};

/// The part of `g` between `inputs` and `outputs` as a graph of its own, value names kept;
/// initializers come along (buffers shared). Throws Error when an output depends on something that
/// is neither an input nor a constant.
Graph extract(const Graph& g, const std::vector<ValueId>& inputs,
              const std::vector<ValueId>& outputs);

}  // namespace assay
