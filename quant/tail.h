// What follows a lowered operator and can become part of it.
//
//   [QuantizeLinear DequantizeLinear] Add(residual codes)   only behind linear operators: the kept
//   mid rounding and the residual activation                                              Relu,
//   Clip with constant bounds, LeakyRelu, HardSwish, HardSigmoid QuantizeLinear all readers
//   quantize with one and the same scale
// Every step needs the value before it to have no other reader and to be no graph output.
#pragma once

#include "quant/integer_form.h"
#include "quant/qdq.h"
#include "runtime/infer.h"

namespace assay {

struct Tail {
  std::vector<NodeId> nodes = {};  ///< absorbed, in order of the data
  std::optional<QuantParams> mid = {};
  std::optional<CodeSource> residual = {};
  IntegerActivation activation = {};
  std::optional<QuantParams> y = {};
  std::vector<ValueId> code_values = {};  ///< written by the final quantizers; the first stays
  ValueId value = {};                     ///< the float value at the end
};

/// The whole tail of `n`; with `with_residual` an Add may be absorbed.
Tail find_tail(const Graph& g, NodeId n, const StaticTypes& types, bool with_residual);
/// Only the final quantizer.
Tail quantized_tail(const Graph& g, NodeId n);

/// Both shapes are known and equal.
bool same_shape(const StaticTypes& types, ValueId a, ValueId b);

}  // namespace assay
