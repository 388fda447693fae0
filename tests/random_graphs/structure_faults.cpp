// Faults of reading structure: pads, activations, order of addition and activation, wiring.
#include "runtime/infer.h"
#include "tests/random_graphs/faults.h"

namespace assay::testing::structure_faults {
namespace {

/// Begins and ends of the pads exchanged.
bool pads_exchanged(FaultSite& s) {
  for (const NodeId n : s.nodes_of("Conv|ConvTranspose|AveragePool|MaxPool")) {
    Attributes a = s.graph.node(n).attributes;
    auto pads = a.ints_or("pads", {});
    const std::size_t half = pads.size() / 2;
    for (std::size_t i = 0; i < half; ++i) std::swap(pads[i], pads[i + half]);
    if (pads == a.ints_or("pads", {})) continue;
    a.set("pads", pads);
    s.graph.set_attributes(n, a);
    return true;
  }
  for (const NodeId n : s.nodes_of("Pad")) {
    const Tensor* t = s.constant(n, 1);
    if (t == nullptr || t->numel() % 2 != 0) continue;
    const auto old = to_ints(*t);
    std::vector<std::int64_t> pads(old.begin() + static_cast<std::ptrdiff_t>(old.size() / 2),
                                   old.end());
    pads.insert(pads.end(), old.begin(), old.begin() + static_cast<std::ptrdiff_t>(old.size() / 2));
    if (pads == old) continue;
    s.set_constant(n, 1, Tensor::of<std::int64_t>(t->shape(), std::span<const std::int64_t>(pads)));
    return true;
  }
  return false;
}

bool clip_bound(FaultSite& s) {
  for (const NodeId n : s.nodes_of("Clip")) {
    for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
      const Tensor* t = s.constant(n, i);
      if (t == nullptr) continue;
      const double moved = to_doubles(*t)[0] + (i == 1 ? -0.5 : 0.25);
      s.set_constant(n, i, convert(Tensor::scalar<double>(moved), t->dtype()));
      return true;
    }
    Attributes a = s.graph.node(n).attributes;
    if (!a.has("max")) continue;
    a.set("max", a.float_or("max", 0) + 0.25F);
    s.graph.set_attributes(n, a);
    return true;
  }
  return false;
}

bool other_activation(FaultSite& s) {
  for (const NodeId n : s.nodes_of("Relu|Tanh|Sigmoid|LeakyRelu|Elu|HardSwish")) {
    const std::string now = s.graph.node(n).op_type;
    s.graph.set_op(n, now == "Relu" ? "LeakyRelu" : "Relu", "");
    if (now != "Relu") s.graph.set_attributes(n, {});
    return true;
  }
  return false;
}

bool activation_parameter(FaultSite& s) {
  for (const NodeId n : s.nodes_of("LeakyRelu|Elu|HardSigmoid")) {
    Attributes a = s.graph.node(n).attributes;
    a.set("alpha", a.float_or("alpha", 0.2F) + 0.0625F);
    s.graph.set_attributes(n, a);
    return true;
  }
  return false;
}

/// act(a + b) read as act(a) + b.
bool activation_before_add(FaultSite& s) {
  for (const NodeId n : s.nodes_of("Relu|Clip|LeakyRelu|Elu|Tanh|Sigmoid|HardSigmoid")) {
    Node act = s.graph.node(n);
    const NodeId add = s.graph.value(act.inputs[0]).producer;
    if (!add.valid() || !s.graph.node(add).is("Add") || s.graph.use_count(act.inputs[0]) != 1 ||
        !s.nodes.count(s.graph.node(add).name))
      continue;
    Node sum = s.graph.node(add);
    const ValueId inner = sum.outputs[0];
    s.graph.erase_node(n);
    s.graph.erase_node(add);
    sum.outputs = act.outputs;
    act.outputs = {inner};
    act.inputs[0] = sum.inputs[0];
    sum.inputs[0] = inner;
    s.graph.add_node(std::move(act));
    s.graph.add_node(std::move(sum));
    return true;
  }
  return false;
}

bool depth_order(FaultSite& s) {
  for (const NodeId n : s.nodes_of("DepthToSpace")) {
    if (s.graph.opset() < 11) continue;
    Attributes a = s.graph.node(n).attributes;
    a.set("mode", std::string(a.string_or("mode", "DCR") == "DCR" ? "CRD" : "DCR"));
    s.graph.set_attributes(n, a);
    return true;
  }
  return false;
}

bool branches_swapped(FaultSite& s) {
  const StaticTypes types = infer_types(s.graph);
  for (const NodeId n : s.nodes_of("Concat")) {
    const auto inputs = s.graph.node(n).inputs;
    if (inputs.size() < 2 || inputs.front() == inputs.back() ||
        types.type(inputs.front()).dims != types.type(inputs.back()).dims)
      continue;
    s.graph.set_input(n, 0, inputs.back());
    s.graph.set_input(n, inputs.size() - 1, inputs.front());
    return true;
  }
  return false;
}

/// The residual is another value of the same shape that is computed before it.
bool other_residual(FaultSite& s) {
  const StaticTypes types = infer_types(s.graph);
  for (const NodeId n : s.nodes_of("Add")) {
    const auto inputs = s.graph.node(n).inputs;
    if (s.constant(n, 0) != nullptr || s.constant(n, 1) != nullptr) continue;
    for (const ValueId v : s.graph.inputs()) {
      if (v == inputs[1] || !types.type(v).known() || !types.type(inputs[1]).known() ||
          types.type(v).shape() != types.type(inputs[1]).shape())
        continue;
      s.graph.set_input(n, 1, v);
      return true;
    }
  }
  return false;
}

const RegisterFault faults[] = {
    RegisterFault({.name = "pads_exchanged", .may_be_equivalent = true, .inject = pads_exchanged}),
    RegisterFault({.name = "clip_bound", .may_be_equivalent = true, .inject = clip_bound}),
    RegisterFault(
        {.name = "other_activation", .may_be_equivalent = true, .inject = other_activation}),
    RegisterFault({.name = "activation_parameter",
                   .may_be_equivalent = true,
                   .inject = activation_parameter}),
    RegisterFault({.name = "activation_before_add",
                   .may_be_equivalent = true,
                   .inject = activation_before_add}),
    RegisterFault({.name = "depth_order", .may_be_equivalent = true, .inject = depth_order}),
    RegisterFault(
        {.name = "branches_swapped", .may_be_equivalent = true, .inject = branches_swapped}),
    RegisterFault({.name = "other_residual", .may_be_equivalent = true, .inject = other_residual}),
};

}  // namespace
}  // namespace assay::testing::structure_faults
