#include "validation/certificate/spelling.h"

#include "validation/certificate/canonical_parts.h"

namespace assay {
namespace {

void count_from_front(Rewriter& r, NodeId n) {
  const Node& node = r.graph().node(n);
  const Shape* x = node.has_input(0) ? r.shape(node.inputs[0]) : nullptr;
  const std::int64_t axis = node.attributes.int_or("axis", 0);
  if (x == nullptr || axis >= 0) return;
  Attributes a = node.attributes;
  a.set("axis", axis + x->rank());
  r.graph().set_attributes(n, std::move(a));
}

/// Axis of the first operand at which the second begins, as `ones` behind the second.
void align_operand(Rewriter& r, NodeId n) {
  Attributes a = r.graph().node(n).attributes;
  const bool has_axis = a.has("axis");
  if (!has_axis && !a.has("broadcast")) return;
  const std::vector<ValueId> in = r.graph().node(n).inputs;
  const Shape* x = r.shape(in[0]);
  const Tensor* constant = r.graph().constant(in[1]);
  const Shape* given = constant != nullptr ? &constant->shape() : r.shape(in[1]);
  if (x == nullptr || given == nullptr) return;
  const std::int64_t behind =
      has_axis ? x->rank() - a.int_or("axis", 0) - given->rank() : std::int64_t{0};
  if (behind > 0 && given->numel() != 1) {
    std::vector<std::int64_t> dims = given->vec();
    dims.insert(dims.end(), static_cast<std::size_t>(behind), 1);
    const Shape aligned(dims);
    const ValueId k =
        constant != nullptr
            ? r.constant(constant->reshaped(aligned))
            : r.put("Reshape",
                    {in[1], r.constant(Tensor::of<std::int64_t>(
                                Shape{aligned.rank()}, std::span<const std::int64_t>(dims)))},
                    aligned);
    r.graph().set_input(n, 1, k);
  }
  a.erase("axis");
  a.erase("broadcast");
  r.graph().set_attributes(n, std::move(a));
}

void pads_of_none(Rewriter& r, NodeId n) {
  Attributes a = r.graph().node(n).attributes;
  if (a.string_or("auto_pad", "NOTSET") != "VALID") return;
  a.erase("auto_pad");
  a.erase("pads");
  r.graph().set_attributes(n, std::move(a));
}

}  // namespace

Graph plainly_spelled(const Graph& g, std::map<std::string, Shape>& shapes) {
  Rewriter r(g, shapes);
  for (const NodeId n : r.graph().topological_order()) {
    const Node& node = r.graph().node(n);
    if (node.is("Split") || node.is("Concat")) {
      count_from_front(r, n);
    } else if (node.is("Add") || node.is("Sub") || node.is("Mul") || node.is("Div")) {
      align_operand(r, n);
    } else {
      pads_of_none(r, n);
    }
  }
  return std::move(r.graph());
}

}  // namespace assay
