// Reading QDQ graphs: which values are codes, and with which scale.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "quant/params.h"
#include "runtime/infer.h"

namespace assay {

/// An activation read through DequantizeLinear: its codes and their quantizer.
struct CodeSource {
  ValueId codes = {};
  NodeId dequantize = {};
  QuantParams params = {};
};

/// `v` as dequantized 8-bit codes with one constant scale; otherwise why not.
std::variant<CodeSource, Decline> code_source(const Graph& g, ValueId v);

/// The quantizer of a QuantizeLinear node with one constant scale and 8-bit codes; nullopt
/// otherwise.
std::optional<QuantParams> quantizer_of(const Graph& g, NodeId n);

struct CodedWeights {
  Tensor codes = {};               ///< int8, zero point 0
  std::vector<float> scales = {};  ///< 1, or one per entry of the axis
};
/// A constant weight read through DequantizeLinear (of codes, or of QuantizeLinear of a float
/// constant). uint8 codes with zero point 128 become int8. Declines: other zero points, another
/// axis, other types.
std::variant<CodedWeights, Decline> coded_weights(const Graph& g, ValueId v, std::int64_t axis);

/// A bias as float32 [channels]: a float constant, or what DequantizeLinear makes of int32 codes.
/// undefined() when `v` is absent.
std::variant<Tensor, Decline> coded_bias(const Graph& g, ValueId v, std::int64_t channels);

/// Types under one filling of the unknown input sizes (equal symbols get equal sizes, all others
/// differ), so that shapes can be told apart; where the graph does not take such sizes, the
/// declared types.
StaticTypes probed_types(const Graph& g);

/// The only node that reads `v`, when `v` is no graph output and is read once; invalid otherwise.
NodeId only_reader(const Graph& g, ValueId v);

}  // namespace assay
