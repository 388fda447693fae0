#include "fusion/linear.h"

#include <algorithm>

#include "fusion/mode_constraint.h"

namespace assay {
namespace {

using Kind = LinearOp::Kind;

std::string named(const Graph& g, ValueId v) { return "'" + g.name(v) + "'"; }

std::optional<Kind> kind_of(const Node& node) {
  if (node.is("Conv")) return Kind::conv;
  if (node.is("ConvTranspose")) return Kind::conv_transpose;
  if (node.is("Gemm")) return Kind::gemm;
  if (node.is("MatMul")) return Kind::matmul;
  return std::nullopt;
}

/// Constant for folding: fixed, and read by this node only (another reader would go on with other
/// numbers).
std::optional<Decline> unfit_weight(const RuleContext& ctx, ValueId v, const std::string& role) {
  const Graph& g = ctx.graph();
  const Value& value = g.value(v);
  if (value.is_input && value.initializer.defined()) {
    return Decline{
        role + " " + named(g, v) + " is a graph input with a default: the caller may feed another",
        "remove " + named(g, v) + " from the graph inputs"};
  }
  if (ctx.constant(v) == nullptr) {
    return Decline{role + " " + named(g, v) + " is not constant",
                   "make " + named(g, v) + " an initializer"};
  }
  return std::nullopt;
}

std::optional<Decline> shared_weight(const RuleContext& ctx, ValueId v) {
  const Graph& g = ctx.graph();
  if (g.use_count(v) <= 1) return std::nullopt;
  return Decline{
      "weight " + named(g, v) + " is shared: it has " + std::to_string(g.use_count(v)) + " readers",
      "give each reader its own copy of " + named(g, v)};
}

std::optional<Decline> wrong_rank(const LinearOp& op, const Node& node) {
  const std::int64_t rank = op.weight.shape().rank();
  const bool convolution = op.kind == Kind::conv || op.kind == Kind::conv_transpose;
  if (convolution ? rank >= 3 && rank <= 5 : rank == 2) return std::nullopt;
  return Decline{"weight of " + node.op_type + " has rank " + std::to_string(rank) + ", expected " +
                     (convolution ? "3 to 5" : "2"),
                 convolution ? "use 1 to 3 spatial axes" : "store the weight as a matrix"};
}

void set_sizes(LinearOp& op, const RuleContext& ctx, const Node& node) {
  const Shape& w = op.weight.shape();
  op.group = node.attributes.int_or("group", 1);
  switch (op.kind) {
    case Kind::conv:
      op.channels = w[0];
      break;
    case Kind::conv_transpose:
      op.channels = w[1] * op.group;
      break;
    case Kind::gemm:
      op.transposed = node.attributes.int_or("transB", 0) != 0;
      op.channels = op.transposed ? w[0] : w[1];
      break;
    case Kind::matmul:
      op.channels = w[1];
      break;
  }
  if (op.kind == Kind::matmul)
    op.rank = ctx.rank(node.outputs[0]);
  else
    op.rank = op.kind == Kind::gemm ? 2 : w.rank();
}

/// The bias as [channels]; a Gemm's may be a scalar, [N] or [1, N], and is multiplied by its beta
/// later.
std::optional<Decline> read_bias(LinearOp& op, const RuleContext& ctx, const Node& node) {
  if (op.kind == Kind::matmul || !node.has_input(2)) return std::nullopt;
  op.bias_value = node.inputs[2];
  if (auto why = unfit_weight(ctx, op.bias_value, "bias")) return why;
  const Tensor& b = *ctx.constant(op.bias_value);
  if (b.dtype() != op.weight.dtype()) {
    return Decline{"bias " + named(ctx.graph(), op.bias_value) + " is " + to_string(b.dtype()) +
                       ", the weight is " + to_string(op.weight.dtype()),
                   "store both in one type"};
  }
  const bool row =
      b.numel() == op.channels && (b.shape().rank() == 0 || b.shape()[-1] == op.channels);
  if (!row && !(op.kind == Kind::gemm && b.numel() == 1)) {
    return Decline{"bias " + named(ctx.graph(), op.bias_value) + " has shape " +
                       to_string(b.shape()) + ", which is not one number for each of " +
                       std::to_string(op.channels) + " channels",
                   "store the bias as [" + std::to_string(op.channels) + "]"};
  }
  if (row) {
    op.bias = b.reshaped(Shape{op.channels});
    return std::nullopt;
  }
  op.bias = Tensor(b.dtype(), Shape{op.channels});
  const auto one = b.raw();
  const auto all = op.bias.mutable_raw();
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = one[i % one.size()];
  return std::nullopt;
}

std::optional<Decline> bn_mode(const RuleContext& ctx, const Node& node) {
  const std::int64_t opset = ctx.graph().opset();
  for (std::size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.outputs[i].valid()) {
      return Decline{"BatchNormalization has extra outputs ('" + ctx.graph().name(node.outputs[i]) +
                         "'): it runs in training mode",
                     "remove the extra outputs"};
    }
  }
  if (opset >= 14 && node.attributes.int_or("training_mode", 0) != 0) {
    return Decline{"BatchNormalization has training_mode=1: its statistics depend on the batch",
                   "set training_mode=0"};
  }
  if (opset < 9 && node.attributes.int_or("spatial", 1) == 0) {
    return Decline{
        "BatchNormalization has spatial=0: its statistics are per element, not per channel",
        "convert the model to opset 9 or later, which has one number per channel only"};
  }
  return std::nullopt;
}

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

/// beta·C of a Gemm acts on the bias before everything else.
ExactAffine gemm_beta(const RuleContext& ctx, const LinearOp& op) {
  if (op.kind != Kind::gemm || !op.bias.defined()) return {};
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

std::int64_t LinearOp::channel_axis() const { return kind == Kind::matmul ? -1 : 1; }

ChannelOf LinearOp::channel_of() const {
  const Shape w = weight.shape();
  const std::int64_t all = std::max<std::int64_t>(weight.numel(), 1);
  switch (kind) {
    case Kind::conv:
      return [inner = std::max<std::int64_t>(all / std::max<std::int64_t>(w[0], 1), 1)](
                 std::int64_t i) { return i / inner; };
    case Kind::conv_transpose: {
      const std::int64_t space = w.numel(2, w.rank());
      const std::int64_t per_group = w[1];
      const std::int64_t rows_per_group = w[0] / group;
      return [space, per_group, rows_per_group](std::int64_t i) {
        const std::int64_t row = i / (space * per_group);
        return row / rows_per_group * per_group + i / space % per_group;
      };
    }
    case Kind::gemm:
      if (transposed) return [k = w[1]](std::int64_t i) { return i / k; };
      break;
    case Kind::matmul:
      break;
  }
  return [n = w[1]](std::int64_t i) { return i % n; };
}

std::string LinearOp::text(const Graph& g) const { return describe(g.node(node)); }

std::variant<Decline, LinearOp> as_linear(const RuleContext& ctx, NodeId n) {
  const Node& node = ctx.node(n);
  const auto kind = kind_of(node);
  if (!kind) return Decline{};
  LinearOp op{.node = n, .kind = *kind};
  if (!node.has_input(1))
    return Decline{"the weight of " + describe(node) + " is absent", "give the node a weight"};
  op.weight_value = node.inputs[1];
  if (auto why = unfit_weight(ctx, op.weight_value, "weight")) return *why;
  if (auto why = shared_weight(ctx, op.weight_value)) return *why;
  op.weight = *ctx.constant(op.weight_value);
  if (op.weight.dtype() != DType::float32 && op.weight.dtype() != DType::float64) {
    return Decline{"weight " + named(ctx.graph(), op.weight_value) + " is " +
                       to_string(op.weight.dtype()) + ", expected float32 or float64",
                   "store the weight as float32"};
  }
  if (auto why = wrong_rank(op, node)) return *why;
  set_sizes(op, ctx, node);
  if (auto why = read_bias(op, ctx, node)) return *why;
  if (auto why = mode_constraint(ctx, n)) return *why;
  return op;
}

std::variant<Decline, ExactAffine> batch_norm_steps(const RuleContext& ctx, NodeId n,
                                                    std::int64_t channels) {
  const Node& node = ctx.node(n);
  const Graph& g = ctx.graph();
  if (auto why = bn_mode(ctx, node)) return *why;
  if (node.inputs.size() < 5)
    return Decline{
        "BatchNormalization has " + std::to_string(node.inputs.size()) + " inputs, expected 5",
        "give scale, B, input_mean and input_var"};
  const FoldOrigin* const known = ctx.origin(node.inputs[1]);
  if (known != nullptr && !known->source.defined() &&
      static_cast<std::int64_t>(known->steps->steps().front().gamma.size()) == channels) {
    return *known->steps;  // a BN made by a rule: its exact steps, not its rounded parameters
  }
  AffineStep step{.kind = AffineStep::Kind::batch_norm};
  std::vector<double>* const lists[] = {&step.gamma, &step.beta, &step.mean, &step.var};
  for (std::size_t i = 0; i < 4; ++i) {
    const ValueId v = node.inputs[i + 1];
    const Tensor* t = ctx.constant(v);
    if (t == nullptr) {
      return Decline{"parameter '" + (v.valid() ? g.name(v) : "") +
                         "' of BatchNormalization is not constant or may be overridden",
                     "make it an initializer that is not a graph input"};
    }
    if (t->dtype() != DType::float32 && t->dtype() != DType::float64) {
      return Decline{"parameter " + named(g, v) + " is " + to_string(t->dtype()) +
                         ", expected float32 or float64",
                     "store it as float32"};
    }
    if (t->shape().rank() != 1 || t->numel() != channels) {
      return Decline{"parameter " + named(g, v) + " has shape " + to_string(t->shape()) +
                         ", the operator in front has " + std::to_string(channels) + " channels",
                     "store it as [" + std::to_string(channels) + "]"};
    }
    *lists[i] = to_doubles(*t);
  }
  step.epsilon = static_cast<double>(node.attributes.float_or("epsilon", 1e-5F));
  ExactAffine steps({std::move(step)});
  if (const auto why = steps.undefined_at(channels))
    return Decline{describe(node) + ": " + *why, "correct the parameter"};
  return steps;
}

ChannelTarget channel_target(const LinearOp& op) {
  // Position of the channel axis counted from the end, where broadcasting aligns.
  return {.dtype = op.weight.dtype(),
          .rank = op.rank,
          .channels = op.channels,
          .from_end = op.kind == Kind::matmul ? 1 : op.rank - 1};
}

std::variant<Decline, std::vector<double>> per_channel(const Tensor& k, const ChannelTarget& to) {
  const Shape& s = k.shape();
  if (k.dtype() != to.dtype) {
    return Decline{
        "the constant is " + to_string(k.dtype()) + ", the weight is " + to_string(to.dtype),
        "store the constant as " + to_string(to.dtype)};
  }
  if (to.rank < 0 ? s.rank() > 1 : s.rank() > to.rank) {
    return Decline{"the constant has shape " + to_string(s) +
                       ", whose rank is above that of the output (" +
                       (to.rank < 0 ? std::string("unknown") : std::to_string(to.rank)) + ")",
                   "reshape the constant"};
  }
  for (std::int64_t i = 1; i <= s.rank(); ++i) {
    if (s[-i] == 1 || (i == to.from_end && s[-i] == to.channels)) continue;
    std::string per = "[" + std::to_string(to.channels);
    for (std::int64_t j = 1; j < to.from_end; ++j) per += ", 1";
    return Decline{"the constant has shape " + to_string(s) +
                       ": aligned from the right it is not one value per output channel (" +
                       std::to_string(to.channels) + " channels)",
                   "give it the shape " + per + "]"};
  }
  return to_doubles(k);
}

std::variant<Decline, Tensor> aligned_operand(const RuleContext& ctx, NodeId n, ValueId k,
                                              std::int64_t rank) {
  const Tensor& t = *ctx.constant(k);
  const Node& node = ctx.node(n);
  if (ctx.graph().opset() >= 7 || !node.attributes.has("axis") || t.numel() == 1) return t;
  const std::int64_t axis = node.attributes.int_or("axis", 0);
  const std::int64_t behind = rank - axis - t.shape().rank();
  if (rank < 0 || axis < 0 || behind < 0) {
    return Decline{describe(node) + " has axis = " + std::to_string(axis) +
                       " for an operand of shape " + to_string(t.shape()) +
                       " and an output of rank " +
                       (rank < 0 ? std::string("unknown") : std::to_string(rank)),
                   "convert the model to opset 7"};
  }
  std::vector<std::int64_t> dims = t.shape().vec();
  dims.insert(dims.end(), static_cast<std::size_t>(behind), 1);
  return t.reshaped(Shape(dims));
}

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
  b = extended(b, gemm_beta(ctx, op));
  f.bias_origin = extended(b, steps);
  f.no_bias = !op.bias_value.valid() && only_scales(steps);
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
  ctx.set_origin(w, f.weight_origin);
  if (b.valid()) ctx.set_origin(b, f.bias_origin);
  node.inputs.resize(std::max<std::size_t>(node.inputs.size(), 2));
  node.inputs[1] = w;
  if (f.no_bias) {
    node.outputs = {out};
    ctx.add(std::move(node));
    return;
  }
  if (op.kind == Kind::matmul && op.rank != 2) {
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
  if (op.kind == Kind::matmul) node.op_type = "Gemm";
  if (op.kind == Kind::gemm) node.attributes.erase("beta");
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
