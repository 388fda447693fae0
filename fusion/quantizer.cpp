#include "fusion/quantizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay {
namespace {

std::optional<std::pair<std::int64_t, std::int64_t>> range_of(DType t) {
  switch (t) {
    case DType::uint8:
      return std::pair<std::int64_t, std::int64_t>{0, 255};
    case DType::int8:
      return std::pair<std::int64_t, std::int64_t>{-128, 127};
    case DType::uint16:
      return std::pair<std::int64_t, std::int64_t>{0, 65535};
    case DType::int16:
      return std::pair<std::int64_t, std::int64_t>{-32768, 32767};
    default:
      return std::nullopt;
  }
}

std::int64_t clamped(double quotient, const Quantizer& q, std::size_t c) {
  const double code = std::nearbyint(quotient) + static_cast<double>(q.zero_point[c]);
  return static_cast<std::int64_t>(
      std::clamp(code, static_cast<double>(q.low), static_cast<double>(q.high)));
}

}  // namespace

std::optional<std::int64_t> Quantizer::code_of(double x, std::size_t c) const {
  // The quotient of two float32 numbers that is not a tie differs from it by far more than a
  // double's rounding.
  const std::int64_t exact = clamped(x / scale[c], *this, c);
  const std::int64_t rounded =
      clamped(static_cast<double>(static_cast<float>(x) / static_cast<float>(scale[c])), *this, c);
  if (exact != rounded) return std::nullopt;
  return exact;
}

bool Quantizer::saturates_below(double bound) const {
  for (std::size_t c = 0; c < scale.size(); ++c) {
    if (code_of(bound, c) != low) return false;
  }
  return true;
}

bool Quantizer::saturates_above(double bound) const {
  for (std::size_t c = 0; c < scale.size(); ++c) {
    if (code_of(bound, c) != high) return false;
  }
  return true;
}

std::variant<Decline, Quantizer> as_quantizer(const RuleContext& ctx, NodeId n) {
  const Node& node = ctx.node(n);
  const Tensor* scale = node.has_input(1) ? ctx.constant(node.inputs[1]) : nullptr;
  if (scale == nullptr)
    return Decline{"the scale of " + describe(node) + " is not constant", "make it an initializer"};
  Quantizer q{.scale = to_doubles(*scale), .zero_point = {}, .code = DType::uint8};
  if (node.has_input(2)) {
    const Tensor* zero = ctx.constant(node.inputs[2]);
    if (zero == nullptr)
      return Decline{"the zero point of " + describe(node) + " is not constant",
                     "make it an initializer"};
    q.code = zero->dtype();
    q.zero_point = to_ints(*zero);
  } else {
    q.zero_point.assign(q.scale.size(), 0);
    const DType stated = static_cast<DType>(node.attributes.int_or("output_dtype", 0));
    if (stated != DType::undefined) q.code = stated;
    if (node.is("DequantizeLinear")) q.code = ctx.type(node.inputs[0]).dtype;
  }
  const auto range = range_of(q.code);
  if (!range)
    return Decline{"codes of type " + to_string(q.code) + " are not handled",
                   "use 8- or 16-bit codes"};
  q.low = range->first;
  q.high = range->second;
  q.axis = q.scale.size() > 1 ? node.attributes.int_or("axis", 1) : 1;
  if (q.zero_point.size() != q.scale.size() || node.attributes.has("block_size")) {
    return Decline{describe(node) + " has " + std::to_string(q.scale.size()) + " scales and " +
                       std::to_string(q.zero_point.size()) + " zero points, or blocks",
                   "give one zero point per scale, and no block_size"};
  }
  return q;
}

std::string to_string(const Quantizer& q) {
  if (q.scale.size() == 1) {
    return fmt::format("scale {}, zero point {}, codes {}..{}", q.scale[0], q.zero_point[0], q.low,
                       q.high);
  }
  return fmt::format("{} scales, codes {}..{}", q.scale.size(), q.low, q.high);
}

}  // namespace assay
