#pragma once
// Rigorous rounding radii of the dot products of gemm.h and conv.h.
//
// gamma_n:  |computed - exact| <= gamma_n(n, u) * sum|a||b| + n * eta for *any* order of n
// additions with or
//   without fused multiply-add, gamma_n = n u / (1 - n u), eta the smallest subnormal (underflow of
//   products; Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.1).
// running:  every fl() of the canonical order is within u |result| + eta / 2 of its exact result,
// so
//   |computed - exact| <= u * sum |each intermediate result| + steps * eta / 2.
// All results are doubles and rounded outward: they are upper bounds, never below the formula's
// value.
#include <cstdint>

#include "runtime/numeric/conv.h"
#include "runtime/numeric/gemm.h"

namespace assay {

inline constexpr double kUnitFloat = 0x1p-24;
inline constexpr double kUnitDouble = 0x1p-53;
inline constexpr double kTinyFloat = 0x1p-149;
inline constexpr double kTinyDouble = 0x1p-1074;

// n u / (1 - n u), rounded up. Infinity when n u >= 1.
double gamma_n(int64_t n, double u);

// sum_k |a||b| (plus |alpha|, |beta| * |addend| and |residual|) of each output, never below the
// exact value. out is [m, n] dense, or laid out as y.
template <typename T>
void gemm_abs_sum(const GemmArgs<T>& args, double* out);
template <typename T>
void conv_abs_sum(const ConvArgs<T>& args, bool transposed, double* out);

// The canonical evaluation together with its running bound: args.out / args.y receive exactly the
// bits of gemm(args, DotMode::canonical), radius[i] bounds |computed - exact|. Final steps
// included.
template <typename T>
void gemm_running(const GemmArgs<T>& args, double* radius);
template <typename T>
void conv_running(const ConvArgs<T>& args, bool transposed, double* radius);

}  // namespace assay
