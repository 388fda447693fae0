#include "quant/tail.h"

#include <algorithm>

namespace assay {
namespace {

/// A Q/DQ pair that stands alone between `v` and one reader: its parameters, nodes and result.
struct Pair {
  QuantParams params;
  NodeId quantize, dequantize;
  ValueId result;
};

std::optional<Pair> lone_pair(const Graph& g, ValueId v) {
  const NodeId q = only_reader(g, v);
  if (!q.valid()) return std::nullopt;
  const auto params = quantizer_of(g, q);
  if (!params) return std::nullopt;
  const NodeId dq = only_reader(g, g.node(q).outputs[0]);
  if (!dq.valid() || !g.node(dq).is("DequantizeLinear")) return std::nullopt;
  const auto source = code_source(g, g.node(dq).outputs[0]);
  const auto* found = std::get_if<CodeSource>(&source);
  if (found == nullptr || !(found->params == *params)) return std::nullopt;
  return Pair{*params, q, dq, g.node(dq).outputs[0]};
}

std::optional<CodeSource> other_operand(const Graph& g, const Node& add, ValueId own,
                                        const StaticTypes& types) {
  if (!add.is("Add") || add.inputs[0] == add.inputs[1]) return std::nullopt;
  const ValueId other = add.inputs[0] == own ? add.inputs[1] : add.inputs[0];
  const auto source = code_source(g, other);
  const auto* found = std::get_if<CodeSource>(&source);
  if (found == nullptr || !same_shape(types, own, other)) return std::nullopt;
  return *found;
}

ValueId absorb_residual(const Graph& g, ValueId v, const StaticTypes& types, Tail& t) {
  const auto pair = lone_pair(g, v);
  const ValueId operand = pair ? pair->result : v;
  const NodeId add = only_reader(g, operand);
  if (!add.valid()) return v;
  const auto residual = other_operand(g, g.node(add), operand, types);
  if (!residual) return v;
  if (pair) {
    t.mid = pair->params;
    t.nodes.insert(t.nodes.end(), {pair->quantize, pair->dequantize});
  }
  t.residual = residual;
  t.nodes.push_back(add);
  return g.node(add).outputs[0];
}

/// A bound of Clip: constant scalar, absent, or not usable.
bool read_bound(const Graph& g, const Node& clip, std::size_t i, std::optional<float>& bound) {
  if (!clip.has_input(i)) return true;
  const Tensor* t = g.constant(clip.inputs[i]);
  if (t == nullptr || t->numel() != 1 || t->dtype() != DType::float32) return false;
  bound = t->data<float>()[0];
  return true;
}

std::optional<IntegerActivation> activation_of(const Graph& g, const Node& node) {
  if (!node.domain.empty()) return std::nullopt;
  IntegerActivation a{.type = node.op_type};
  if (node.is("Relu") || node.is("HardSwish")) return a;
  if (node.is("LeakyRelu")) {
    a.alpha = node.attributes.float_or("alpha", 0.01F);
    return a;
  }
  if (node.is("HardSigmoid")) {
    a.alpha = node.attributes.float_or("alpha", 0.2F);
    a.beta = node.attributes.float_or("beta", 0.5F);
    return a;
  }
  if (node.is("Clip") && g.opset() >= 11 && read_bound(g, node, 1, a.min) &&
      read_bound(g, node, 2, a.max))
    return a;
  return std::nullopt;
}

ValueId absorb_activation(const Graph& g, ValueId v, Tail& t) {
  const NodeId n = only_reader(g, v);
  if (!n.valid()) return v;
  const auto a = activation_of(g, g.node(n));
  if (!a || g.node(n).inputs[0] != v) return v;
  t.activation = *a;
  t.nodes.push_back(n);
  return g.node(n).outputs[0];
}

void absorb_quantizers(const Graph& g, ValueId v, Tail& t) {
  const auto& readers = g.value(v).readers;
  if (readers.empty() || g.is_output(v)) return;
  const auto first = quantizer_of(g, readers[0]);
  for (const NodeId n : readers) {
    if (!first || quantizer_of(g, n) != first || g.node(n).inputs[0] != v) return;
    if (g.is_output(g.node(n).outputs[0]) && readers.size() > 1) return;
  }
  t.y = first;
  for (const NodeId n : readers) {
    t.nodes.push_back(n);
    t.code_values.push_back(g.node(n).outputs[0]);
  }
}

}  // namespace

bool same_shape(const StaticTypes& types, ValueId a, ValueId b) {
  const TensorType &x = types.type(a), &y = types.type(b);
  return x.known() && y.known() && *x.dims == *y.dims;
}

Tail find_tail(const Graph& g, NodeId n, const StaticTypes& types, bool with_residual) {
  Tail t;
  ValueId v = g.node(n).outputs[0];
  if (with_residual) v = absorb_residual(g, v, types, t);
  v = absorb_activation(g, v, t);
  absorb_quantizers(g, v, t);
  t.value = v;
  return t;
}

Tail quantized_tail(const Graph& g, NodeId n) {
  Tail t{.value = g.node(n).outputs[0]};
  absorb_quantizers(g, t.value, t);
  return t;
}

}  // namespace assay
