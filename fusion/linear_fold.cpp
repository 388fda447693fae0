// New constants of a linear operator with steps behind it, and the operator written with them.
#include <algorithm>

#include "fusion/linear.h"

namespace assay {
namespace {

/// Source and steps so far of a constant: from its origin when a rule made it, else the constant
/// itself.
FoldOrigin origin_of(const RuleContext& ctx, ValueId v, const Tensor& now) {
  if (v.valid()) {
    if (const FoldOrigin* known = ctx.origin(v)) return *known;
  }
  return {now, std::make_shared<const ExactAffine>()};
}

FoldOrigin extended(const FoldOrigin& from, const ExactAffine& steps) {
  return {from.source, std::make_shared<const ExactAffine>(from.steps->then(steps))};
}

bool only_shifts(const ExactAffine& steps) {
  return std::all_of(steps.steps().begin(), steps.steps().end(), [](const AffineStep& s) {
    return s.kind == AffineStep::Kind::add || s.kind == AffineStep::Kind::sub;
  });
}

bool only_scales(const ExactAffine& steps) {
  return std::all_of(steps.steps().begin(), steps.steps().end(), [](const AffineStep& s) {
    return s.kind == AffineStep::Kind::mul || s.kind == AffineStep::Kind::div ||
           s.kind == AffineStep::Kind::negate;
  });
}

/// Steps of a product whose addend is a node of its own: the shifts act there.
FoldOrigin without_shifts(FoldOrigin from) {
  std::vector<AffineStep> kept;
  for (const AffineStep& s : from.steps->steps()) {
    if (s.kind != AffineStep::Kind::add && s.kind != AffineStep::Kind::sub) kept.push_back(s);
  }
  from.steps = std::make_shared<const ExactAffine>(std::move(kept));
  return from;
}

/// beta·C of a Gemm acts on the bias before everything else.
ExactAffine gemm_beta(const RuleContext& ctx, const LinearOp& op) {
  if (op.kind != LinearOp::Kind::gemm || !op.bias.defined()) return {};
  const float beta = ctx.node(op.node).attributes.float_or("beta", 1.0F);
  if (beta == 1.0F) return {};
  return ExactAffine({{.kind = AffineStep::Kind::mul, .gamma = {static_cast<double>(beta)}}});
}

std::string constant_stem(const RuleContext& ctx, const LinearOp& op, const Node& node,
                          bool weight) {
  const Graph& g = ctx.graph();
  const ValueId v = weight ? op.weight_value : op.bias_value;
  if (v.valid()) {
    const std::string& name = g.name(v);
    return name.find("_folded") != std::string::npos ? name : name + "_folded";
  }
  const std::string stem = node.name.empty() ? node.op_type : node.name;
  return stem + (weight ? "_weight_folded" : "_bias_folded");
}

}  // namespace

std::variant<Decline, Folded> fold_behind(const RuleContext& ctx, const LinearOp& op,
                                          const ExactAffine& steps) {
  Folded f{.op = op, .weight = op.weight, .bias = {}, .weight_origin = {}, .bias_origin = {}};
  f.same_weight = only_shifts(steps);
  const FoldOrigin w = origin_of(ctx, op.weight_value, op.weight);
  f.weight_origin = extended(w, steps);
  if (!f.same_weight) f.weight = scale_weights(w.source, *f.weight_origin.steps, op.channel_of());
  // An absent bias is a zero that went through every step so far.
  FoldOrigin b = op.bias_value.valid() ? origin_of(ctx, op.bias_value, op.bias)
                                       : FoldOrigin{.source = {}, .steps = w.steps};
  if (op.addend != nullptr) b = *op.addend;
  b = extended(b, gemm_beta(ctx, op));
  f.bias_origin = extended(b, steps);
  f.no_bias = !op.bias_value.valid() && op.addend == nullptr && only_scales(steps);
  f.bias = map_bias(f.bias_origin.source, *f.bias_origin.steps, op.channels, op.weight.dtype());
  for (const auto& [t, role] : {std::pair(&f.weight, "weight"), std::pair(&f.bias, "bias")}) {
    if (const auto why = not_finite(*t)) {
      return Decline{std::string("the folded ") + role + " of " + op.text(ctx.graph()) +
                         " is not finite: " + *why,
                     "correct the parameters of the normalization"};
    }
  }
  return f;
}

namespace {

/// Writes the folded operator with output `out`; the operator itself is erased already and comes as
/// a copy.
void write_folded(RuleContext& ctx, const Folded& f, Node node, ValueId out,
                  const TensorType& product_type) {
  const LinearOp& op = f.op;
  const std::string weight_stem = constant_stem(ctx, op, node, true);
  const std::string bias_stem = constant_stem(ctx, op, node, false);
  const ValueId w = f.same_weight ? op.weight_value : ctx.make_constant(weight_stem, f.weight);
  const ValueId b = f.no_bias ? ValueId{} : ctx.make_constant(bias_stem, f.bias);
  const bool apart = op.kind == LinearOp::Kind::matmul && op.rank != 2 && !f.no_bias;
  ctx.set_origin(w, apart ? without_shifts(f.weight_origin) : f.weight_origin);
  if (b.valid()) ctx.set_origin(b, f.bias_origin);
  node.inputs.resize(std::max<std::size_t>(node.inputs.size(), 2));
  node.inputs[1] = w;
  if (f.no_bias) {
    node.outputs = {out};
    ctx.add(std::move(node));
    return;
  }
  if (apart) {
    const ValueId inner = ctx.make_value(ctx.graph().name(out) + "_product", product_type);
    const std::string name = node.name;
    node.outputs = {inner};
    ctx.add(std::move(node));
    Node add{.name = ctx.graph().fresh_node_name(name.empty() ? "bias_add" : name + "_bias"),
             .op_type = "Add",
             .inputs = {inner, b},
             .outputs = {out}};
    if (ctx.graph().opset() < 7) add.attributes.set("broadcast", std::int64_t{1});
    ctx.add(std::move(add));
    return;
  }
  if (op.kind == LinearOp::Kind::matmul) node.op_type = "Gemm";
  if (op.kind == LinearOp::Kind::gemm) node.attributes.erase("beta");
  node.inputs.resize(3);
  node.inputs[2] = b;
  node.outputs = {out};
  ctx.add(std::move(node));
}

}  // namespace
void build_folded(RuleContext& ctx, const Folded& f, const std::vector<NodeId>& behind) {
  Node node = ctx.node(f.op.node);
  const ValueId out = ctx.node(behind.back()).outputs[0];
  const TensorType product_type = ctx.type(node.outputs[0]);
  for (const NodeId n : behind) ctx.erase(n);
  ctx.erase(f.op.node);
  write_folded(ctx, f, std::move(node), out, product_type);
}

ValueId build_folded_aside(RuleContext& ctx, const Folded& f) {
  Node node = ctx.node(f.op.node);
  const TensorType type = ctx.type(node.outputs[0]);
  const ValueId out = ctx.make_value(ctx.graph().name(node.outputs[0]) + "_folded", type);
  ctx.erase(f.op.node);
  write_folded(ctx, f, std::move(node), out, type);
  return out;
}

}  // namespace assay
