// An activation whose work the quantizer's clamp does already.
//
// Before:  q = QuantizeLinear(Relu(x); s, z) or QuantizeLinear(Clip(x, lo, hi); s, z)
// After:   q = QuantizeLinear(x; s, z); or, when only the upper end saturates,
// QuantizeLinear(Relu(x); s, z) for Clip(x, 0, hi) Algebra: Q is monotone and clamps to its code
// range. If Q(lo) is the lowest code, every x <= lo has that code with or without the
//          activation; likewise at the top. So the codes are the same for all x: E0. With int8 and
//          zero point 0 the lowest code stands for −128·s, not for 0, and negatives would come
//          through.
// Declines when: Q(lo) is not the lowest code, or Q(hi) not the highest; the activation is needed
// elsewhere; scale, zero point or bound
//          is not constant.
#include <cmath>

#include "fusion/fused_node.h"
#include "fusion/quantizer.h"

namespace assay::drop_activation_before_quantizer_rule {
namespace {

struct Bounds {
  double low = -INFINITY;
  double high = INFINITY;
};

std::variant<Decline, Bounds> bounds_of(const RuleContext& ctx, NodeId n) {
  if (ctx.node(n).is("Relu")) return Bounds{.low = 0};
  const auto activation = as_activation(ctx, n);
  if (const auto* why = std::get_if<Decline>(&activation)) return *why;
  const Attributes& a = std::get<Activation>(activation).attributes;
  return Bounds{a.float_or("min", -INFINITY), a.float_or("max", INFINITY)};
}

/// What stays of the activation: nothing, or a ReLU.
struct DropPlan {
  bool relu = false;
};

std::optional<Decline> guard(RuleContext& ctx, const Match& match) {
  const NodeId act = match.node("act");
  const auto quantizer = as_quantizer(ctx, match.root);
  if (const auto* why = std::get_if<Decline>(&quantizer)) return *why;
  const auto found = bounds_of(ctx, act);
  if (const auto* why = std::get_if<Decline>(&found)) return *why;
  const Quantizer& q = std::get<Quantizer>(quantizer);
  const Bounds& b = std::get<Bounds>(found);
  const bool low_ok = b.low == -INFINITY || q.saturates_below(b.low);
  const bool high_ok = b.high == INFINITY || q.saturates_above(b.high);
  if (!high_ok) {
    return Decline{"the quantizer (" + to_string(q) + ") does not saturate at the upper bound " +
                       std::to_string(b.high),
                   "calibrate its range to end at " + std::to_string(b.high)};
  }
  const bool is_relu = ctx.node(act).is("Relu");
  if (!low_ok && (is_relu || b.low != 0)) {
    return Decline{"the quantizer's lowest code does not stand for " + std::to_string(b.low) +
                       " (" + to_string(q) + ")",
                   "use unsigned codes with zero point 0 (or int8 with zero point -128)"};
  }
  ctx.scratch = DropPlan{.relu = !low_ok};
  return std::nullopt;
}

void build(RuleContext& ctx, const Match& match) {
  const auto plan = std::any_cast<DropPlan>(ctx.scratch);
  const NodeId act = match.node("act");
  const Node old = ctx.node(act);
  Node quantize = ctx.node(match.root);
  ctx.erase(match.root);
  ctx.erase(act);
  quantize.inputs[0] = old.inputs[0];
  if (plan.relu) {
    // The values between the bounds change (no upper bound any more), so the old name is not kept.
    const ValueId v =
        ctx.make_value(ctx.graph().name(old.outputs[0]) + "_relu", ctx.type(old.outputs[0]));
    ctx.add({.name = old.name, .op_type = "Relu", .inputs = {old.inputs[0]}, .outputs = {v}});
    quantize.inputs[0] = v;
  }
  ctx.add(std::move(quantize));
}

const RegisterRewrite registered{{
    .name = "drop_activation_before_quantizer",
    .stage = Stage::quantized,
    .summary = "Relu|Clip + QuantizeLinear that saturates there -> QuantizeLinear (Clip(0, hi) -> "
               "Relu when only the top saturates)",
    .patterns = {op("QuantizeLinear", "q", {op("Relu|Clip", "act")})},
    .rows = {"F12", "M5"},
    .sets = {"amct-tf"},
    .verdict = "E0",
    .proof = {"codes"},
    .refusals = {"lowest code is not the bound", "no saturation at the top", "second reader",
                 "inner graph output", "captured by a subgraph", "scale not constant",
                 "Clip bound"},
    .test = "rules/drop_activation_before_quantizer_test.cpp",
    .guard = guard,
    .build = build,
}};

}  // namespace
}  // namespace assay::drop_activation_before_quantizer_rule
