// Lowering: a QDQ graph (of Assay's own quantizer or of another tool) becomes a graph of integer
// operators.
//
// A node is lowered when its operands come from DequantizeLinear and what it needs is constant; the
// operators behind it that one kernel can run with it (a kept quantization, a residual Add, an
// activation, the final QuantizeLinear) become part of it. Codes keep their names, so values align
// with those of the QDQ graph. QDQ means what its nodes say: a bias enters with the scale its own
// DequantizeLinear states. Whatever is not lowered stays as it is, with its reason; quantizers at
// the borders stay standard.
#pragma once

#include <string>
#include <vector>

#include "quant/params.h"
#include "runtime/graph.h"

namespace assay {

struct LowerOptions {
  std::string profile = "onnx-qdq";
};

struct LoweredNode {
  std::string node;
  std::string op_type;  ///< in the QDQ graph
  std::string output;   ///< float value that the node computed
  bool lowered = false;
  std::string reason = {};                 ///< why it stays in float
  std::vector<std::string> absorbed = {};  ///< nodes that became part of it, in order of the data
};

/// Codes of the lowered graph and the float value they stand for.
struct CodeValue {
  std::string codes;
  std::string value;
  QuantParams params = {};
};

struct LowerResult {
  Graph graph;
  std::vector<LoweredNode> nodes;  ///< every operator that is not a quantizer or dequantizer
  std::vector<CodeValue> codes;    ///< every value quantized per tensor to 8 bits in the QDQ graph
};

/// Throws Error for an unknown profile.
LowerResult lower(const Graph& qdq, const LowerOptions& options = {});

}  // namespace assay
