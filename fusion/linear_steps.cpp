// What acts on the channels behind a linear operator: normalizations and constant operands.
#include "fusion/linear.h"

namespace assay {
namespace {

std::string in_quotes(const Graph& g, ValueId v) { return "'" + g.name(v) + "'"; }

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

}  // namespace

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
      return Decline{"parameter " + in_quotes(g, v) + " is " + to_string(t->dtype()) +
                         ", expected float32 or float64",
                     "store it as float32"};
    }
    if (t->shape().rank() != 1 || t->numel() != channels) {
      return Decline{"parameter " + in_quotes(g, v) + " has shape " + to_string(t->shape()) +
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

}  // namespace assay
