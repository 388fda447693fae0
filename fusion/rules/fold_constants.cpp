// Nodes whose inputs are all constant.
//
// Before:  y = op(constants)
// After:   y is an initializer
// Algebra: the operator is evaluated once, correctly rounded, which is what `cr` gives at run time:
// E0. Declines when: the operator is not deterministic, has a subgraph, holds codes
// (QuantizeLinear, DequantizeLinear), is unknown; the
//          result's size is not known beforehand or above the limit stated in fusion/constants.h (1
//          MiB, or 4 times the inputs).
#include <algorithm>

#include "fusion/rewrite.h"

namespace assay::fold_constants_rule {
namespace {

bool all_inputs_constant(const RuleContext& ctx, const Node& node) {
  return !node.inputs.empty() &&
         std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](ValueId v) { return !v.valid() || ctx.constant(v) != nullptr; });
}

std::optional<Decline> guard(RuleContext& ctx, const Match& match) {
  const Node& node = ctx.node(match.root);
  if (!all_inputs_constant(ctx, node)) return Decline{};  // the usual case, no near-match
  try {
    if (auto why = ctx.constants().refusal(ctx.graph(), match.root)) return why;
  } catch (const Error& e) {
    return Decline{e.what(), "correct the node"};
  }
  for (const ValueId v : node.outputs) {
    if (v.valid() && ctx.constant(v) == nullptr)
      return Decline{"the node cannot be evaluated before running",
                     "store the value as an initializer"};
  }
  return std::nullopt;
}

void build(RuleContext& ctx, const Match& match) {
  const std::vector<ValueId> outputs = ctx.node(match.root).outputs;
  std::vector<Tensor> tensors;
  for (const ValueId v : outputs) tensors.push_back(v.valid() ? *ctx.constant(v) : Tensor());
  ctx.erase(match.root);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].valid()) continue;
    ctx.editable().set_initializer(outputs[i], tensors[i]);
    ctx.made.push_back(outputs[i]);
  }
}

const RegisterRewrite registered{{
    .name = "fold_constants",
    .stage = Stage::fold,
    .summary = "operator on constants -> initializer",
    .patterns = {op("*", "node")},
    .rows = {"M6"},
    .verdict = "E0",
    .proof = {"bits"},
    .refusals = {"result too large", "size not known", "not deterministic", "holds codes",
                 "has a subgraph", "unknown operator"},
    .test = "rules/fold_constants_test.cpp",
    .guard = guard,
    .build = build,
}};

}  // namespace
}  // namespace assay::fold_constants_rule
