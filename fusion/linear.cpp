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

}  // namespace

std::int64_t LinearOp::channel_axis() const { return kind == Kind::matmul ? -1 : 1; }

ChannelOf LinearOp::channel_of() const {
  const Shape w = weight.shape();
  const std::int64_t all = std::max<std::int64_t>(weight.numel(), 1);
  // One row of the weight after the other, `inner` elements each.
  const auto rows_of = [](std::int64_t inner) {
    return ChannelOf{[inner](std::int64_t i) { return i / inner; }, inner};
  };
  switch (kind) {
    case Kind::conv:
      return rows_of(std::max<std::int64_t>(all / std::max<std::int64_t>(w[0], 1), 1));
    case Kind::conv_transpose: {
      const std::int64_t space = w.numel(2, w.rank());
      const std::int64_t per_group = w[1];
      const std::int64_t rows_per_group = w[0] / group;
      const auto of = [space, per_group, rows_per_group](std::int64_t i) {
        const std::int64_t row = i / (space * per_group);
        return row / rows_per_group * per_group + i / space % per_group;
      };
      return {of, std::max<std::int64_t>(space, 1)};
    }
    case Kind::gemm:
      if (transposed) return rows_of(std::max<std::int64_t>(w[1], 1));
      break;
    case Kind::matmul:
      break;
  }
  return {[n = w[1]](std::int64_t i) { return i % n; }};
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

}  // namespace assay
