// The fusion modes named after a constraint table fuse only operators that the table quantizes:
// "the single operators of these fusions must first meet the constraints of quantization" (AMCT,
// page "fusion functions").
#include <fmt/format.h>

#include "fusion/mode_constraint.h"
#include "quant/constraints.h"

namespace assay {
namespace {

std::optional<Decline> refuse(const RuleContext& ctx, NodeId n) {
  const Target& target = find_target(ctx.mode());
  const LayerView view{.graph = ctx.graph(),
                       .constant = [&](ValueId v) { return ctx.constant(v); },
                       .type = [&](ValueId v) { return ctx.type(v); }};
  const LayerVerdict v = judge_layer(target, target, view, n, {});
  if (v.answer != LayerAnswer::no && v.answer != LayerAnswer::not_listed) return std::nullopt;
  return Decline{
      fmt::format("{} does not quantize {}: {}", target.name, describe(ctx.node(n)), v.reason()),
      v.edit()};
}

const RegisterModeConstraint onnx{"amct-onnx", refuse};
const RegisterModeConstraint tf{"amct-tf", refuse};
const RegisterModeConstraint caffe{"amct-caffe", refuse};

}  // namespace
}  // namespace assay
