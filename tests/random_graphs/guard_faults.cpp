// Conditions overlooked: the rule fires where it must not.
#include <algorithm>

#include "runtime/infer.h"
#include "tests/random_graphs/faults.h"

namespace assay::testing::guard_faults {
namespace {

/// The other reader of an inner value reads the folded value.
bool second_reader(FaultSite& s) {
  for (const NodeId n : s.nodes_of("BatchNormalization|Mul|Add|Relu|Clip")) {
    const ValueId inner = s.graph.node(n).inputs[0];
    const ValueId out = s.graph.node(n).outputs[0];
    if (!inner.valid() || !s.graph.value(inner).producer.valid()) continue;
    const auto readers = s.graph.value(inner).readers;
    for (const NodeId other : readers) {
      const auto& captures = s.graph.node(other).captures;
      if (other == n || std::find(captures.begin(), captures.end(), inner) != captures.end())
        continue;
      for (std::size_t i = 0; i < s.graph.node(other).inputs.size(); ++i) {
        if (s.graph.node(other).inputs[i] == inner) s.graph.set_input(other, i, out);
      }
      return true;  // a cycle is refused by the check of the graph
    }
  }
  return false;
}

bool pad_value(FaultSite& s) {
  for (const NodeId n : s.nodes_of("Pad")) {
    const Tensor* t = s.constant(n, 2);
    if (t != nullptr && to_doubles(*t)[0] != 0) {
      s.set_constant(n, 2, Tensor::zeros(t->dtype(), t->shape()));
      return true;
    }
    Attributes a = s.graph.node(n).attributes;
    if (a.float_or("value", 0) == 0) continue;
    a.set("value", 0.0F);
    s.graph.set_attributes(n, a);
    return true;
  }
  return false;
}

bool pads_that_do_not_count(FaultSite& s) {
  for (const NodeId n : s.nodes_of("AveragePool")) {
    Attributes a = s.graph.node(n).attributes;
    if (a.int_or("count_include_pad", 0) != 0 || !a.has("pads") || s.graph.opset() < 7) continue;
    a.set("count_include_pad", std::int64_t{1});
    s.graph.set_attributes(n, a);
    return true;
  }
  return false;
}

bool training_mode(FaultSite& s) {
  for (const NodeId n : s.nodes_of("BatchNormalization")) {
    Node node = s.graph.node(n);
    if (node.attributes.int_or("training_mode", 0) == 0) continue;
    node.attributes.erase("training_mode");
    node.outputs.resize(1);
    s.graph.erase_node(n);
    s.graph.add_node(std::move(node));
    return true;
  }
  return false;
}

/// A default that the caller may override is taken for a constant.
bool overridable_weight(FaultSite& s) {
  for (const ValueId v : s.graph.inputs()) {
    const Value value = s.graph.value(v);  // a copy: readers change below
    if (!value.initializer.defined() || value.readers.empty()) continue;
    for (const NodeId n : value.readers) {
      const Node node = s.graph.node(n);
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        if (node.inputs[i] == v) s.set_constant(n, i, value.initializer);
      }
    }
    return true;
  }
  return false;
}

/// [C] on the last axis is taken for channels.
bool last_axis_as_channels(FaultSite& s) {
  const StaticTypes types = infer_types(s.graph);
  for (const NodeId n : s.nodes_of("Add|Mul")) {
    const Tensor* k = s.constant(n, 1);
    const TensorType& x = types.type(s.graph.node(n).inputs[0]);
    if (k == nullptr || s.graph.opset() < 7 || !x.known() || x.dims->size() < 3 ||
        k->shape().rank() != 1 || k->numel() != (*x.dims)[1] || k->numel() < 2)
      continue;
    std::vector<std::int64_t> dims(x.dims->size() - 1, 1);
    dims[0] = k->numel();
    s.set_constant(n, 1, k->reshaped(Shape(dims)));
    return true;
  }
  return false;
}

using Kind = Fault::Kind;
const RegisterFault faults[] = {
    RegisterFault({"second_reader", Kind::guard, true, second_reader}),
    RegisterFault({"pad_value", Kind::guard, true, pad_value}),
    RegisterFault({"pads_that_do_not_count", Kind::guard, true, pads_that_do_not_count}),
    RegisterFault({"training_mode", Kind::guard, true, training_mode}),
    RegisterFault({"overridable_weight", Kind::guard, true, overridable_weight}),
    RegisterFault({"last_axis_as_channels", Kind::guard, true, last_axis_as_channels}),
};

}  // namespace
}  // namespace assay::testing::guard_faults
