#include "validation/certificate/expand.h"

namespace assay {
namespace {

class Expander {
 public:
  Expander(const Graph& g, std::map<std::string, Shape>& shapes) : g_(g), shapes_(shapes) {}

  Graph run() {
    for (const NodeId n : g_.topological_order()) {
      const Node node = g_.node(n);
      if (node.is("LayerNormalization")) layer_norm(n, node);
      if (node.is("Pow")) square(n, node);
      if (node.is("ReduceMean")) count_from_end(n, node);
    }
    return std::move(g_);
  }

 private:
  std::int64_t rank_of(ValueId v) const {
    const auto it = shapes_.find(g_.name(v));
    return it == shapes_.end() ? -1 : it->second.rank();
  }

  ValueId inner(const Node& node, const char* suffix, const Shape& shape) {
    const ValueId v = g_.add_value(g_.fresh_name(g_.name(node.outputs[0]) + suffix));
    shapes_[g_.name(v)] = shape;
    return v;
  }

  void put(const Node& node, const char* op, std::vector<ValueId> in, ValueId out,
           Attributes a = {}) {
    g_.add_node({.name = g_.fresh_node_name(node.name + "_" + op),
                 .op_type = op,
                 .inputs = std::move(in),
                 .outputs = {out},
                 .attributes = std::move(a)});
  }

  void mean(const Node& node, ValueId in, ValueId out, const std::vector<std::int64_t>& axes) {
    Attributes a;
    if (g_.opset() < 18) {
      a.set("axes", axes);
      return put(node, "ReduceMean", {in}, out, a);
    }
    const ValueId list = g_.add_initializer(
        g_.fresh_name(node.name + "_axes"),
        Tensor::of<std::int64_t>(Shape{static_cast<std::int64_t>(axes.size())}, axes));
    put(node, "ReduceMean", {in, list}, out);
  }

  void layer_norm(NodeId n, const Node& node) {
    const std::int64_t rank = rank_of(node.inputs[0]);
    if (rank < 0 || node.has_output(1) || node.has_output(2)) return;
    std::int64_t axis = node.attributes.int_or("axis", -1);
    if (axis >= 0) axis -= rank;
    const Shape whole = shapes_.at(g_.name(node.inputs[0]));
    std::vector<std::int64_t> axes;
    std::vector<std::int64_t> dims = whole.vec();
    for (std::int64_t k = axis; k < 0; ++k) {
      axes.push_back(k);
      dims[static_cast<std::size_t>(rank + k)] = 1;
    }
    const Shape reduced(dims);
    g_.erase_node(n);
    const ValueId centre = inner(node, "_mean", reduced), off = inner(node, "_off", whole),
                  squares = inner(node, "_squares", whole), var = inner(node, "_var", reduced),
                  sum = inner(node, "_sum", reduced), root = inner(node, "_root", reduced);
    mean(node, node.inputs[0], centre, axes);
    put(node, "Sub", {node.inputs[0], centre}, off);
    put(node, "Mul", {off, off}, squares);
    mean(node, squares, var, axes);
    const ValueId epsilon =
        g_.add_initializer(g_.fresh_name(node.name + "_epsilon"),
                           Tensor::scalar(node.attributes.float_or("epsilon", 1e-5F)));
    put(node, "Add", {var, epsilon}, sum);
    put(node, "Sqrt", {sum}, root);
    const bool shifted = node.has_input(2);
    const ValueId ratio = inner(node, "_ratio", whole);
    put(node, "Div", {off, root}, ratio);
    const ValueId scaled = shifted ? inner(node, "_scaled", whole) : node.outputs[0];
    put(node, "Mul", {ratio, node.inputs[1]}, scaled);
    if (shifted) put(node, "Add", {scaled, node.inputs[2]}, node.outputs[0]);
  }

  void square(NodeId n, const Node& node) {
    const Tensor* k = g_.constant(node.inputs[1]);
    if (k == nullptr || k->numel() != 1 || k->shape().rank() > 1 || to_doubles(*k)[0] != 2) return;
    g_.erase_node(n);
    put(node, "Mul", {node.inputs[0], node.inputs[0]}, node.outputs[0]);
  }

  void count_from_end(NodeId n, const Node& node) {
    const std::int64_t rank = rank_of(node.inputs[0]);
    if (!node.attributes.has("axes") || rank < 0) return;
    auto axes = node.attributes.ints_or("axes", {});
    for (std::int64_t& a : axes) a -= a >= 0 ? rank : 0;
    Attributes changed = node.attributes;
    changed.set("axes", axes);
    g_.set_attributes(n, changed);
  }

  Graph g_;
  std::map<std::string, Shape>& shapes_;
};

}  // namespace

Graph expand_composites(const Graph& g, std::map<std::string, Shape>& shapes) {
  return Expander(g, shapes).run();
}

}  // namespace assay
