#include "fusion/bn_rule.h"

namespace assay {
namespace {

struct BnPlan {
  Tensor gamma;
  Tensor beta;
  ExactAffine steps;  ///< the normalization and everything behind it
};

}  // namespace

std::int64_t bn_channels(const RuleContext& ctx, NodeId bn) {
  const Node& node = ctx.node(bn);
  const Tensor* gamma = node.inputs.size() > 1 ? ctx.constant(node.inputs[1]) : nullptr;
  return gamma == nullptr ? -1 : gamma->numel();
}

std::optional<Decline> plan_bn_step(RuleContext& ctx, const Match& match, AffineStep::Kind kind) {
  const NodeId bn = match.node("bn");
  const std::int64_t channels = bn_channels(ctx, bn);
  if (channels < 0) {
    return Decline{"the scale of BatchNormalization is not constant or may be overridden",
                   "make it an initializer"};
  }
  const auto before = batch_norm_steps(ctx, bn, channels);
  if (const Decline* why = declined(before)) return *why;
  const std::int64_t rank = ctx.rank(ctx.node(bn).outputs[0]);
  const DType dtype = ctx.constant(ctx.node(bn).inputs[1])->dtype();
  const auto operand = aligned_operand(ctx, match.root, match.value("k"), rank);
  if (const Decline* why = declined(operand)) return *why;
  const auto k =
      per_channel(std::get<Tensor>(operand),
                  {.dtype = dtype, .rank = rank, .channels = channels, .from_end = rank - 1});
  if (const Decline* why = declined(k)) return *why;
  const ExactAffine steps = std::get<ExactAffine>(before).then(
      AffineStep{.kind = kind, .gamma = std::get<std::vector<double>>(k)});
  if (const auto why = steps.undefined_at(channels))
    return Decline{*why, "correct the parameters of the normalization"};
  // γ and β of the first step go through the later ones.
  const AffineStep& first = steps.steps().front();
  const ExactAffine later(std::vector<AffineStep>(steps.steps().begin() + 1, steps.steps().end()));
  const auto tensor = [&](const std::vector<double>& v) {
    return convert(Tensor::of<double>(Shape{channels}, std::span<const double>(v)), dtype);
  };
  const ChannelOf itself{[](std::int64_t i) { return i; }};
  BnPlan plan{scale_weights(tensor(first.gamma), later, itself),
              map_bias(tensor(first.beta), later, channels, dtype), steps};
  for (const Tensor* t : {&plan.gamma, &plan.beta}) {
    if (const auto why = not_finite(*t))
      return Decline{"the new parameter of BatchNormalization is not finite: " + *why,
                     "correct the parameters of the normalization"};
  }
  ctx.scratch = std::move(plan);
  return std::nullopt;
}

void build_bn_step(RuleContext& ctx, const Match& match) {
  auto plan = std::any_cast<BnPlan>(std::move(ctx.scratch));
  const NodeId bn = match.node("bn");
  Node node = ctx.node(bn);
  node.outputs = {ctx.node(match.root).outputs[0]};
  const std::string stem = node.name.empty() ? ctx.graph().name(node.outputs[0]) : node.name;
  ctx.erase(match.root);
  ctx.erase(bn);
  node.inputs[1] = ctx.make_constant(stem + "_scale_folded", plan.gamma);
  node.inputs[2] = ctx.make_constant(stem + "_shift_folded", plan.beta);
  ctx.set_origin(node.inputs[1], {{}, std::make_shared<const ExactAffine>(std::move(plan.steps))});
  ctx.add(std::move(node));
}

std::vector<std::string> bn_step_refusals(bool divides) {
  std::vector<std::string> list = {
      "second reader",     "inner graph output", "captured by a subgraph", "non-constant parameter",
      "training mode",     "extra outputs",      "broadcast shape",        "dtype",
      "non-finite result", "caller-fed operand"};
  if (divides) list.emplace_back("division by 0");
  return list;
}

}  // namespace assay
