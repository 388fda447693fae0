// Batch normalization moved in front of data movement, so that it meets the operator whose channels
// it scales.
//
// Before:  y = BatchNormalization(L(op(x, W, b)); γ, β, μ, v), L made of Reshape, Transpose, Slice,
// DepthToSpace, Squeeze, Unsqueeze,
//          Flatten: TensorFlow's BatchToSpaceND as tf2onnx writes it (Transpose(1,0,2,3),
//          DepthToSpace, Slice, Transpose, or Reshape, Transpose, Reshape, Slice), a real
//          DepthToSpace in DCR or CRD order, MatMul + Reshape in its layouts
// After:   y = L(BatchNormalization(op(x, W, b); γ', β', μ', v')), which fold_bn_* then folds
// Algebra: L copies elements. When the output channel of an element follows from its input channel
// alone, c_out = p(c_in), scaling
//          commutes with L under γ'[c] = γ[p(c)] and so on. p is found by running L on a tensor
//          whose elements hold their channel: L does not look at values, so for the given sizes
//          that is a proof. E0: same operations on the same numbers, moved.
// Declines when: a value in between is needed elsewhere; the operator in front cannot take the
// normalization; sizes are not known
//          (with unknown sizes of the graph's inputs two fillings have to agree); a channel of the
//          operator feeds several channels of the normalization; L needs other values than the
//          operator's output; a parameter is not constant; training mode.
#include <algorithm>
#include <cmath>

#include "fusion/bn_rule.h"
#include "runtime/executor.h"

namespace assay::move_bn_before_layout_rule {
namespace {

constexpr const char* movers = "Reshape|Transpose|Slice|DepthToSpace|Squeeze|Unsqueeze|Flatten";
constexpr std::int64_t largest_probe = std::int64_t{1}
                                       << 24;  // channel numbers stay exact in float32

struct Chain {
  std::vector<NodeId> nodes;  ///< from the normalization back to the operator
  ValueId source = {};        ///< output of the linear operator
};

struct MovePlan {
  Chain chain;
  Node bn;
  std::vector<Tensor> parameters;
  ExactAffine steps;  ///< what the parameters stand for: not rounded again when it folds
};

bool is_mover(const Node& node) {
  static const std::string list = std::string("|") + movers + "|";
  return node.domain.empty() && list.find("|" + node.op_type + "|") != std::string::npos;
}

std::variant<Decline, Chain> chain_before(const RuleContext& ctx, NodeId bn) {
  const Graph& g = ctx.graph();
  Chain chain;
  ValueId v = ctx.node(bn).inputs[0];
  for (;;) {
    const NodeId n = g.value(v).producer;
    if (!n.valid()) return Decline{};
    // Nodes that compute a Reshape's target from the shape of the value may read it too.
    if (auto why =
            still_needed(g, v, chain.nodes.empty() ? std::vector<NodeId>{bn} : chain.nodes)) {
      if (!is_mover(g.node(n)) && chain.nodes.empty()) return Decline{};
      return *why;
    }
    if (!is_mover(g.node(n))) break;
    chain.nodes.push_back(n);
    v = g.node(n).inputs[0];
  }
  chain.source = v;
  return chain;
}

/// p as a list: for each channel of the source the channel of the normalization, or why there is
/// none.
std::variant<Decline, std::vector<std::int64_t>> channel_map(const Graph& moving, const Shape& from,
                                                             std::int64_t axis) {
  Tensor codes(DType::float32, from);
  const auto inner = from.numel(axis + 1, from.rank());
  for (std::int64_t i = 0; i < codes.numel(); ++i) {
    codes.mutable_data<float>()[static_cast<std::size_t>(i)] =
        static_cast<float>(i / inner % from[axis]);
  }
  const Tensor out = Executor(moving, Precision::f32)
                         .run({{moving.name(moving.inputs()[0]), codes}})
                         .begin()
                         ->second;
  if (out.shape().rank() < 2)
    return Decline{"the normalization's input has no channel axis",
                   "normalize a value of rank 2 or more"};
  std::vector<std::int64_t> map(static_cast<std::size_t>(from[axis]), -1);
  const std::int64_t out_inner = out.shape().numel(2, out.shape().rank());
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    auto& to = map[static_cast<std::size_t>(out.data<float>()[static_cast<std::size_t>(i)])];
    const std::int64_t channel = i / out_inner % out.shape()[1];
    if (to >= 0 && to != channel) {
      return Decline{"channel " +
                         std::to_string(static_cast<std::int64_t>(
                             out.data<float>()[static_cast<std::size_t>(i)])) +
                         " of the operator in front feeds channels " + std::to_string(to) +
                         " and " + std::to_string(channel) + " of the normalization",
                     "normalize before the channels are mixed"};
    }
    to = channel;
  }
  for (std::int64_t& to : map)
    to = std::max<std::int64_t>(to, 0);  // a channel that is cut off entirely
  return map;
}

std::variant<Decline, std::vector<std::int64_t>> proved_map(const RuleContext& ctx,
                                                            const Chain& chain, ValueId normalized,
                                                            std::int64_t axis) {
  const auto shapes = ctx.known_shapes(chain.source);
  if (shapes.empty()) {
    return Decline{"the sizes of '" + ctx.graph().name(chain.source) +
                       "' are not known: " + to_string(ctx.type(chain.source)),
                   "fix the sizes of the graph's inputs"};
  }
  std::optional<std::vector<std::int64_t>> agreed;
  try {
    Graph moving = extract(ctx.graph(), {chain.source}, {normalized});
    moving.set_type(moving.inputs()[0], {});
    for (const Shape& s : shapes) {
      if (s.numel() == 0 || s.numel() > largest_probe)
        return Decline{"'" + ctx.graph().name(chain.source) + "' is too large or empty",
                       "normalize in front of the movement"};
      auto map = channel_map(moving, s, axis);
      if (const Decline* why = declined(map)) return *why;
      if (agreed && *agreed != std::get<std::vector<std::int64_t>>(map))
        return Decline{"the channel order depends on the input sizes",
                       "fix the sizes of the graph's inputs"};
      agreed = std::get<std::vector<std::int64_t>>(std::move(map));
    }
  } catch (const Error& e) {
    return Decline{std::string("the data movement cannot be followed: ") + e.what(),
                   "normalize in front of the movement"};
  }
  return *agreed;
}

Tensor gathered(const Tensor& t, const std::vector<std::int64_t>& map) {
  Tensor out(t.dtype(), Shape{static_cast<std::int64_t>(map.size())});
  const auto size = static_cast<std::size_t>(size_of(t.dtype()));
  for (std::size_t c = 0; c < map.size(); ++c) {
    const auto from = t.raw().subspan(static_cast<std::size_t>(map[c]) * size, size);
    std::copy(from.begin(), from.end(),
              out.mutable_raw().begin() + static_cast<std::ptrdiff_t>(c * size));
  }
  return out;
}

std::vector<double> gathered(const std::vector<double>& v, const std::vector<std::int64_t>& map) {
  if (v.empty()) return v;
  std::vector<double> out;
  for (const std::int64_t c : map)
    out.push_back(v[v.size() == 1 ? 0 : static_cast<std::size_t>(c)]);
  return out;
}

ExactAffine gathered(const ExactAffine& steps, const std::vector<std::int64_t>& map) {
  std::vector<AffineStep> list = steps.steps();
  for (AffineStep& s : list) {
    for (std::vector<double>* v : {&s.gamma, &s.beta, &s.mean, &s.var}) *v = gathered(*v, map);
  }
  return ExactAffine(std::move(list));
}

std::optional<Decline> guard(RuleContext& ctx, const Match& match) {
  const NodeId bn = match.node("bn");
  auto found = chain_before(ctx, bn);
  if (const Decline* why = declined(found)) return *why;
  Chain chain = std::get<Chain>(std::move(found));
  if (chain.nodes.empty()) return Decline{};
  const auto linear = as_linear(ctx, ctx.graph().value(chain.source).producer);
  if (const Decline* why = declined(linear))
    return *why;  // without a reason when it is no linear operator
  const LinearOp& op = std::get<LinearOp>(linear);
  if (op.rank < 2 || (op.kind == LinearOp::Kind::matmul && op.rank != 2)) {
    return Decline{"the output of " + op.text(ctx.graph()) + " has rank " +
                       std::to_string(op.rank) + ": its channels are not axis 1",
                   "reshape the operand to rank 2"};
  }
  const std::int64_t channels = bn_channels(ctx, bn);
  const auto steps = batch_norm_steps(ctx, bn, channels);
  if (const Decline* why = declined(steps)) return *why;
  const auto map = proved_map(ctx, chain, ctx.node(bn).inputs[0], 1);
  if (const Decline* why = declined(map)) return *why;
  const auto& from = std::get<std::vector<std::int64_t>>(map);
  MovePlan plan{.chain = std::move(chain),
                .bn = ctx.node(bn),
                .parameters = {},
                .steps = gathered(std::get<ExactAffine>(steps), from)};
  for (std::size_t i = 1; i < 5; ++i)
    plan.parameters.push_back(gathered(*ctx.constant(plan.bn.inputs[i]), from));
  ctx.scratch = std::move(plan);
  return std::nullopt;
}

std::vector<NodeId> also(const RuleContext& ctx, const Match& match) {
  const auto found = chain_before(ctx, match.node("bn"));
  return declined(found) != nullptr ? std::vector<NodeId>{} : std::get<Chain>(found).nodes;
}

/// The chain's nodes stay; their values are scaled now, so they get new names, and the last takes
/// over the root's output.
void build(RuleContext& ctx, const Match& match) {
  auto plan = std::any_cast<MovePlan>(std::move(ctx.scratch));
  const NodeId bn = match.node("bn");
  const ValueId root = ctx.node(bn).outputs[0];
  const TensorType type = ctx.type(plan.chain.source);
  ctx.erase(bn);
  Node moved = plan.bn;
  moved.inputs[0] = plan.chain.source;
  const std::string stem = moved.name.empty() ? ctx.graph().name(root) : moved.name;
  const char* const roles[] = {"_scale_moved", "_shift_moved", "_mean_moved", "_var_moved"};
  for (std::size_t i = 0; i < 4; ++i)
    moved.inputs[i + 1] = ctx.make_constant(stem + roles[i], plan.parameters[i]);
  ctx.set_origin(moved.inputs[1], {{}, std::make_shared<const ExactAffine>(std::move(plan.steps))});
  ValueId v = ctx.make_value(ctx.graph().name(plan.chain.source) + "_normalized", type);
  moved.outputs = {v};
  ctx.add(std::move(moved));
  for (auto it = plan.chain.nodes.rbegin(); it != plan.chain.nodes.rend(); ++it) {
    Node node = ctx.node(*it);
    const TensorType out_type = ctx.type(node.outputs[0]);
    const bool last = std::next(it) == plan.chain.nodes.rend();
    const ValueId out =
        last ? root : ctx.make_value(ctx.graph().name(node.outputs[0]) + "_normalized", out_type);
    ctx.erase(*it);
    node.inputs[0] = v;
    node.outputs = {out};
    ctx.add(std::move(node));
    v = out;
  }
}

const RegisterRewrite registered{{
    .name = "move_bn_before_layout",
    .stage = Stage::fold,
    .summary = "Conv|MatMul|... + data movement + BatchNormalization -> BatchNormalization before "
               "the movement",
    .patterns = {op("BatchNormalization", "bn", {op(movers, "mover")})},
    .rows = {"F9", "F11", "M4"},
    .sets = {"amct-tf"},
    .verdict = "E0",
    .proof = {"algebra", "bits"},
    .refusals = {"second reader", "inner graph output", "captured by a subgraph",
                 "operator in front not foldable", "sizes not known", "channels mixed",
                 "other inputs", "non-constant parameter", "training mode", "extra outputs"},
    .test = "rules/move_bn_before_layout_test.cpp",
    .guard = guard,
    .build = build,
    .also_replaces = also,
}};

}  // namespace
}  // namespace assay::move_bn_before_layout_rule
