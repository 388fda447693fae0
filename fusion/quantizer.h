// Quantizers as the quantized-graph rules see them: scale, zero point and code range of a
// QuantizeLinear or DequantizeLinear.
#pragma once

#include <variant>
#include <vector>

#include "fusion/rewrite.h"

namespace assay {

struct Quantizer {
  std::vector<double> scale;             ///< one, or one per channel
  std::vector<std::int64_t> zero_point;  ///< as many
  DType code = DType::uint8;
  std::int64_t low = 0;  ///< lowest and highest code
  std::int64_t high = 255;
  std::int64_t axis = 1;  ///< of per-channel parameters

  bool operator==(const Quantizer&) const = default;

  /// Code of the real number x in channel c under the exact quotient and under the float32
  /// quotient; nullopt when they differ.
  std::optional<std::int64_t> code_of(double x, std::size_t c) const;
  /// True when every x <= bound (or >= bound) has the lowest (highest) code: the quantizer
  /// saturates at or inside the bound. A quantizer is monotone, so the code of the bound itself
  /// decides.
  bool saturates_below(double bound) const;
  bool saturates_above(double bound) const;
};

/// Reads the node's parameters; declines when scale or zero point is not constant or not of a known
/// type.
std::variant<Decline, Quantizer> as_quantizer(const RuleContext& ctx, NodeId n);

/// "scale 0.1, zero point 20, codes 0..255"
std::string to_string(const Quantizer& q);

}  // namespace assay
