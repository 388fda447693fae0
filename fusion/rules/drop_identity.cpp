// Nodes that copy their input.
//
// Before:  y = Identity(x) | Dropout(x) in inference mode | Cast to the type it has
// After:   readers of y read x
// Algebra: y = x, bit for bit (E0).
// Declines when: Dropout has a mask output that is used, or may run in training mode; x is a graph
// input or constant and y a
//          graph output (the output would lose its producer); y and x are both graph outputs (two
//          names are wanted).
#include <algorithm>

#include "fusion/rewrite.h"

namespace assay::drop_identity_rule {
namespace {

std::optional<Decline> dropout_trains(RuleContext& ctx, const Node& node) {
  if (node.has_output(1) && ctx.graph().use_count(node.outputs[1]) > 0) {
    return Decline{"the mask of Dropout, '" + ctx.graph().name(node.outputs[1]) + "', is read",
                   "drop the reader of the mask"};
  }
  if (node.has_input(2)) {
    const Tensor* training = ctx.constant(node.inputs[2]);
    if (training == nullptr)
      return Decline{"training_mode of Dropout is not constant", "make it an initializer"};
    if (to_ints(*training).at(0) != 0)
      return Decline{"Dropout has training_mode = true", "set it to false"};
  }
  const std::int64_t opset = ctx.graph().opset();
  if (opset < 7 && node.attributes.int_or("is_test", 0) == 0) {
    return Decline{"Dropout of opset " + std::to_string(opset) + " has is_test=0", "set is_test=1"};
  }
  return std::nullopt;
}

std::optional<Decline> guard(RuleContext& ctx, const Match& match) {
  const Node& node = ctx.node(match.root);
  const Graph& g = ctx.graph();
  if (node.is("Dropout")) {
    if (auto why = dropout_trains(ctx, node)) return why;
  }
  if (node.is("Cast")) {
    const DType from = ctx.type(node.inputs[0]).dtype;
    if (from == DType::undefined ||
        static_cast<std::int64_t>(from) != node.attributes.int_or("to", 0))
      return Decline{};
  }
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  if (!g.is_output(y)) return std::nullopt;
  if (!g.value(x).producer.valid()) {
    return Decline{
        "graph output '" + g.name(y) + "' copies '" + g.name(x) + "', which no node computes",
        "read '" + g.name(x) + "' itself"};
  }
  if (g.is_output(x))
    return Decline{"'" + g.name(x) + "' and its copy '" + g.name(y) + "' are both graph outputs",
                   "remove one of them from the graph outputs"};
  for (const NodeId n : g.value(x).readers) {
    const auto& captures = g.node(n).captures;
    if (std::find(captures.begin(), captures.end(), x) != captures.end()) {
      return Decline{"'" + g.name(x) + "' is captured by a subgraph of " + describe(g.node(n)) +
                         " and cannot take the name of its copy",
                     "let the subgraph capture '" + g.name(y) + "'"};
    }
  }
  return std::nullopt;
}

void build(RuleContext& ctx, const Match& match) {
  Graph& g = ctx.editable();
  const ValueId x = ctx.node(match.root).inputs[0];
  const ValueId y = ctx.node(match.root).outputs[0];
  const bool keeps_name = g.is_output(y);
  ctx.erase(match.root);
  g.replace_uses(y, x);
  if (keeps_name) g.swap_names(x, y);
}

const RegisterRewrite registered{{
    .name = "drop_identity",
    .stage = Stage::clean,
    .summary = "Identity | inference Dropout | Cast to the same type -> nothing",
    .patterns = {op("Identity|Dropout|Cast", "copy", {any("x")})},
    .rows = {"M6"},
    .verdict = "E0",
    .proof = {"bits"},
    .refusals = {"mask used", "training mode", "input straight to output", "both are graph outputs",
                 "captured by a subgraph"},
    .test = "rules/drop_identity_test.cpp",
    .guard = guard,
    .build = build,
}};

}  // namespace
}  // namespace assay::drop_identity_rule
