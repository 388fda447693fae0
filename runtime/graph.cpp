#include "runtime/graph.h"

#include <algorithm>
#include <queue>

namespace assay {

ValueType type_of(DType dtype, const Shape& shape) {
  ValueType type{.dtype = dtype, .dims = std::vector<Dim>{}};
  for (const std::int64_t d : shape.dims()) type.dims->push_back({.size = d});
  return type;
}

std::string to_string(const ValueType& t) {
  std::string text = to_string(t.dtype);
  if (!t.dims) return text + " [?]";
  text += " [";
  for (std::size_t i = 0; i < t.dims->size(); ++i) {
    const Dim& d = (*t.dims)[i];
    text += i ? ", " : "";
    text += d.size >= 0 ? std::to_string(d.size) : d.symbol.empty() ? "?" : d.symbol;
  }
  return text + "]";
}

std::string describe(const Node& node) {
  return node.name.empty() ? "node of type " + node.op_type
                           : "node '" + node.name + "' (" + node.op_type + ")";
}

// ---- building

ValueId Graph::add_value(const std::string& name, ValueType type) {
  if (name.empty()) throw Error({.what = "a value needs a name"});
  const auto index = static_cast<std::int32_t>(values_.size());
  if (!by_name_.emplace(name, index).second) {
    throw Error({.what = "two values have the same name",
                 .got = "'" + name + "'",
                 .expected = "unique names"});
  }
  values_.push_back({.name = name, .type = std::move(type)});
  value_alive_.push_back(1);
  return {index};
}

ValueId Graph::add_input(const std::string& name, ValueType type) {
  const ValueId v = add_value(name, std::move(type));
  values_[at(v)].is_input = true;
  inputs_.push_back(v);
  return v;
}

ValueId Graph::add_initializer(const std::string& name, Tensor tensor) {
  const ValueId v = add_value(name);
  set_initializer(v, std::move(tensor));
  return v;
}

ValueId Graph::add_capture(const std::string& name, ValueType type) {
  if (const auto found = find_value(name)) return *found;
  const ValueId v = add_value(name, std::move(type));
  captures_.push_back(v);
  return v;
}

void Graph::add_output(ValueId v) { outputs_.push_back(v); }

NodeId Graph::add_node(Node node) {
  const NodeId id{static_cast<std::int32_t>(nodes_.size())};
  for (const ValueId v : node.outputs) {
    if (!v.valid()) continue;
    Value& value = values_[at(v)];
    if (value.producer.valid() || value.is_input || value.initializer.defined()) {
      throw Error({.what = "two nodes or inputs give the same value",
                   .where = describe(node),
                   .got = "'" + value.name + "'",
                   .expected = "one producer"});
    }
    value.producer = id;
  }
  for (const ValueId v : node.inputs) add_reader(v, id);
  for (const ValueId v : node.captures) add_reader(v, id);
  nodes_.push_back(std::move(node));
  node_alive_.push_back(1);
  return id;
}

std::string Graph::fresh_name(const std::string& stem) const {
  if (!by_name_.count(stem)) return stem;
  for (int i = 1;; ++i) {
    std::string name = stem + "_" + std::to_string(i);
    if (!by_name_.count(name)) return name;
  }
}

std::string Graph::fresh_node_name(const std::string& stem) const {
  if (!find_node(stem)) return stem;
  for (int i = 1;; ++i) {
    std::string name = stem + "_" + std::to_string(i);
    if (!find_node(name)) return name;
  }
}

// ---- reading

std::vector<NodeId> Graph::node_ids() const {
  std::vector<NodeId> ids;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (node_alive_[i]) ids.push_back({static_cast<std::int32_t>(i)});
  }
  return ids;
}

std::vector<ValueId> Graph::value_ids() const {
  std::vector<ValueId> ids;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (value_alive_[i]) ids.push_back({static_cast<std::int32_t>(i)});
  }
  return ids;
}

std::int64_t Graph::node_count() const {
  return std::count(node_alive_.begin(), node_alive_.end(), 1);
}

std::optional<ValueId> Graph::find_value(const std::string& name) const {
  const auto it = by_name_.find(name);
  if (it == by_name_.end()) return std::nullopt;
  return ValueId{it->second};
}

std::optional<NodeId> Graph::find_node(const std::string& name) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (node_alive_[i] && nodes_[i].name == name) return NodeId{static_cast<std::int32_t>(i)};
  }
  return std::nullopt;
}

bool Graph::is_output(ValueId v) const {
  return std::find(outputs_.begin(), outputs_.end(), v) != outputs_.end();
}

const Tensor* Graph::constant(ValueId v) const {
  if (!v.valid()) return nullptr;
  const Value& x = value(v);
  return x.initializer.defined() && !x.is_input ? &x.initializer : nullptr;
}

std::int64_t Graph::use_count(ValueId v) const {
  return static_cast<std::int64_t>(value(v).readers.size()) +
         std::count(outputs_.begin(), outputs_.end(), v);
}

const Node* Graph::producer(ValueId v) const {
  if (!v.valid() || !value(v).producer.valid()) return nullptr;
  return &node(value(v).producer);
}

std::int64_t Graph::opset(const std::string& domain) const {
  const auto it = info.opsets.find(domain == "ai.onnx" ? "" : domain);
  return it == info.opsets.end() ? 1 : it->second;
}

std::vector<NodeId> Graph::topological_order() const {
  std::vector<std::int32_t> missing(nodes_.size(), 0);
  std::priority_queue<std::int32_t, std::vector<std::int32_t>, std::greater<>> ready;
  for (const NodeId n : node_ids()) {
    std::int32_t& count = missing[at(n)];
    const auto needs = [&](ValueId v) { count += v.valid() && value(v).producer.valid(); };
    for (const ValueId v : node(n).inputs) needs(v);
    for (const ValueId v : node(n).captures) needs(v);
    if (count == 0) ready.push(n.index);
  }
  std::vector<NodeId> order;
  while (!ready.empty()) {
    const NodeId n{ready.top()};
    ready.pop();
    order.push_back(n);
    for (const ValueId v : node(n).outputs) {
      if (!v.valid()) continue;
      for (const NodeId reader : value(v).readers) {
        if (--missing[at(reader)] == 0) ready.push(reader.index);
      }
    }
  }
  if (static_cast<std::int64_t>(order.size()) != node_count()) {
    for (const NodeId n : node_ids()) {
      if (missing[at(n)] > 0) {
        const Node& stuck = node(n);
        const std::string out =
            stuck.has_output(0) ? ", output '" + name(stuck.outputs[0]) + "'" : "";
        throw Error({.what = "the graph has a cycle", .where = describe(stuck) + out});
      }
    }
  }
  return order;
}

// ---- rewriting

void Graph::add_reader(ValueId v, NodeId n) {
  if (v.valid()) values_[at(v)].readers.push_back(n);
}

void Graph::drop_reader(ValueId v, NodeId n) {
  if (!v.valid()) return;
  auto& readers = values_[at(v)].readers;
  const auto it = std::find(readers.begin(), readers.end(), n);
  ASSAY_ASSERT(it != readers.end());
  readers.erase(it);
}

void Graph::set_input(NodeId n, std::size_t i, ValueId v) {
  Node& x = nodes_[at(n)];
  if (x.inputs.size() <= i) x.inputs.resize(i + 1);
  drop_reader(x.inputs[i], n);
  x.inputs[i] = v;
  add_reader(v, n);
}

void Graph::set_attributes(NodeId n, Attributes attributes) {
  nodes_[at(n)].attributes = std::move(attributes);
}

void Graph::set_op(NodeId n, const std::string& op_type, const std::string& domain) {
  nodes_[at(n)].op_type = op_type;
  nodes_[at(n)].domain = domain;
}

void Graph::set_initializer(ValueId v, Tensor tensor) {
  Value& x = values_[at(v)];
  ASSAY_ASSERT(!x.producer.valid());
  x.type = type_of(tensor.dtype(), tensor.shape());
  x.initializer = std::move(tensor);
}

void Graph::rename_capture(NodeId n, const std::string& from, const std::string& to) {
  Attributes attributes = nodes_[at(n)].attributes;
  for (const auto& [key, attribute] : nodes_[at(n)].attributes.items()) {
    const auto* inner = std::get_if<GraphPtr>(&attribute);
    if (inner == nullptr || !*inner) continue;
    const auto v = (*inner)->find_value(from);
    if (!v) continue;
    auto copy = std::make_shared<Graph>(**inner);
    copy->retarget_capture(*v, to);
    attributes.set(key, GraphPtr(copy));
  }
  nodes_[at(n)].attributes = std::move(attributes);
}

void Graph::retarget_capture(ValueId v, const std::string& to) {
  const auto taken = find_value(to);
  const bool also_captured =
      taken && std::find(captures_.begin(), captures_.end(), *taken) != captures_.end();
  if (also_captured) {
    replace_uses(v, *taken);
    erase_value(v);
    return;
  }
  if (taken) rename(*taken, fresh_name(to + "_inner"));
  rename(v, to);
}

void Graph::replace_uses(ValueId from, ValueId to) {
  if (from == to) return;
  const auto readers = values_[at(from)].readers;
  for (const NodeId n : std::set<NodeId>(readers.begin(), readers.end())) {
    Node& x = nodes_[at(n)];
    for (std::size_t i = 0; i < x.inputs.size(); ++i) {
      if (x.inputs[i] == from) set_input(n, i, to);
    }
    if (std::find(x.captures.begin(), x.captures.end(), from) == x.captures.end()) continue;
    rename_capture(n, name(from), name(to));
    drop_reader(from, n);
    std::erase(x.captures, from);
    if (std::find(x.captures.begin(), x.captures.end(), to) != x.captures.end()) continue;
    x.captures.push_back(to);
    add_reader(to, n);
  }
  std::replace(outputs_.begin(), outputs_.end(), from, to);
}

void Graph::rename(ValueId v, const std::string& new_name) {
  Value& x = values_[at(v)];
  if (x.name == new_name) return;
  if (by_name_.count(new_name)) {
    throw Error({.what = "two values have the same name",
                 .got = "'" + new_name + "'",
                 .expected = "unique names"});
  }
  const std::string old = x.name;
  for (const NodeId n : std::set<NodeId>(x.readers.begin(), x.readers.end()))
    rename_capture(n, old, new_name);
  // A nested subgraph that captures through this graph follows too.
  by_name_.erase(old);
  by_name_[new_name] = v.index;
  x.name = new_name;
}

void Graph::swap_names(ValueId v, ValueId with) {
  const std::string keep = name(with);
  const std::string other = name(v);
  rename(with, fresh_name(keep + "_replaced"));
  rename(v, keep);
  rename(with, other);
}

void Graph::erase_node(NodeId n) {
  ASSAY_ASSERT(alive(n));
  Node& x = nodes_[at(n)];
  for (const ValueId v : x.inputs) drop_reader(v, n);
  for (const ValueId v : x.captures) drop_reader(v, n);
  for (const ValueId v : x.outputs) {
    if (v.valid()) values_[at(v)].producer = {};
  }
  node_alive_[at(n)] = 0;
  x = {};
}

void Graph::erase_value(ValueId v) {
  Value& x = values_[at(v)];
  ASSAY_ASSERT(alive(v) && !x.producer.valid() && use_count(v) == 0);
  std::erase(inputs_, v);
  std::erase(captures_, v);
  by_name_.erase(x.name);
  value_alive_[at(v)] = 0;
  x = {};
}

void Graph::remove_dead() {
  for (bool changed = true; changed;) {
    changed = false;
    const auto order = node_ids();
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      const auto& outputs = node(*it).outputs;
      const bool used = std::any_of(outputs.begin(), outputs.end(),
                                    [&](ValueId v) { return v.valid() && use_count(v) > 0; });
      if (used) continue;
      erase_node(*it);
      changed = true;
    }
  }
  for (const ValueId v : value_ids()) {
    const Value& x = value(v);
    if (!x.producer.valid() && !x.is_input && use_count(v) == 0) erase_value(v);
  }
}

void Graph::set_inputs(std::vector<ValueId> inputs) {
  for (const ValueId v : inputs_) values_[at(v)].is_input = false;
  inputs_ = std::move(inputs);
  for (const ValueId v : inputs_) values_[at(v)].is_input = true;
}

void Graph::sort_nodes() {
  const auto order = topological_order();
  std::vector<std::int32_t> place(nodes_.size(), -1);
  std::vector<Node> sorted;
  sorted.reserve(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[at(order[i])] = static_cast<std::int32_t>(i);
    sorted.push_back(std::move(nodes_[at(order[i])]));
  }
  for (Value& v : values_) {
    if (v.producer.valid()) v.producer.index = place[at(v.producer)];
    for (NodeId& reader : v.readers) reader.index = place[at(reader)];
  }
  nodes_ = std::move(sorted);
  node_alive_.assign(nodes_.size(), 1);
}

void Graph::verify() const {
  for (const NodeId n : node_ids()) {
    const Node& x = node(n);
    for (const auto& list : {x.inputs, x.captures}) {
      for (const ValueId v : list) {
        if (!v.valid()) continue;
        if (!alive(v))
          throw Error({.what = "input refers to an erased value", .where = describe(x)});
        const Value& in = value(v);
        const bool known = in.producer.valid() || in.is_input || in.initializer.defined() ||
                           std::find(captures_.begin(), captures_.end(), v) != captures_.end();
        if (!known) {
          throw Error({.what = "input is given by nothing",
                       .where = describe(x),
                       .got = "'" + in.name + "'",
                       .expected = "a node output, graph input or initializer"});
        }
        ASSAY_ASSERT(std::count(in.readers.begin(), in.readers.end(), n) >= 1);
      }
    }
    for (const ValueId v : x.outputs) ASSAY_ASSERT(!v.valid() || value(v).producer == n);
  }
  for (const ValueId v : outputs_) {
    const Value& x = value(v);
    const bool known = x.producer.valid() || x.is_input || x.initializer.defined() ||
                       std::find(captures_.begin(), captures_.end(), v) != captures_.end();
    if (!known)
      throw Error({.what = "graph output is given by nothing", .got = "'" + x.name + "'"});
  }
  topological_order();
}

namespace {

/// Copies the values and nodes that an extracted output needs, recursively over producers.
class Extractor {
 public:
  Extractor(const Graph& from, Graph& to) : from_(from), to_(to) {}

  void add_input(ValueId v) {
    if (map_.count(v)) return;
    ValueType type = from_.value(v).type;
    map_[v] = to_.add_input(from_.name(v), std::move(type));
  }

  void collect(ValueId v) {
    if (!v.valid() || map_.count(v) || visiting_.count(v)) return;
    visiting_.insert(v);
    const Value& x = from_.value(v);
    if (x.initializer.defined()) return;
    if (!x.producer.valid()) {
      throw Error({.what = "cannot cut out a part of the graph: it also needs '" + x.name + "'"});
    }
    needed_.insert(x.producer);
    for (const ValueId in : from_.node(x.producer).inputs) collect(in);
    for (const ValueId in : from_.node(x.producer).captures) collect(in);
  }

  void build() {
    for (const NodeId n : from_.topological_order()) {
      if (!needed_.count(n)) continue;
      Node copy = from_.node(n);
      for (ValueId& v : copy.inputs) v = mapped(v);
      for (ValueId& v : copy.captures) v = mapped(v);
      for (ValueId& v : copy.outputs) {
        // A cut value may be an input here although its node is needed for another output.
        if (v.valid() && map_.count(v))
          v = to_.add_value(to_.fresh_name(from_.name(v) + "_recomputed"));
        else
          v = mapped(v);
      }
      to_.add_node(std::move(copy));
    }
  }

  ValueId mapped(ValueId v) {
    if (!v.valid()) return v;
    const auto it = map_.find(v);
    if (it != map_.end()) return it->second;
    const Value& x = from_.value(v);
    const ValueId id = x.initializer.defined() ? to_.add_initializer(x.name, x.initializer)
                                               : to_.add_value(x.name, x.type);
    return map_[v] = id;
  }

 private:
  const Graph& from_;
  Graph& to_;
  std::map<ValueId, ValueId> map_;
  std::set<ValueId> visiting_;
  std::set<NodeId> needed_;
};

}  // namespace

Graph extract(const Graph& g, const std::vector<ValueId>& inputs,
              const std::vector<ValueId>& outputs) {
  Graph part;
  part.info = g.info;
  Extractor extractor(g, part);
  for (const ValueId v : inputs) extractor.add_input(v);
  for (const ValueId v : outputs) extractor.collect(v);
  extractor.build();
  for (const ValueId v : outputs) part.add_output(extractor.mapped(v));
  return part;
}

}  // namespace assay
