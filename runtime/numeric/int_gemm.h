#pragma once
// Exact integer dot products for quantized operators.
//
//   acc[i][j] = sum_k (a[i][k] - a_zero) * (b[k][j] - b_zero[j])      (an exact integer)
//   out       = acc wrapped to int32 (two's complement), as every int32 accumulator gives
//
// Operands are uint8 or int8, each on its own. Padding taps of a convolution do not take part (they
// hold the zero point). IntReport tells whether an exact sum left the int32 range; it costs nothing
// when k * max|a - za| * max|b - zb| proves that none can, and a 64-bit pass otherwise.
#include <cstdint>
#include <span>

#include "runtime/numeric/conv_shape.h"

namespace assay {

// A matrix or tensor of 8-bit codes. Zero points: one for all, or one per output column / channel.
struct Codes8 {
  const void* data = nullptr;
  bool is_signed = false;
  std::span<const int32_t> zero;  // empty: 0; one value; or one per output channel (weights only)
};

struct IntGemmArgs {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  Codes8 a;         // [m, k]; one zero point, or one per row
  int64_t lda = 0;  // 0: dense
  Codes8 b;         // [k, n], or [n, k] when trans_b; zero points per column allowed
  int64_t ldb = 0;
  bool trans_b = false;
  int32_t* out = nullptr;  // [m, n], dense
};

struct IntConvArgs {
  ConvShape shape;
  Codes8 x;  // one zero point
  Codes8 w;  // zero points per output channel allowed
  int32_t* y = nullptr;
};

struct IntReport {
  int64_t overflowed = 0;  // outputs whose exact sum is outside int32
  int64_t max_abs = 0;     // largest |exact sum|; 0 when not tracked (a proof was enough)
};

IntReport int_gemm(const IntGemmArgs& args);
IntReport int_conv(const IntConvArgs& args);

// The accumulation of x86 kernels without VNNI (vpmaddubsw, then vpmaddwd and vpaddd): unsigned
// times signed codes, products of the two neighbouring input channels (2i, 2i + 1) of each tap are
// added with saturation to int16, the pair sums are added in int32 (wrapping). a is unsigned, b
// signed; zero points must be empty (compensation is done by the caller, in int32). An odd channel
// is paired with 0.
int32_t dot_s16pair(std::span<const uint8_t> a, std::span<const int8_t> b);

// The same for a whole convolution: taps ordered (t_depth, t_height, t_width, channel pair).
// Padding taps hold pad_code.
void int_conv_s16pair(const IntConvArgs& args, uint8_t pad_code);

}  // namespace assay
