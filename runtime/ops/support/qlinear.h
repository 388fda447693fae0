// What the QLinear operators share: operands with scales and zero points, and results rounded once
// from real numbers.
//
//   real value of a code   (q - zero_point) * scale, exact
//   result                 clamp(rhe(real value / y_scale) + y_zero_point), the zero point added
//   after rounding
#pragma once

#include <vector>

#include "runtime/numeric/quantize_dd.h"
#include "runtime/op.h"

namespace assay::ops {

/// Scale (float32) and zero point of a whole tensor; an absent zero point is 0. Throws Error when
/// the scale is not one positive finite number.
struct Affine {
  double scale = 1;
  std::int64_t zero_point = 0;
};
Affine read_affine(const EvalContext& c, std::size_t scale, std::size_t zero_point);

/// Scales and zero points, one or `channels` of each.
struct ChannelAffine {
  std::vector<double> scales;
  std::vector<std::int64_t> zero_points;
  double scale(std::int64_t c) const {
    return scales.size() == 1 ? scales[0] : scales[static_cast<std::size_t>(c)];
  }
};
ChannelAffine read_channel_affine(const EvalContext& c, std::size_t scale, std::size_t zero_point,
                                  std::int64_t channels);

/// Type of a zero point input, or `missing` when it is absent.
DType code_type_of(const InferContext& c, std::size_t zero_point, DType missing);

/// The codes as float32 values (rounded once), for operators defined by their float form.
Tensor to_float(const Tensor& codes, const Affine& p);
/// clamp(rhe(x / scale) + zero point) of every float32.
Tensor to_codes(const Tensor& x, const Affine& p, DType type);

/// Fills codes of `type` by a function of the element index.
template <class F>
Tensor fill_codes(DType type, const Shape& shape, F&& code_at) {
  Tensor out(type, shape);
  const auto fill = [&](auto span) {
    for (std::size_t i = 0; i < span.size(); ++i) {
      span[i] = static_cast<typename decltype(span)::value_type>(code_at(i));
    }
  };
  if (type == DType::uint8)
    fill(out.mutable_data<std::uint8_t>());
  else if (type == DType::int8)
    fill(out.mutable_data<std::int8_t>());
  else
    throw Error({.what = "unsupported type of codes",
                 .got = to_string(type),
                 .expected = "uint8 or int8",
                 .kind = ErrorKind::unsupported});
  return out;
}

/// a [..., M, K] times b [..., K, N] with the rules of MatMul, zero points subtracted, in int32
/// (wrapping).
struct IntMatrices {
  Tensor a, b;
  std::vector<std::int32_t> a_zero = {};  ///< empty, one, or one per row
  std::vector<std::int32_t> b_zero = {};  ///< empty, one, or one per column
};
Tensor int_matmul(const IntMatrices& m);
/// Its output type; unknown sizes stay unknown.
void infer_int_matmul(InferContext& c, std::size_t a, std::size_t b, DType type);

}  // namespace assay::ops
