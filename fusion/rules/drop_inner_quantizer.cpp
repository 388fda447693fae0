// INT8 Conv–Add–ReLU with the inner quantizer removed, as compilers do after quantization.
//
// Before:  y = Add(DequantizeLinear(QuantizeLinear(Conv(x, W, b); s, z); s, z), r)
// After:   y = Add(Conv(x, W, b), r)
// Algebra: Q∘DQ rounds to a grid of step s and clamps; without it y changes by up to s/2, more
// where the quantizer clamped. That is a
//          change of quantization, not an equivalence: E3, and only on request (it belongs to no
//          mode).
// Declines when: the two quantizers differ; a value in between is needed elsewhere; a parameter is
// not constant.
#include "fusion/fused_node.h"
#include "fusion/linear.h"
#include "fusion/quantizer.h"

namespace assay::drop_inner_quantizer_rule {
namespace {

std::optional<Decline> guard(RuleContext& ctx, const Match& match) {
  const auto q = as_quantizer(ctx, match.node("q"));
  const auto dq = as_quantizer(ctx, match.node("dq"));
  if (const auto* why = std::get_if<Decline>(&q)) return *why;
  if (const auto* why = std::get_if<Decline>(&dq)) return *why;
  if (std::get<Quantizer>(q) == std::get<Quantizer>(dq)) return std::nullopt;
  return Decline{"the inner quantizer writes " + to_string(std::get<Quantizer>(q)) + " and reads " +
                     to_string(std::get<Quantizer>(dq)),
                 "use one scale and zero point for both"};
}

void build(RuleContext& ctx, const Match& match) {
  Node add = ctx.node(match.root);
  const ValueId old = ctx.node(match.node("dq")).outputs[0];
  const ValueId product = ctx.node(match.node("q")).inputs[0];
  ctx.erase(match.root);
  ctx.erase(match.node("dq"));
  ctx.erase(match.node("q"));
  for (ValueId& v : add.inputs) {
    if (v == old) v = product;
  }
  ctx.add(std::move(add));
}

Pattern form() {
  return commutative(
      op("Add", "add",
         {op("DequantizeLinear", "dq", {op("QuantizeLinear", "q", {op(linear_types, "op")})}),
          any("residual")}));
}

const RegisterRewrite registered{{
    .name = "drop_inner_quantizer",
    .stage = Stage::quantized,
    .summary = "Conv + QuantizeLinear + DequantizeLinear + Add -> Conv + Add (drops a rounding)",
    .patterns = {form()},
    .rows = {"M5"},
    .in_all = false,
    .verdict = "E3",
    .proof = {"codes"},
    .refusals = {"quantizers differ", "second reader", "inner graph output",
                 "captured by a subgraph", "parameter not constant"},
    .test = "rules/drop_inner_quantizer_test.cpp",
    .guard = guard,
    .build = build,
}};

}  // namespace
}  // namespace assay::drop_inner_quantizer_rule
