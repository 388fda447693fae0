// Batch normalization into the operator behind it, for what could not go backward.
//
// Before:  y = op(BatchNormalization(x; γ, β, μ, v), W, b); op is Conv, Gemm or MatMul
// After:   y = op(x, W', b')
// Algebra: with s = γ/√(v+ε), t = β − μ·s per input channel c: Σ W·(s_c·x + t_c) + b = Σ (W·s_c)·x
// + (b + Σ W·t_c). W' and b' are exact
//          values rounded once (b' is one exact sum), also when W was folded backward before: E2.
// Legal only where every output sums over all taps: a padded border sums zeros where the original
// has t. So: no padding, or t = 0 in
//          every channel (the padding value, zero, is then its own image).
// Declines when: the inner value is needed elsewhere; W, b or a parameter is not constant, may be
// overridden, or is shared; training
//          mode or extra outputs; group > 1; padding (explicit or auto_pad) with t not zero;
//          ConvTranspose (its borders sum fewer taps); Gemm with transA or alpha other than 1;
//          output rank other than 2 for Gemm and MatMul; a result is not finite.
#include <algorithm>

#include "fusion/fold_rule.h"

namespace assay::fold_bn_forward_rule {
namespace {

struct ForwardPlan {
  LinearOp op;
  Tensor weight;
  Tensor bias;
};

/// A normalization that goes into the operator in front is left to that rule.
bool goes_backward(RuleContext& ctx, NodeId bn) {
  const ValueId x = ctx.node(bn).inputs[0];
  const NodeId front = ctx.graph().value(x).producer;
  if (!front.valid() || ctx.graph().use_count(x) > 1) return false;
  const auto linear = as_linear(ctx, front);
  return declined(linear) == nullptr &&
         declined(batch_norm_steps(ctx, bn, std::get<LinearOp>(linear).channels)) == nullptr;
}

bool padded(const Node& node) {
  const std::string mode = node.attributes.string_or("auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") return true;
  const auto pads = node.attributes.ints_or("pads", {});
  return mode != "VALID" &&
         std::any_of(pads.begin(), pads.end(), [](std::int64_t p) { return p != 0; });
}

bool all_zero(const ExactAffine& steps, std::int64_t channels) {
  for (std::int64_t c = 0; c < channels; ++c) {
    if (!steps.shift_is_zero(c)) return false;
  }
  return true;
}

std::optional<Decline> illegal(const RuleContext& ctx, const LinearOp& op, const ExactAffine& steps,
                               std::int64_t channels) {
  const Node& node = ctx.node(op.node);
  if (op.kind == LinearOp::Kind::conv_transpose)
    return Decline{"the borders of a ConvTranspose sum over fewer taps",
                   "normalize behind the ConvTranspose"};
  const std::int64_t transposed = node.attributes.int_or("transA", 0);
  const float alpha = node.attributes.float_or("alpha", 1);
  if (op.kind == LinearOp::Kind::gemm && (transposed != 0 || alpha != 1.0F)) {
    return Decline{"Gemm has transA = " + std::to_string(transposed) +
                       " and alpha = " + std::to_string(alpha) + ", expected 0 and 1",
                   "set transA = 0 and alpha = 1"};
  }
  if (auto why = channels_not_axis_1(ctx, op)) return why;
  if (!padded(node)) return std::nullopt;
  for (std::int64_t c = 0; c < channels; ++c) {
    if (steps.shift_is_zero(c)) continue;
    return Decline{op.text(ctx.graph()) + " pads with 0, but the normalization maps 0 to " +
                       std::to_string(steps.shift<double>(c)) + " in channel " + std::to_string(c),
                   "set pads to 0, or pad in front of the normalization"};
  }
  return std::nullopt;
}

ChannelOf in_channel_of(const LinearOp& op) {
  const Shape w = op.weight.shape();
  if (op.kind == LinearOp::Kind::conv) {
    return {[space = w.numel(2, w.rank()), c = w[1]](std::int64_t i) { return i / space % c; }};
  }
  if (op.transposed) return {[k = w[1]](std::int64_t i) { return i % k; }};
  return {[n = w[1]](std::int64_t i) { return i / n; }};
}

std::int64_t in_channels(const LinearOp& op) {
  const Shape& w = op.weight.shape();
  return op.kind == LinearOp::Kind::conv || op.transposed ? w[1] : w[0];
}

/// Source, steps behind so far, and steps in front so far of the operator's constants.
FoldOrigin origin_or_self(const RuleContext& ctx, ValueId v, const Tensor& now) {
  const FoldOrigin* known = v.valid() ? ctx.origin(v) : nullptr;
  return known != nullptr ? *known : FoldOrigin{now, std::make_shared<const ExactAffine>()};
}

std::optional<Decline> guard(RuleContext& ctx, const Match& match) {
  const NodeId bn = match.node("bn");
  const NodeId n = match.root;
  if (ctx.node(n).inputs[0] != ctx.node(bn).outputs[0] || goes_backward(ctx, bn)) return Decline{};
  const auto linear = as_linear(ctx, n);
  if (const Decline* why = declined(linear)) return *why;
  const LinearOp& op = std::get<LinearOp>(linear);
  const std::int64_t channels = in_channels(op);
  if (op.kind == LinearOp::Kind::conv && op.group != 1)
    return Decline{"group = " + std::to_string(op.group) + ", expected 1",
                   "write the convolution with group = 1"};
  const auto found = batch_norm_steps(ctx, bn, channels);
  if (const Decline* why = declined(found)) return *why;
  const ExactAffine& steps = std::get<ExactAffine>(found);
  if (auto why = illegal(ctx, op, steps, channels)) return why;
  const FoldOrigin w = origin_or_self(ctx, op.weight_value, op.weight);
  const FoldOrigin b = origin_or_self(ctx, op.bias_value, op.bias);
  if (w.forward || b.forward)
    return Decline{"the weight already took a normalization in front",
                   "merge the two normalizations"};
  if (op.bias.defined() && (b.steps->steps().size() != w.steps->steps().size() ||
                            ctx.node(n).attributes.float_or("beta", 1) != 1.0F)) {
    return Decline{"Gemm has beta other than 1, which acts on the bias alone",
                   "multiply the bias by beta"};
  }
  ForwardPlan plan{.op = op, .weight = {}, .bias = {}};
  plan.weight =
      scale_weights(w.source, TwoSided{steps, *w.steps, in_channel_of(op), op.channel_of()});
  // Without a shift no bias appears: adding +0 would turn an exact −0 into +0.
  const bool shifts = !all_zero(steps, channels);
  if (shifts || op.bias_value.valid())
    plan.bias =
        map_bias(b.source, w.source, TwoSided{steps, *w.steps, in_channel_of(op), op.channel_of()},
                 op.channels);
  for (const Tensor* t : {&plan.weight, &plan.bias}) {
    if (!t->defined()) continue;
    if (const auto why = not_finite(*t))
      return Decline{"a folded constant of " + op.text(ctx.graph()) + " is not finite: " + *why,
                     "correct the parameters of the normalization"};
  }
  ctx.scratch = std::move(plan);
  return std::nullopt;
}

void build(RuleContext& ctx, const Match& match) {
  const auto plan = std::any_cast<ForwardPlan>(std::move(ctx.scratch));
  const NodeId bn = match.node("bn");
  Node node = ctx.node(match.root);
  node.inputs.resize(plan.bias.defined() ? 3 : 2);
  node.inputs[0] = ctx.node(bn).inputs[0];
  // Here beta is 1, or there was no bias for it to act on.
  if (plan.op.kind == LinearOp::Kind::gemm) node.attributes.erase("beta");
  const std::string stem = node.name.empty() ? ctx.graph().name(node.outputs[0]) : node.name;
  ctx.erase(match.root);
  ctx.erase(bn);
  node.inputs[1] = ctx.make_constant(stem + "_weight_forward", plan.weight);
  if (plan.bias.defined()) node.inputs[2] = ctx.make_constant(stem + "_bias_forward", plan.bias);
  ctx.set_origin(
      node.inputs[1],
      {.source = plan.weight, .steps = std::make_shared<const ExactAffine>(), .forward = true});
  if (plan.op.kind == LinearOp::Kind::matmul && plan.bias.defined()) node.op_type = "Gemm";
  ctx.add(std::move(node));
}

std::vector<std::string> refusals() {
  auto list = batch_norm_refusals();
  for (const char* more : {"padding with a shift", "group > 1", "ConvTranspose",
                           "transA, alpha or beta", "rank of the output"}) {
    list.emplace_back(more);
  }
  return list;
}

const RegisterRewrite registered{{
    .name = "fold_bn_forward",
    .stage = Stage::forward,
    .summary = "BatchNormalization + Conv|Gemm|MatMul -> the same operator",
    .patterns = {op("Conv|ConvTranspose|Gemm|MatMul", "op", {op("BatchNormalization", "bn")})},
    .rows = {"F13", "M1"},
    .sets = {"amct-caffe"},
    .verdict = "E2",
    .proof = {"algebra", "constants", "structure", "radius"},
    .refusals = refusals(),
    .test = "rules/fold_bn_forward_test.cpp",
    .guard = guard,
    .build = build,
}};

}  // namespace
}  // namespace assay::fold_bn_forward_rule
