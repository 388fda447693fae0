// The arithmetic that an integer kernel really runs, as plain data, so that a reference can be run
// with the same one.
//
// Formula (oneDNN 3.2, everything float32 and rounded after each operation unless it says fma):
//   S[c] = f32(s_x * s_w[c])      v = f32(acc)      v = v * S[c]      v = v + bias[c]
//   mid (optional): v = fma(v, f32(1 / s_m), z_m); v = rne(v); v = clip(v, range of the mid type);
//                   v = fma(v, s_m, f32(-z_m * s_m))
//   residual:  d = f32(r - z_r);  v = s_r == 1 ? v + d : fma(d, s_r, v)      (sum_mul_add: v +
//   f32(d * s_r)) activation;  v = v * f32(1 / s_y) when s_y != 1;  v = v + z_y;  clamp to the
//   output type;  rne
#pragma once

#include <cstdint>
#include <string>

namespace assay::kernels {

enum class Accumulator {
  exact,    ///< s32 sum of exact products
  s16pair,  ///< products of neighbouring input channels are added with saturation to s16, then to
            ///< s32
};

enum class SignedSource {
  plain,    ///< s8 sources multiply as they are (or with a shift whose compensation is exact)
  halved,   ///< weights become rne(w / 2), the scale doubles; the source is shifted by +128
  plus128,  ///< the source is shifted by +128 and the pairs saturate; weights stay
};

enum class Compensation {
  s32,  ///< shift and zero-point terms are subtracted from the s32 accumulator
  f32,  ///< they are subtracted after the conversion to float32
};

enum class ResidualForm { none, sum_fma, sum_mul_add };

/// Where the rounding of a kept Q/DQ pair between Conv and Add happens.
enum class MidForm {
  none,
  linear_round_clip_linear,  ///< four post-ops, see the formula above
};

struct IntArithmetic {
  Accumulator acc = Accumulator::exact;
  SignedSource s8 = SignedSource::plain;
  Compensation comp = Compensation::s32;
  ResidualForm residual = ResidualForm::none;
  MidForm mid = MidForm::none;
  bool dst_reciprocal =
      true;  ///< the output scale is applied as a product with f32(1 / s_y), never as a quotient
  bool operator==(const IntArithmetic&) const = default;
};

std::string to_string(Accumulator v);
std::string to_string(SignedSource v);
std::string to_string(Compensation v);
std::string to_string(ResidualForm v);
std::string to_string(MidForm v);
/// "acc=exact s8=plain comp=s32 residual=sum_fma mid=none dst=reciprocal"
std::string to_string(const IntArithmetic& a);

}  // namespace assay::kernels
