// Quantizer: a float graph and a calibration table become a standard QDQ ONNX graph.
//
// A value is quantized when an integer operator reads it: QuantizeLinear and DequantizeLinear are
// put between it and its readers, and every node that reads it then reads the dequantized value
// (graph outputs keep the float value, and so does a node that the configuration's target refuses).
// So a Conv followed by Relu is quantized once, behind the Relu, and the operands of an Add are
// both quantized; with mid rounding dropped, the Conv that would run with the Add fused into it
// keeps its float result. Pools and operators that only move data take part when what they produce
// is wanted quantized; those that copy values share one scale with their input. Values keep their
// names; codes are called NAME_quantized, read back NAME_dequantized.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "quant/calibrate.h"
#include "quant/config.h"
#include "runtime/graph.h"

namespace assay {

/// What became of one node.
struct NodeVerdict {
  std::string node;
  std::string op_type;
  std::string output;
  bool quantized = false;
  std::string reason = {};  ///< why it stays in float
  std::string edit = {};    ///< what would change that
  bool by_target = false;   ///< the configuration's target does not quantize it
  std::int64_t macs = 0;    ///< 0 also when shapes are not known
  std::vector<std::int64_t> dead_channels = {};
  std::vector<std::int64_t> raised_channels =
      {};  ///< weight scale raised so that the bias fits int32
};

/// One quantizer put into the graph.
struct ValueQuantizer {
  std::string value;
  std::string codes;
  std::string dequantized;
  QuantParams params = {};
  Range range = {};  ///< what it covers
};

struct QuantReport {
  QuantConfig config = {};
  std::string calibration_digest = {};
  std::vector<NodeVerdict> nodes = {};
  std::vector<ValueQuantizer> values = {};
  std::vector<std::string> dropped_mid_rounding =
      {};  ///< values between Conv and Add that stay unrounded (verdict E3)
  std::int64_t macs = 0;
  std::int64_t macs_int8 = 0;

  /// Share of the multiply-accumulates in quantized operators; 0 when there are none.
  double int8_share() const;
};

struct QuantizeResult {
  Graph graph;
  QuantReport report;
};

/// `g` may hold fused operators (they are written out). `input_shapes` fix symbolic inputs, for the
/// MAC counts only. Throws Error when the opset is below 13 and cannot be raised, or a skip or
/// layer name fits nothing.
QuantizeResult quantize(const Graph& g, const CalibrationTable& table,
                        const QuantConfig& config = {},
                        const std::map<std::string, Shape>& input_shapes = {});

/// Values that quantize() wants ranges for, by name: what calibration has to observe.
std::set<std::string> values_to_calibrate(const Graph& g);

/// "assay-quantization/1" as JSON text.
std::string to_json(const QuantReport& report);

}  // namespace assay
