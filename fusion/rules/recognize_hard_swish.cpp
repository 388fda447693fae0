// HardSwish spelled in smaller operators.
//
// Before:  y = x·HardSigmoid(x; 1/6, 1/2),  x·(Clip(x+3, 0, 6)/6),  (x·Clip(x+3, 0, 6))/6, or times
// the float32 nearest to 1/6 After:   y = HardSwish(x)   (opset 14) Algebra: HardSwish(x) =
// x·max(0, min(1, x/6 + 1/2)) with 1/6 the real number. Division by 6 is the same function: E1. A
// stored
//          float32 1/6 differs from 1/6 by less than half an ULP: constant-rounded, E2.
// Declines when: an inner value is needed elsewhere; the constants are others; the opset is below
// 14; the type is not float32.
#include <cmath>

#include "fusion/rewrite.h"

namespace assay::recognize_hard_swish_rule {
namespace {

Pattern clipped() {
  return op("Clip", "clip", {commutative(op("Add", "plus", {any("x"), parameter("three")}))});
}

std::vector<Pattern> forms() {
  const Pattern c = clipped();
  const Pattern product = commutative(op("Mul", "", {any("x"), c}));
  return {commutative(op("Mul", "root", {any("x"), op("HardSigmoid", "gate", {any("x")})})),
          op("Div", "root", {product, parameter("six")}),
          commutative(op("Mul", "root", {product, parameter("sixth")})),
          commutative(op("Mul", "root", {any("x"), op("Div", "", {c, parameter("six")})})),
          commutative(
              op("Mul", "root", {any("x"), commutative(op("Mul", "", {c, parameter("sixth")}))}))};
}

bool is_number(const RuleContext& ctx, ValueId v, float wanted) {
  const Tensor* t = ctx.constant(v);
  return t != nullptr && t->dtype() == DType::float32 && t->numel() == 1 &&
         t->data<float>()[0] == wanted;
}

bool clips_to_six(const RuleContext& ctx, const Node& clip) {
  if (ctx.graph().opset() < 11)
    return clip.attributes.float_or("min", -1) == 0 && clip.attributes.float_or("max", -1) == 6;
  return clip.has_input(1) && clip.has_input(2) && is_number(ctx, clip.inputs[1], 0) &&
         is_number(ctx, clip.inputs[2], 6);
}

std::optional<Decline> other_numbers(const RuleContext& ctx, const Match& m) {
  if (m.has("gate")) {
    const Attributes& a = ctx.node(m.node("gate")).attributes;
    const float alpha = a.float_or("alpha", 0.2F);
    const float beta = a.float_or("beta", 0.5F);
    if (alpha == 1.0F / 6.0F && beta == 0.5F) return std::nullopt;
    return Decline{"HardSigmoid has alpha = " + std::to_string(alpha) +
                       " and beta = " + std::to_string(beta) + ", HardSwish has 1/6 and 1/2",
                   "use alpha = 1/6 and beta = 1/2"};
  }
  const bool fits = is_number(ctx, m.value("three"), 3) &&
                    clips_to_six(ctx, ctx.node(m.node("clip"))) &&
                    (!m.has("six") || is_number(ctx, m.value("six"), 6)) &&
                    (!m.has("sixth") || is_number(ctx, m.value("sixth"), 1.0F / 6.0F));
  return fits ? std::nullopt : std::optional<Decline>(Decline{});
}

std::optional<Decline> guard(RuleContext& ctx, const Match& m) {
  if (auto why = other_numbers(ctx, m)) return why;
  const DType dtype = ctx.type(m.value("x")).dtype;
  if (dtype != DType::float32 && dtype != DType::undefined)
    return Decline{"x is " + to_string(dtype) + ", expected float32", "cast x to float32"};
  if (ctx.graph().opset() < 14) {
    return Decline{"HardSwish needs opset 14, the model has " + std::to_string(ctx.graph().opset()),
                   "convert the model to opset 14"};
  }
  return std::nullopt;
}

void build(RuleContext& ctx, const Match& m) {
  Node node{.name = ctx.node(m.root).name,
            .op_type = "HardSwish",
            .inputs = {m.value("x")},
            .outputs = {ctx.node(m.root).outputs[0]}};
  for (const NodeId n : m.region) ctx.erase(n);
  ctx.add(std::move(node));
}

const RegisterRewrite registered{{
    .name = "recognize_hard_swish",
    .stage = Stage::clean,
    .summary = "x·HardSigmoid(x), x·Clip(x+3, 0, 6)/6 -> HardSwish",
    .patterns = forms(),
    .rows = {"M5"},
    .verdict = "E2",
    .proof = {"algebra", "constants", "structure", "radius"},
    .refusals = {"second reader", "inner graph output", "captured by a subgraph", "other constants",
                 "opset < 14", "dtype"},
    .test = "rules/recognize_hard_swish_test.cpp",
    .guard = guard,
    .build = build,
}};

}  // namespace
}  // namespace assay::recognize_hard_swish_rule
