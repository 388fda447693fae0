#include "quant/params.h"

#include <limits>

namespace assay {
namespace {

constexpr float smallest = std::numeric_limits<float>::min();

float positive_scale(double scale) { return std::max(static_cast<float>(scale), smallest); }

QuantParams unsigned_params(double low, double high) {
  if (low == high) return {DType::uint8, 1, 0};
  QuantParams p{DType::uint8, positive_scale((high - low) / 255), 0};
  p.zero_point = quantize_value(-low, static_cast<double>(p.scale), 0, p.range());
  return p;
}

QuantParams signed_params(double low, double high) {
  const double reach = std::max(-low, high);
  if (reach == 0) return {DType::int8, 1, 0};
  return {DType::int8, positive_scale(reach / 127), 0};
}

}  // namespace

std::string to_string(ActivationScheme s) {
  switch (s) {
    case ActivationScheme::u8:
      return "u8";
    case ActivationScheme::s8:
      return "s8";
    case ActivationScheme::mixed:
      return "mixed";
  }
  return "?";
}

std::optional<ActivationScheme> parse_scheme(const std::string& name) {
  for (const auto s : {ActivationScheme::u8, ActivationScheme::s8, ActivationScheme::mixed}) {
    if (to_string(s) == name) return s;
  }
  return std::nullopt;
}

std::string scheme_names() { return "u8, s8, mixed"; }

QuantParams activation_params(Range range, ActivationScheme scheme) {
  const double low = std::min(0.0, static_cast<double>(range.low));
  const double high = std::max(0.0, static_cast<double>(range.high));
  const bool is_signed =
      scheme == ActivationScheme::s8 || (scheme == ActivationScheme::mixed && low < 0);
  return is_signed ? signed_params(low, high) : unsigned_params(low, high);
}

float weight_scale(float max_abs) {
  const auto scale = static_cast<float>(static_cast<double>(max_abs) / 127);
  return scale >= smallest ? scale : 0.0F;
}

}  // namespace assay
