// What the quantizer is asked to do: JSON, schema assay-quant-config/1.
//
//   { "schema": "assay-quant-config/1", "scheme": "u8", "algorithm": "mse", "percentile": 99.999,
//     "mid_rounding": "keep", "residual_scales": "separate", "bias": "int32", "weights":
//     "per-channel", "skip": ["conv_last", "Concat"], "layers": { "conv1": { "scheme": "s8",
//     "range": [-1, 1] } }, "target": "amct-onnx", "product": "atlas-a2" }
// Every key but `schema` may be left out.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quant/params.h"

namespace assay {

/// What one node's output (by node name or value name) does differently.
struct LayerConfig {
  std::optional<ActivationScheme> scheme = {};
  std::optional<Range> range = {};       ///< replaces the calibrated range of its output
  std::optional<bool> per_channel = {};  ///< of its weights
  bool skip = false;
};

struct QuantConfig {
  ActivationScheme scheme = ActivationScheme::u8;
  std::string algorithm = "mse";
  double percentile = 99.999;
  /// Keep the quantization between Conv and Add (what other tools' runtimes do), or drop it
  /// (verdict E3).
  bool keep_mid_rounding = true;
  /// One scale for both inputs of an Add.
  bool align_residual = false;
  /// int32 codes with scale x_scale * w_scale, or left as float32.
  bool integer_bias = true;
  bool per_channel = true;
  /// Node names, output values or operator types; * and ? are wildcards.
  std::vector<std::string> skip = {};
  std::map<std::string, LayerConfig> layers = {};
  /// Constraint table (quant/target.h) that decides which layers may be quantized; empty: none.
  std::string target = {};
  /// Product of the target, when its table distinguishes them.
  std::string product = {};

  std::string to_json() const;
};

/// Throws Error naming `where` and the key.
QuantConfig parse_quant_config(std::string_view text, const std::string& where);

/// Whether `name` fits `pattern` with * and ?.
bool fits_wildcard(std::string_view pattern, std::string_view name);

}  // namespace assay
