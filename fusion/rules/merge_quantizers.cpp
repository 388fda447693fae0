// Several identical quantizers on one tensor.
//
// Before:  q1 = QuantizeLinear(x; s, z), q2 = QuantizeLinear(x; s, z) with the same numbers, code
// type and axis (likewise two
//          DequantizeLinear of the same codes)
// After:   readers of q2 read q1
// Algebra: the same operation on the same numbers: E0.
//          Of two, the graph output stays, else the earlier one.
// Declines when: scale, zero point, type or axis differ; a parameter is not constant; both results
// are graph outputs (their names have to stay).
#include <algorithm>

#include "fusion/quantizer.h"

namespace assay::merge_quantizers_rule {
namespace {

bool writes_output(const RuleContext& ctx, NodeId n) {
  return ctx.graph().is_output(ctx.node(n).outputs[0]);
}

/// Nodes of the same kind on the same value: graph outputs first, because they stay, then the
/// earlier ones.
std::vector<NodeId> twins(const RuleContext& ctx, NodeId n) {
  const Node& node = ctx.node(n);
  std::vector<NodeId> list;
  for (const NodeId other : ctx.graph().value(node.inputs[0]).readers) {
    const Node& o = ctx.node(other);
    if (other == n || o.op_type != node.op_type || o.domain != node.domain ||
        o.inputs[0] != node.inputs[0])
      continue;
    list.push_back(other);
  }
  std::sort(list.begin(), list.end(), [&](NodeId a, NodeId b) {
    const bool x = writes_output(ctx, a);
    return x != writes_output(ctx, b) ? x : a < b;
  });
  return list;
}

/// Of two equal quantizers the graph output stays, else the earlier one.
bool goes_into(const RuleContext& ctx, NodeId n, NodeId twin) {
  return !writes_output(ctx, n) && (writes_output(ctx, twin) || twin < n);
}

/// Why the two quantizers are not one and the same function.
std::optional<Decline> unequal(const RuleContext& ctx, NodeId twin, NodeId n) {
  const auto a = as_quantizer(ctx, twin);
  const auto b = as_quantizer(ctx, n);
  if (const auto* why = std::get_if<Decline>(&a)) return *why;
  if (const auto* why = std::get_if<Decline>(&b)) return *why;
  if (std::get<Quantizer>(a) == std::get<Quantizer>(b)) return std::nullopt;
  return Decline{describe(ctx.node(twin)) + " and " + describe(ctx.node(n)) +
                     " quantize the same value with " + to_string(std::get<Quantizer>(a)) +
                     " and " + to_string(std::get<Quantizer>(b)),
                 "use one scale for both"};
}

Decline both_outputs(const RuleContext& ctx, NodeId twin, NodeId n) {
  const Graph& g = ctx.graph();
  const std::string name = "'" + g.name(ctx.node(n).outputs[0]) + "'";
  return {name + " and its twin '" + g.name(ctx.node(twin).outputs[0]) +
              "' are both graph outputs: each keeps its node",
          "remove " + name + " from the graph outputs"};
}

std::optional<Decline> guard(RuleContext& ctx, const Match& match) {
  std::optional<Decline> why;
  for (const NodeId twin : twins(ctx, match.root)) {
    const auto other = unequal(ctx, twin, match.root);
    if (!other && goes_into(ctx, match.root, twin)) {
      ctx.scratch = twin;
      return std::nullopt;
    }
    // Each pair is reported once, at the later node.
    if (why || match.root < twin) continue;
    if (other)
      why = other;
    else if (writes_output(ctx, twin))
      why = both_outputs(ctx, twin, match.root);
  }
  return why ? why : Decline{};
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
    .refusals = {"other scale, zero point, type or axis", "parameter not constant",
                 "both are graph outputs"},
    .test = "rules/merge_quantizers_test.cpp",
    .guard = guard,
    .build = build,
}};

}  // namespace
}  // namespace assay::merge_quantizers_rule
