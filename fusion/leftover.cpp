#include "fusion/leftover.h"

#include <algorithm>

namespace assay {
namespace {

bool has_rule(const std::vector<const Rewrite*>& rules, const std::string& name) {
  return std::any_of(rules.begin(), rules.end(), [&](const Rewrite* r) { return r->name == name; });
}

/// The rule that takes away what stands between the operator and the normalization.
std::string rule_for(const std::string& op) {
  if (op == "Add" || op == "Sub") return "fold_linear_add";
  if (op == "Mul" || op == "Div") return "fold_linear_mul";
  if (op == "Concat") return "fold_bn_branches";
  if (op == "Reshape" || op == "Transpose" || op == "DepthToSpace" || op == "Slice")
    return "move_bn_before_layout";
  return "";
}

std::string edit_for(const Node& front, const std::vector<const Rewrite*>& rules) {
  const std::string rule = rule_for(front.op_type);
  if (rule.empty())
    return "build the network with the normalization right behind a linear operator";
  if (has_rule(rules, rule)) return "make " + rule + " apply to " + describe(front);
  return "use " + rule + " too (mode all)";
}

Decline reason_for(const RuleContext& ctx, NodeId n, const std::vector<const Rewrite*>& rules) {
  const Graph& g = ctx.graph();
  const ValueId x = g.node(n).inputs[0];
  const std::string input = "its input '" + g.name(x) + "' ";
  const Node* front = g.producer(x);
  const std::string wanted = ", expected Conv, ConvTranspose, Gemm or MatMul";
  if (front == nullptr)
    return {input + "is an input of the graph" + wanted,
            "put the scale and shift into the operator behind it, or into the data"};
  return {input + "comes from " + describe(*front) + wanted, edit_for(*front, rules)};
}

}  // namespace

std::vector<DeclinedRewrite> unexplained_normalizations(const RuleContext& ctx,
                                                        const std::vector<const Rewrite*>& rules,
                                                        const RewriteLog& log) {
  std::vector<DeclinedRewrite> list;
  if (!has_rule(rules, "fold_bn_conv")) return list;
  const Graph& g = ctx.graph();
  for (const NodeId n : g.topological_order()) {
    const Node& node = g.node(n);
    if (!node.is("BatchNormalization")) continue;
    const NodeNote note{node.name, node.op_type, g.name(node.outputs[0])};
    const bool said = std::any_of(log.declined.begin(), log.declined.end(),
                                  [&](const auto& d) { return d.node.output == note.output; });
    if (said) continue;
    const Decline why = reason_for(ctx, n, rules);
    list.push_back({"fold_bn_conv", to_string(Stage::fold), note, why.reason, why.edit});
  }
  return list;
}

}  // namespace assay
