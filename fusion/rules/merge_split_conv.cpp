// Group convolution written as Split + N·Conv + Concat.
//
// Before:  y = Concat(Conv_1(s_1), ..., Conv_N(s_N); axis 1),  s_1..s_N = Split(x; axis 1) in that
// order and of equal size After:   y = Conv(x, [W_1; ...; W_N], [b_1; ...; b_N]; group = N·g),
// where each Conv_i has group g Algebra: group i of a grouped convolution reads the i-th slice of x
// and writes the i-th slice of y: the same sums. E0. When only some branches have a bias the others
// get zeros, and E1 is reached: a sum of nothing but -0 becomes +0.
// Declines when: the slices are not equal, not all used, in another order, or read elsewhere; the
// branches differ in an attribute or
//          weight shape; a weight or bias is not constant, may be overridden, or is shared; axis
//          other than 1; x has another rank.
#include <algorithm>

#include "fusion/linear.h"

namespace assay::merge_split_conv_rule {
namespace {

struct MergePlan {
  NodeId split;
  std::vector<NodeId> convs;
  Tensor weight;
  Tensor bias;
};

std::variant<Decline, std::vector<NodeId>> conv_branches(const RuleContext& ctx,
                                                         const Node& concat) {
  const Graph& g = ctx.graph();
  std::vector<NodeId> convs;
  for (const ValueId v : concat.inputs) {
    const Node* front = g.producer(v);
    if (front == nullptr || !front->is("Conv")) return Decline{};
    if (g.use_count(v) != 1) {
      return Decline{
          "branch '" + g.name(v) + "' has " + std::to_string(g.use_count(v)) + " readers",
          "give the other reader its own Conv"};
    }
    convs.push_back(g.value(v).producer);
  }
  return convs;
}

/// The Split that feeds the branches in order, all of it and nothing else.
std::variant<Decline, NodeId> split_of(const RuleContext& ctx, const std::vector<NodeId>& convs) {
  const Graph& g = ctx.graph();
  const NodeId split = g.value(ctx.node(convs[0]).inputs[0]).producer;
  if (!split.valid() || !g.node(split).is("Split")) return Decline{};
  const Node& node = g.node(split);
  if (node.outputs.size() != convs.size()) {
    return Decline{"Split has " + std::to_string(node.outputs.size()) + " outputs, Concat has " +
                       std::to_string(convs.size()) + " branches",
                   "concatenate every part of the Split"};
  }
  for (std::size_t i = 0; i < convs.size(); ++i) {
    const ValueId x = ctx.node(convs[i]).inputs[0];
    if (x != node.outputs[i]) {
      return Decline{"branch " + std::to_string(i) + " of Concat does not read output " +
                         std::to_string(i) + " of Split",
                     "concatenate in the order of the Split"};
    }
    if (g.use_count(x) != 1)
      return Decline{"slice '" + g.name(x) + "' has " + std::to_string(g.use_count(x)) + " readers",
                     "let the other reader read a Slice of its own"};
  }
  const std::int64_t rank = ctx.rank(node.inputs[0]);
  const std::int64_t axis = node.attributes.int_or("axis", 0);
  if (axis != 1 && !(rank > 0 && axis == 1 - rank))
    return Decline{"Split has axis " + std::to_string(axis) + ", the channels are axis 1",
                   "split along axis 1"};
  return split;
}

std::optional<Decline> differ(const RuleContext& ctx, const std::vector<LinearOp>& ops) {
  for (const LinearOp& op : ops) {
    if (!(op.weight.shape() == ops[0].weight.shape())) {
      return Decline{"the weights have shapes " + to_string(ops[0].weight.shape()) + " and " +
                         to_string(op.weight.shape()) +
                         ": unequal groups are no grouped convolution",
                     "make the branches equally wide"};
    }
    Attributes a = ctx.node(ops[0].node).attributes;
    Attributes b = ctx.node(op.node).attributes;
    if (!same(a, b))
      return Decline{
          ops[0].text(ctx.graph()) + " and " + op.text(ctx.graph()) + " have other attributes",
          "give the branches the same attributes"};
    if (op.weight.dtype() != ops[0].weight.dtype())
      return Decline{"the weights are " + to_string(ops[0].weight.dtype()) + " and " +
                         to_string(op.weight.dtype()),
                     "store the weights in one type"};
  }
  return std::nullopt;
}

Tensor stacked(const std::vector<Tensor>& parts) {
  std::vector<std::int64_t> dims = parts[0].shape().vec();
  dims[0] = 0;
  for (const Tensor& t : parts) dims[0] += t.shape()[0];
  Tensor all(parts[0].dtype(), Shape(dims));
  auto to = all.mutable_raw().begin();
  for (const Tensor& t : parts) to = std::copy(t.raw().begin(), t.raw().end(), to);
  return all;
}

std::optional<Decline> guard(RuleContext& ctx, const Match& match) {
  const Node& concat = ctx.node(match.root);
  if (concat.inputs.size() < 2) return Decline{};
  const auto convs = conv_branches(ctx, concat);
  if (const Decline* why = declined(convs)) return *why;
  const auto& nodes = std::get<std::vector<NodeId>>(convs);
  const auto split = split_of(ctx, nodes);
  if (const Decline* why = declined(split)) return *why;
  std::vector<LinearOp> ops;
  bool biased = false;
  for (const NodeId n : nodes) {
    auto linear = as_linear(ctx, n);
    if (const Decline* why = declined(linear)) return *why;
    ops.push_back(std::get<LinearOp>(std::move(linear)));
    biased = biased || ops.back().bias.defined();
  }
  const std::int64_t axis = concat.attributes.int_or("axis", 1);
  if (axis != 1 && axis != 1 - ops[0].rank)
    return Decline{"Concat has axis " + std::to_string(axis) + ", the channels are axis 1",
                   "concatenate along axis 1"};
  if (auto why = differ(ctx, ops)) return why;
  MergePlan plan{std::get<NodeId>(split), nodes, {}, {}};
  std::vector<Tensor> weights;
  std::vector<Tensor> biases;
  for (const LinearOp& op : ops) {
    weights.push_back(op.weight);
    biases.push_back(op.bias.defined() ? op.bias
                                       : Tensor::zeros(op.weight.dtype(), Shape{op.channels}));
  }
  plan.weight = stacked(weights);
  if (biased) plan.bias = stacked(biases);
  ctx.scratch = std::move(plan);
  return std::nullopt;
}

std::vector<NodeId> also(const RuleContext& ctx, const Match& match) {
  const auto convs = conv_branches(ctx, ctx.node(match.root));
  auto nodes = std::get<std::vector<NodeId>>(convs);
  nodes.push_back(std::get<NodeId>(split_of(ctx, nodes)));
  return nodes;
}

void build(RuleContext& ctx, const Match& match) {
  const auto plan = std::any_cast<MergePlan>(std::move(ctx.scratch));
  Node merged = ctx.node(plan.convs[0]);
  const auto count = static_cast<std::int64_t>(plan.convs.size());
  merged.attributes.set("group", merged.attributes.int_or("group", 1) * count);
  const std::string stem =
      merged.name.empty() ? ctx.graph().name(ctx.node(match.root).outputs[0]) : merged.name;
  merged.inputs = {ctx.node(plan.split).inputs[0],
                   ctx.make_constant(stem + "_weight_merged", plan.weight)};
  if (plan.bias.defined())
    merged.inputs.push_back(ctx.make_constant(stem + "_bias_merged", plan.bias));
  merged.outputs = {ctx.node(match.root).outputs[0]};
  ctx.erase(match.root);
  for (const NodeId n : plan.convs) ctx.erase(n);
  ctx.erase(plan.split);
  ctx.add(std::move(merged));
}

const RegisterRewrite registered{{
    .name = "merge_split_conv",
    .stage = Stage::fuse,
    .summary = "Split + N Conv + Concat -> one grouped Conv",
    .patterns = {op("Concat", "concat", {shared(op("Conv", "first", {any("slice")}))})},
    .rows = {"F7", "M2"},
    .sets = {"amct-onnx", "amct-tf"},
    .verdict = "E0",
    .proof = {"algebra", "bits"},
    .refusals = {"second reader", "slices unequal or in another order", "attributes differ",
                 "weight shapes differ", "axis", "weight not constant", "caller-fed weight",
                 "shared weight", "AMCT: not quantizable by its table"},
    .test = "rules/merge_split_conv_test.cpp",
    .guard = guard,
    .build = build,
    .also_replaces = also,
}};

}  // namespace
}  // namespace assay::merge_split_conv_rule
