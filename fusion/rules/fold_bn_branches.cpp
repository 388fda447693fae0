// Batch normalization behind a concatenation of linear branches: the group convolution that is
// written as Split, N·Conv, Concat.
//
// Before:  y = BatchNormalization(Concat(Conv_1(x_1), ..., Conv_N(x_N); axis 1); γ, β, μ, v)
// After:   y = Concat(Conv_1'(x_1), ..., Conv_N'(x_N))
// Algebra: the channels of branch i are [o_i, o_i + m_i) of the concatenation, in its order; they
// get that slice of γ, β, μ, v. Per
//          branch as in fold_bn_conv: exact, rounded once: E2.
// Declines when: a branch is no Conv, ConvTranspose, Gemm or rank-2 MatMul, or its weight may not
// change (not constant, overridable,
//          shared); a branch output or the concatenation is needed elsewhere; axis other than 1; a
//          branch occurs twice; the normalization declines (training mode, extra outputs,
//          parameters). amct-tf: the branches must be Conv and read a Split.
#include <algorithm>

#include "fusion/fold_rule.h"

namespace assay::fold_bn_branches_rule {
namespace {

struct BranchPlan {
  std::vector<Folded> folded;
};

std::vector<double> slice(const std::vector<double>& v, std::int64_t begin, std::int64_t count) {
  if (v.size() <= 1) return v;
  return {v.begin() + begin, v.begin() + begin + count};
}

ExactAffine slice(const ExactAffine& map, std::int64_t begin, std::int64_t count) {
  std::vector<AffineStep> steps = map.steps();
  for (AffineStep& s : steps) {
    s = {.kind = s.kind,
         .gamma = slice(s.gamma, begin, count),
         .beta = slice(s.beta, begin, count),
         .mean = slice(s.mean, begin, count),
         .var = slice(s.var, begin, count),
         .epsilon = s.epsilon};
  }
  return ExactAffine(std::move(steps));
}

std::variant<Decline, LinearOp> branch_at(const RuleContext& ctx, ValueId v) {
  const Graph& g = ctx.graph();
  const NodeId n = v.valid() ? g.value(v).producer : NodeId{};
  if (!n.valid())
    return Decline{"branch '" + (v.valid() ? g.name(v) : "") +
                       "' of Concat is not computed by a linear operator",
                   "compute it by a Conv"};
  auto linear = as_linear(ctx, n);
  if (const Decline* why = declined(linear)) {
    if (why->reason.empty())
      return Decline{"branch '" + g.name(v) + "' of Concat comes from " + describe(g.node(n)) +
                         ", which is not linear",
                     "normalize each branch by itself"};
  }
  if (g.use_count(v) != 1) {
    return Decline{
        "branch '" + g.name(v) + "' of Concat has " + std::to_string(g.use_count(v)) + " readers",
        "give the other reader its own operator"};
  }
  return linear;
}

std::optional<Decline> not_the_sets(const RuleContext& ctx, const LinearOp& op) {
  if (ctx.mode() != "amct-tf") return std::nullopt;
  const Node& node = ctx.node(op.node);
  const Node* front = ctx.graph().producer(node.inputs[0]);
  if (op.kind == LinearOp::Kind::conv && front != nullptr && front->is("Split"))
    return std::nullopt;
  return Decline{"amct-tf knows Split + Conv + Concat only; " + op.text(ctx.graph()) +
                     " does not read a Split",
                 "use --mode all"};
}

std::optional<Decline> guard(RuleContext& ctx, const Match& match) {
  const NodeId bn = match.node("bn");
  const Node& concat = ctx.node(match.node("concat"));
  if (ctx.node(bn).inputs[0] != concat.outputs[0]) return Decline{};
  std::vector<LinearOp> ops;
  std::int64_t channels = 0;
  for (const ValueId v : concat.inputs) {
    auto branch = branch_at(ctx, v);
    if (const Decline* why = declined(branch)) return *why;
    ops.push_back(std::get<LinearOp>(std::move(branch)));
    channels += ops.back().channels;
    if (auto why = not_the_sets(ctx, ops.back())) return why;
    if (auto why = channels_not_axis_1(ctx, ops.back())) return *why;
  }
  const std::int64_t rank = ops.front().rank;
  const std::int64_t axis = concat.attributes.int_or("axis", 1);
  if (axis != 1 && axis != 1 - rank)
    return Decline{"Concat has axis " + std::to_string(axis) + ", the channels are axis 1",
                   "concatenate along axis 1"};
  const auto steps = batch_norm_steps(ctx, bn, channels);
  if (const Decline* why = declined(steps)) return *why;
  BranchPlan plan;
  std::int64_t begin = 0;
  for (const LinearOp& op : ops) {
    auto folded = fold_behind(ctx, op, slice(std::get<ExactAffine>(steps), begin, op.channels));
    if (const Decline* why = declined(folded)) return *why;
    plan.folded.push_back(std::get<Folded>(std::move(folded)));
    begin += op.channels;
  }
  ctx.scratch = std::move(plan);
  return std::nullopt;
}

std::vector<NodeId> branches(const RuleContext& ctx, const Match& match) {
  std::vector<NodeId> nodes;
  for (const ValueId v : ctx.node(match.node("concat")).inputs)
    nodes.push_back(ctx.graph().value(v).producer);
  return nodes;
}

void build(RuleContext& ctx, const Match& match) {
  const auto plan = std::any_cast<BranchPlan>(std::move(ctx.scratch));
  const NodeId bn = match.node("bn");
  Node concat = ctx.node(match.node("concat"));
  concat.outputs = {ctx.node(bn).outputs[0]};
  ctx.erase(bn);
  ctx.erase(match.node("concat"));
  for (std::size_t i = 0; i < plan.folded.size(); ++i) {
    concat.inputs[i] = build_folded_aside(ctx, plan.folded[i]);
  }
  ctx.add(std::move(concat));
}

std::vector<std::string> refusals() {
  auto list = batch_norm_refusals();
  for (const char* more :
       {"branch not linear", "rank of the output", "axis", "amct-tf: branch without Split"})
    list.emplace_back(more);
  return list;
}

const RegisterRewrite registered{{
    .name = "fold_bn_branches",
    .stage = Stage::fold,
    .summary = "Concat of Conv branches + BatchNormalization -> Concat of Conv branches",
    .patterns = {op("BatchNormalization", "bn", {op("Concat", "concat")})},
    .rows = {"F6", "M2"},
    .sets = {"amct-tf"},
    .verdict = "E2",
    .proof = {"algebra", "constants", "structure", "radius"},
    .refusals = refusals(),
    .test = "rules/fold_bn_branches_test.cpp",
    .guard = guard,
    .build = build,
    .also_replaces = branches,
}};

}  // namespace
}  // namespace assay::fold_bn_branches_rule
