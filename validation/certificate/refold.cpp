#include "validation/certificate/refold.h"

#include <algorithm>

#include "fusion/pipeline.h"
#include "quant/unfuse.h"
#include "validation/certificate/equivalence.h"
#include "validation/certificate/linear_term.h"
#include "validation/certificate/reading.h"

namespace assay {
namespace {

constexpr std::int64_t weights_kept = 4;

/// Zero but for the first weights of every output channel.
Tensor thinned(const Tensor& w, const Node& linear) {
  LinearTerm t = linear_term(linear, w, {});
  const bool transposed = linear.is("Gemm") && linear.attributes.int_or("transB", 0) != 0;
  if (transposed || w.shape().rank() < 2) return w;
  t.coeff.resize(static_cast<std::size_t>(
      t.channel_axis == 0 ? w.shape()[0]
                          : w.shape()[1] * (linear.is("ConvTranspose") ? t.groups : 1)));
  const std::int64_t per_channel = weights_per_channel(t);
  if (per_channel <= weights_kept) return w;
  Tensor thin = Tensor::zeros(DType::float64, w.shape());
  const auto from = w.data<double>();
  auto to = thin.mutable_data<double>();
  for (std::int64_t c = 0; c < static_cast<std::int64_t>(t.coeff.size()); ++c) {
    for (std::int64_t i = 0; i < weights_kept; ++i) {
      const auto at = static_cast<std::size_t>(weight_index(t, c, i));
      to[at] = from[at];
    }
  }
  return thin;
}

/// Inputs with the shapes of the run: some rules want to know ranks.
void state_shapes(Graph& g, const std::map<std::string, Shape>& shapes) {
  for (const ValueId v : g.inputs()) {
    const auto shape = shapes.find(g.name(v));
    if (shape == shapes.end()) continue;
    g.set_type(v, type_of(g.value(v).type.dtype, shape->second));
  }
}

Graph in_float64(const Graph& g) {
  Graph wide = g;
  for (const ValueId v : wide.value_ids()) {
    if (const Tensor* t = wide.constant(v); t != nullptr && t->dtype() == DType::float32)
      wide.set_initializer(v, convert(*t, DType::float64));
    ValueType type = wide.value(v).type;
    if (type.dtype != DType::float32) continue;
    type.dtype = DType::float64;
    wide.set_type(v, std::move(type));
  }
  for (const NodeId n : wide.node_ids()) {
    const Node& node = wide.node(n);
    if (!is_linear(node)) continue;
    const Tensor* w = wide.constant(node.inputs[1]);
    if (w != nullptr && w->dtype() == DType::float64)
      wide.set_initializer(node.inputs[1], thinned(*w, node));
  }
  return wide;
}

/// "a + b" as the mode "a,b".
std::string mode_of(std::string rules) {
  for (std::size_t at = 0; (at = rules.find(" + ", at)) != std::string::npos;)
    rules.replace(at, 3, ",");
  return rules;
}

}  // namespace

Refold refold(const Region& r, const RegionShapes& run) {
  Refold result;
  if (r.rule.empty()) {
    result.note = "no rule of the log made this region";
    return result;
  }
  try {
    Graph wide = in_float64(r.original);
    state_shapes(wide, run.shapes);
    const FusionResult again = fuse(wide, {.mode = mode_of(r.rule)});
    if (again.log.fired.empty()) {
      result.note = "the rules do not fire on the region alone";
      return result;
    }
    const Equivalence e = prove_equal(as_rules_read(wide, again.log), unfuse(again.graph), run,
                                      {.own = true, .is_double = true});
    result.done = e.proved;
    result.note = e.mismatch;
    for (const Segment& s : e.segments) merge(result.audit, s.audit);
  } catch (const Error& e) {
    result.note = e.what();
  }
  return result;
}

}  // namespace assay
