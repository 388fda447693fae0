// Dequantization followed by the same quantization.
//
// Before:  q2 = QuantizeLinear(DequantizeLinear(q1; s, z); s, z)
// After:   readers of q2 read q1
// Algebra: fl((q−z)·s) = (q−z)·s·(1+δ), |δ| <= 2^-24, |q−z| < 2^16; divided by s it lies within
// 2^-8 of the integer q−z, and rounds to
//          it. The codes are the same: E0. Other readers of the dequantized value keep it.
// Declines when: scale, zero point, type or axis differ (that is a real requantization, which
// rounds); a parameter is not constant; q2 is a graph output (its name has to stay).
#include "fusion/quantizer.h"

namespace assay::drop_requantize_rule {
namespace {

std::optional<Decline> guard(RuleContext& ctx, const Match& match) {
  const auto from = as_quantizer(ctx, match.node("dq"));
  const auto to = as_quantizer(ctx, match.root);
  if (const auto* why = std::get_if<Decline>(&from)) return *why;
  if (const auto* why = std::get_if<Decline>(&to)) return *why;
  if (!(std::get<Quantizer>(from) == std::get<Quantizer>(to))) {
    return Decline{"the codes are requantized from " + to_string(std::get<Quantizer>(from)) +
                       " to " + to_string(std::get<Quantizer>(to)),
                   "align the two quantizers"};
  }
  if (ctx.graph().is_output(ctx.node(match.root).outputs[0])) {
    return Decline{"'" + ctx.graph().name(ctx.node(match.root).outputs[0]) +
                       "' is a graph output and keeps its node",
                   "remove it from the graph outputs"};
  }
  return std::nullopt;
}

void build(RuleContext& ctx, const Match& match) {
  const ValueId codes = ctx.node(match.node("dq")).inputs[0];
  const ValueId out = ctx.node(match.root).outputs[0];
  ctx.erase(match.root);
  ctx.editable().replace_uses(out, codes);
}

const RegisterRewrite registered{{
    .name = "drop_requantize",
    .stage = Stage::quantized,
    .summary = "DequantizeLinear + QuantizeLinear with the same parameters -> nothing",
    .patterns = {op("QuantizeLinear", "q", {shared(op("DequantizeLinear", "dq"))})},
    .rows = {"F15"},
    .verdict = "E0",
    .proof = {"codes"},
    .refusals = {"other parameters", "parameter not constant", "graph output"},
    .test = "rules/drop_requantize_test.cpp",
    .guard = guard,
    .build = build,
}};

}  // namespace
}  // namespace assay::drop_requantize_rule
