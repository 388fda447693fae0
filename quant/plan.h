// Which nodes of a float graph are quantized, which values get a quantizer, and with which
// parameters.
#pragma once

#include "quant/quantize.h"
#include "runtime/infer.h"

namespace assay {

/// How an operator takes part.
enum class QuantRole {
  none,    ///< stays in float
  linear,  ///< weights and activations: Conv, ConvTranspose, Gemm, MatMul
  add,     ///< two activations
  pool,    ///< own scale for its result: average pools, Concat
  copy,    ///< same scale before and after: MaxPool, Reshape, Transpose, ...
};
QuantRole role_of(const Node& node);

/// Axis of the output channel in the weight (input 1) of a linear operator.
std::int64_t weight_axis(const Graph& g, const Node& node);

struct QuantPlan {
  std::map<NodeId, NodeVerdict> nodes;
  std::map<ValueId, QuantParams> values;  ///< values that get a quantizer
  std::map<ValueId, Range> ranges;
  std::vector<ValueId> dropped_mid;
  std::set<NodeId> per_tensor;  ///< weights with one scale, because the target wants it
  bool quantized(NodeId n) const;
};

/// `table` may be nullptr: every value then counts as calibrated (used to find out what to
/// observe).
QuantPlan make_plan(const Graph& g, const CalibrationTable* table, const QuantConfig& config);

}  // namespace assay
