// Static types: shapes and constants that are known without running the graph.
#pragma once

#include <map>

#include "runtime/op.h"

namespace assay {

/// What is known of every value of a graph before running.
struct StaticTypes {
  std::map<ValueId, TensorType> types;
  /// Values that follow from initializers and shapes alone (Shape -> Gather -> Concat chains),
  /// small integer tensors only.
  std::map<ValueId, Tensor> constants;

  const TensorType& type(ValueId v) const;
  /// Type with every size known, or Error naming the value and the symbol to fix with --shape.
  Shape shape(const Graph& g, ValueId v) const;
};

/// Infers types node by node. `input_shapes` fixes (symbolic) inputs by name. Nodes whose operator
/// is unknown give unknown types; an operator that finds its inputs inconsistent throws Error
/// naming the node.
StaticTypes infer_types(const Graph& g, const std::map<std::string, Shape>& input_shapes = {},
                        Precision precision = Precision::f32);

/// Runs the operator's inference for one node. `inputs[i]` may be nullptr where a value is not
/// known.
std::vector<TensorType> infer_node(const Graph& g, NodeId n,
                                   const std::vector<TensorType>& input_types,
                                   const std::vector<const Tensor*>& inputs, Precision precision);

/// Multiply-accumulates of a node under known types; 0 for operators that have none.
std::int64_t macs_of(const Graph& g, NodeId n, const StaticTypes& types);

/// "node 'conv1' (Conv), input 'x', input 'w', output 'c'": how errors name a node.
std::string place_of(const Graph& g, NodeId n);

}  // namespace assay
