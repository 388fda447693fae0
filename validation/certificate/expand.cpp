#include "validation/certificate/expand.h"

#include <algorithm>
#include <cmath>

#include "validation/certificate/operators.h"
#include "validation/certificate/padding.h"

namespace assay {
namespace {

class Expander {
 public:
  Expander(const Graph& g, std::map<std::string, Shape>& shapes) : g_(g), shapes_(shapes) {}

  Graph run() {
    for (const NodeId n : g_.topological_order()) {
      const Node node = g_.node(n);
      if (node.is("LayerNormalization")) layer_norm(n, node);
      if (node.is("HardSwish")) hard_swish(n, node);
      if (node.is("DequantizeLinear")) drop_exact_pair(n, node);
      if (node.is("Pow")) square(n, node);
      if (node.is("ReduceMean")) count_from_end(n, node);
      if (node.is("Concat")) join_branches(n, node);
      if (node.is("AveragePool") || node.is("MaxPool")) {
        while (join_padding(n, Node(g_.node(n)))) {
        }
      }
      if (node.is("Conv")) {
        while (join_zeros(n, Node(g_.node(n)))) {
        }
      }
    }
    g_.remove_dead();
    return std::move(g_);
  }

  Graph branches_only() {
    for (const NodeId n : g_.topological_order()) {
      const Node node = g_.node(n);
      if (node.is("Concat")) join_branches(n, node, true);
    }
    g_.remove_dead();
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

  void hard_swish(NodeId n, const Node& node) {
    const auto known = shapes_.find(g_.name(node.inputs[0]));
    if (known == shapes_.end()) return;
    const Shape shape = known->second;
    const auto number = [&](const char* suffix, float x) {
      return g_.add_initializer(g_.fresh_name(node.name + suffix), Tensor::scalar(x));
    };
    g_.erase_node(n);
    const ValueId plus = inner(node, "_plus", shape), clipped = inner(node, "_clipped", shape),
                  product = inner(node, "_product", shape), six = number("_six", 6);
    put(node, "Add", {node.inputs[0], number("_three", 3)}, plus);
    put(node, "Clip", {plus, number("_zero", 0), six}, clipped);
    put(node, "Mul", {node.inputs[0], clipped}, product);
    put(node, "Div", {product, six}, node.outputs[0]);
  }

  bool same_grid(const Node& a, const Node& b) const {
    for (std::size_t i = 1; i < 3; ++i) {
      if (a.has_input(i) != b.has_input(i)) return false;
      if (!a.has_input(i)) continue;
      const Tensor* s = g_.constant(a.inputs[i]);
      const Tensor* t = g_.constant(b.inputs[i]);
      if (s == nullptr || t == nullptr || !same_bits(*s, *t)) return false;
    }
    return a.attributes.int_or("axis", 1) == b.attributes.int_or("axis", 1);
  }

  /// A number on the grid stays where it is.
  void drop_exact_pair(NodeId n, const Node& dq) {
    const Node* q = g_.producer(dq.inputs[0]);
    const Node* first = q == nullptr ? nullptr : g_.producer(q->inputs[0]);
    if (first == nullptr || !q->is("QuantizeLinear") || !first->is("DequantizeLinear") ||
        !same_grid(*q, dq) || !same_grid(*first, dq))
      return;
    const ValueId d = first->outputs[0];
    g_.erase_node(n);
    put(dq, "Identity", {d}, dq.outputs[0]);
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

  // ---- branches

  /// The Conv of branch `i`, reading part `i` of a Split of axis 1.
  const Node* branch(const Node& concat, std::size_t i, const Node*& split) const {
    const Node* conv = g_.producer(concat.inputs[i]);
    if (conv == nullptr || !conv->is("Conv") || g_.constant(conv->inputs[1]) == nullptr)
      return nullptr;
    const Node* from = g_.producer(conv->inputs[0]);
    if (from == nullptr || !from->is("Split") || from->attributes.int_or("axis", 0) != 1 ||
        from->outputs.size() != concat.inputs.size() || from->outputs[i] != conv->inputs[0] ||
        (split != nullptr && split != from))
      return nullptr;
    split = from;
    return conv;
  }

  static bool alike(const Graph& g, const Node& a, const Node& b) {
    const Tensor& v = *g.constant(a.inputs[1]);
    const Tensor& w = *g.constant(b.inputs[1]);
    return same_operator(a, b) && v.shape() == w.shape() && v.dtype() == w.dtype();
  }

  /// Rows of all branches one behind the other; an undefined tensor when one is not constant.
  Tensor stacked(const std::vector<const Node*>& convs, std::size_t input) const {
    std::vector<std::int64_t> dims = g_.constant(convs[0]->inputs[1])->shape().vec();
    if (input == 2) dims.resize(1);
    const std::int64_t rows = dims[0];
    dims[0] *= static_cast<std::int64_t>(convs.size());
    const DType dtype = g_.constant(convs[0]->inputs[1])->dtype();
    Tensor all = Tensor::zeros(dtype, Shape(dims));
    auto to = all.mutable_raw().begin();
    for (const Node* conv : convs) {
      const Tensor* t = conv->has_input(input) ? g_.constant(conv->inputs[input]) : nullptr;
      if (conv->has_input(input) && (t == nullptr || t->dtype() != dtype)) return {};
      if (t != nullptr) std::copy(t->raw().begin(), t->raw().end(), to);
      to += all.numel() / dims[0] * rows * size_of(dtype);
    }
    return all;
  }

  void join_branches(NodeId n, const Node& concat, bool same_bits = false) {
    if (concat.attributes.int_or("axis", 0) != 1 || concat.inputs.size() < 2) return;
    const Node* split = nullptr;
    std::vector<const Node*> convs;
    for (std::size_t i = 0; i < concat.inputs.size(); ++i) {
      const Node* conv = branch(concat, i, split);
      if (conv == nullptr || (i > 0 && !alike(g_, *convs[0], *conv))) return;
      convs.push_back(conv);
    }
    const Tensor w = stacked(convs, 1), b = stacked(convs, 2);
    if (!w.defined() || !b.defined()) return;
    Attributes a = convs[0]->attributes;
    a.set("group", a.int_or("group", 1) * static_cast<std::int64_t>(convs.size()));
    const auto with_bias = std::count_if(convs.begin(), convs.end(),
                                         [](const Node* conv) { return conv->has_input(2); });
    const bool biased = with_bias > 0;
    if (same_bits && biased && with_bias != std::ssize(convs)) return;
    std::vector<ValueId> in{split->inputs[0],
                            g_.add_initializer(g_.fresh_name(concat.name + "_weights"), w)};
    if (biased) in.push_back(g_.add_initializer(g_.fresh_name(concat.name + "_bias"), b));
    g_.erase_node(n);
    put(concat, "Conv", std::move(in), concat.outputs[0], std::move(a));
  }

  // ---- padding in front of a Conv or a pool

  bool join_zeros(NodeId n, const Node& conv) {
    const Node* pad = g_.producer(conv.inputs[0]);
    const auto padding = pad == nullptr ? std::nullopt : spatial_padding(g_, *pad);
    if (!padding || padding->value != 0 ||
        conv.attributes.string_or("auto_pad", "NOTSET") != "NOTSET")
      return false;
    Attributes a = conv.attributes;
    a.set("pads", joined_pads(a.ints_or("pads", {}), padding->pads));
    const ValueId x = pad->inputs[0];
    g_.set_attributes(n, a);
    g_.set_input(n, 0, x);
    return true;
  }

  bool join_padding(NodeId n, const Node& pool) {
    const Node* pad = g_.producer(pool.inputs[0]);
    const auto padding = pad == nullptr ? std::nullopt : spatial_padding(g_, *pad);
    const auto own = pool.attributes.ints_or("pads", {});
    const bool none = std::all_of(own.begin(), own.end(), [](std::int64_t p) { return p == 0; });
    const bool average = pool.is("AveragePool");
    const bool counts = pool.attributes.int_or("count_include_pad", 0) != 0;
    if (!padding || padding->value != (average ? 0 : -INFINITY) || (average && !none && !counts) ||
        pool.attributes.int_or("ceil_mode", 0) != 0 || pool.outputs.size() > 1 ||
        pool.attributes.string_or("auto_pad", "NOTSET") != "NOTSET")
      return false;
    Attributes a = pool.attributes;
    a.set("pads", joined_pads(own, padding->pads));
    if (average) a.set("count_include_pad", std::int64_t{1});
    g_.set_attributes(n, a);
    g_.set_input(n, 0, pad->inputs[0]);
    return true;
  }

  Graph g_;
  std::map<std::string, Shape>& shapes_;
};

}  // namespace

Graph expand_composites(const Graph& g, std::map<std::string, Shape>& shapes) {
  return Expander(g, shapes).run();
}

Graph join_equal_branches(const Graph& g) {
  std::map<std::string, Shape> none;
  return Expander(g, none).branches_only();
}

}  // namespace assay
