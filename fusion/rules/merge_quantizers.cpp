// Several identical quantizers on one tensor.
//
// Before:  q1 = QuantizeLinear(x; s, z), q2 = QuantizeLinear(x; s, z) with the same numbers, code
// type and axis (likewise two
//          DequantizeLinear of the same codes)
// After:   readers of q2 read q1
// Algebra: the same operation on the same numbers: E0.
// Declines when: scale, zero point, type or axis differ; a parameter is not constant; the second
// result is a graph output (its name has
//          to stay).
#include <algorithm>

#include "fusion/quantizer.h"

namespace assay {
namespace {

/// An earlier node of the same kind on the same value.
NodeId earlier_twin(const RuleContext& ctx, NodeId n) {
  const Node& node = ctx.node(n);
  NodeId best = {};
  for (const NodeId other : ctx.graph().value(node.inputs[0]).readers) {
    const Node& o = ctx.node(other);
    if (other == n || o.op_type != node.op_type || o.domain != node.domain ||
        o.inputs[0] != node.inputs[0])
      continue;
    if (other < n && (!best.valid() || other < best)) best = other;
  }
  return best;
}

std::optional<Decline> guard(RuleContext& ctx, const Match& match) {
  const NodeId twin = earlier_twin(ctx, match.root);
  if (!twin.valid()) return Decline{};
  const auto a = as_quantizer(ctx, twin);
  const auto b = as_quantizer(ctx, match.root);
  if (const auto* why = std::get_if<Decline>(&a)) return *why;
  if (const auto* why = std::get_if<Decline>(&b)) return *why;
  if (!(std::get<Quantizer>(a) == std::get<Quantizer>(b))) {
    return Decline{describe(ctx.node(twin)) + " and " + describe(ctx.node(match.root)) +
                       " quantize the same value with " + to_string(std::get<Quantizer>(a)) +
                       " and " + to_string(std::get<Quantizer>(b)),
                   "use one scale for both"};
  }
  if (ctx.graph().is_output(ctx.node(match.root).outputs[0])) {
    return Decline{"'" + ctx.graph().name(ctx.node(match.root).outputs[0]) +
                   "' is a graph output and keeps its node"};
  }
  ctx.scratch = twin;
  return std::nullopt;
}

void build(RuleContext& ctx, const Match& match) {
  const auto twin = std::any_cast<NodeId>(ctx.scratch);
  const ValueId from = ctx.node(match.root).outputs[0];
  const ValueId to = ctx.node(twin).outputs[0];
  ctx.editable().replace_uses(from, to);
  ctx.erase(match.root);
}

const RegisterRewrite registered{{
    .name = "merge_quantizers",
    .stage = Stage::quantized,
    .summary = "identical QuantizeLinear (or DequantizeLinear) on one value -> one",
    .patterns = {op("QuantizeLinear|DequantizeLinear", "q")},
    .rows = {"F15"},
    .sets = {"amct-onnx", "amct-tf", "amct-caffe"},
    .verdict = "E0",
    .proof = {"codes"},
    .refusals = {"other scale, zero point, type or axis", "parameter not constant", "graph output"},
    .test = "rules/merge_quantizers_test.cpp",
    .guard = guard,
    .build = build,
}};

}  // namespace
}  // namespace assay
