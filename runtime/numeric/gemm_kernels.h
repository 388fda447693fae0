#pragma once
// The inner loops of the dot products, one table per instruction set with the same layouts and the
// same bits. A row panel is [k][kRowPanel]; a column panel is [k][width], width a multiple of kUnit
// up to kMaxWidth; a tile of results is [kRowPanel][width].
#include <cstdint>

#include "runtime/numeric/cpu_isa.h"
#include "runtime/numeric/gemm.h"
#include "runtime/numeric/winograd_points.h"

namespace assay::dot {

inline constexpr int kRowPanel = 8;
template <typename T>
inline constexpr int kUnit = 64 / sizeof(T);
template <typename T>
inline constexpr int kMaxWidth = 3 * kUnit<T>;

// tile[r][j] = chain over k of fma(a[k][r], b[k][j], .), from +0; or tile + that when `add`. Rows
// of b are ldb elements apart.
template <typename T>
struct DotCall {
  int64_t k;
  const T* a;
  const T* b;
  int64_t ldb;
  T* tile;
  int rows;
  int cols;  // that exist; the results of the others up to width are undefined
  int width;
  bool add;
  // Every product is exact in T (widened float32): multiply and add then equal the fused form,
  // which spares machines without FMA its emulation.
  bool exact_products;
};

// As DotCall, and magnitude[r][j] += sum of |intermediate result| of this block, as computed in T.
template <typename T>
struct RunningCall {
  DotCall<T> dot;
  T* magnitude;
};

// A run of `count` <= kUnit neighbouring source elements.
struct Piece {
  int32_t dst;
  int32_t count;
  int64_t src;
};

// dst[k][piece.dst + e] = base[row_offset[k] + piece.src + e], zero from column `valid` on. Pieces
// ascend and may be written past their end (a later piece or row overwrites that), so dst has kUnit
// elements of slack; `slack` says that the source may be read kUnit elements past the end of a
// piece too.
template <typename From, typename To>
struct PackCall {
  const From* base;
  const int64_t* row_offset;
  int64_t k;
  const Piece* pieces;
  int piece_count;
  int width;
  int valid;
  bool slack;
  To* dst;
};

// sums[j] = chain over the taps of fma(weights[t], base[offset[t] + j], .) from +0 for j < width (a
// multiple of kUnit); squares[j] = sum of base[...]^2, some order, unless null. The source may be
// read up to `width`.
template <typename From, typename To>
struct DepthwiseCall {
  const From* base;
  const int64_t* offset;
  const To* weights;
  int64_t taps;
  int width;
  To* sums;
  To* squares;
  bool exact_products;
};

// Addend of a tile, pointing at its element (0, 0); col_stride is 0 or 1 (for a residual of
// ZivCall: 1).
template <typename T>
struct TileAddend {
  const T* data = nullptr;
  int64_t row_stride = 0;
  int64_t col_stride = 0;
};

// The last step of a correctly rounded tile. With s the computed sum and r its radius
//   r = row_radius[i] * col_norm[j] + addend_radius * (|beta * addend| + |residual|),
// out = float(s - r) where that equals float(s + r) and is not zero. All other elements are
// flagged: zero[i] bit j when s = r = 0 (the value is an exact zero), undecided[i] bit j otherwise.
struct ZivCall {
  const double* tile;
  int rows;
  int cols;
  int width;
  const double* row_radius;
  const double* col_norm;
  double alpha;
  double beta;
  double addend_radius;
  TileAddend<float> addend;
  TileAddend<float> residual;
  float* out;
  int64_t out_stride;
  uint32_t* undecided;
  uint32_t* zero;
};

// The last steps of a canonical tile, see gemm.h.
template <typename T>
struct FinishCall {
  const T* tile;
  int rows;
  int cols;
  int width;
  T alpha;
  T beta;
  TileAddend<T> addend;
  TileAddend<T> residual;
  T* out;
  int64_t out_stride;
};

// The transforms of winograd.h in float64. Inputs: lines of six, [lines][6][width], to
// six points each, to[point * point_step + line * line_step + j], j < width. The squares of the
// points are added to squares[point * squares_step + j].
struct WinogradInputsCall {
  const double* from;
  int64_t lines;
  int width;  // a multiple of kUnit
  double* to;
  int64_t line_step;
  int64_t point_step;
  double* squares;
  int64_t squares_step;
};

// Kernels [channels][kernel_rows][3][kRowPanel] to two of the six points, [kernel_rows][channels]
// [kRowPanel] each, the second `second` elements behind the first. Pairs: 0 and infinity, +-near,
// +-far.
struct WinogradKernelsCall {
  const float* from;
  int64_t channels;
  int64_t kernel_rows;
  int pair;
  double* to;
  int64_t second;
};

// From 6 points [point_step][rows][width] to four neighbouring outputs each: to[r * out_width + 4 *
// j + (0 to 3)].
struct WinogradOutputsCall {
  const double* from;
  int rows;
  int width;
  int64_t point_step;
  double* to;
  int64_t out_width;
};

struct Kernels {
  void (*dot_f64)(const DotCall<double>&);
  void (*dot_f32)(const DotCall<float>&);
  void (*running_f64)(const RunningCall<double>&);
  void (*running_f32)(const RunningCall<float>&);
  void (*widen)(const float* src, double* dst, int64_t count);
  // sums[j] += sum_k panel[k][j]^2, some order; only used with inflation.
  void (*square_sums)(const double* panel, int64_t k, int width, double* sums);
  void (*pack_wide)(const PackCall<float, double>&);
  void (*pack_f64)(const PackCall<double, double>&);
  void (*pack_f32)(const PackCall<float, float>&);
  void (*depthwise_wide)(const DepthwiseCall<float, double>&);
  void (*depthwise_f64)(const DepthwiseCall<double, double>&);
  void (*depthwise_f32)(const DepthwiseCall<float, float>&);
  void (*ziv)(const ZivCall&);
  void (*finish_f64)(const FinishCall<double>&);
  void (*finish_f32)(const FinishCall<float>&);
  // Null without fused multiply-add, whose emulation costs more than the products saved.
  void (*winograd_inputs)(const WinogradInputsCall&);
  void (*winograd_kernels)(const WinogradKernelsCall&);
  void (*winograd_outputs)(const WinogradOutputsCall&);
};

extern const Kernels kSse2Kernels;
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;

// The table for current_isa().
const Kernels& kernels();

}  // namespace assay::dot
