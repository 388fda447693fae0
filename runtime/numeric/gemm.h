#pragma once
// Blocked matrix products with a written-down meaning for every bit.
//
//   out[i][j] = alpha * sum_k a[i][k] * b[k][j]  +  beta * addend[i][j]  +  residual[i][j]
//
// Canonical order (DotMode::canonical; float gives the `f32` evaluation, double the `f64` one).
//   The terms k = 0, 1, ... are cut into blocks of kDotBlock = 128. Inside a block there is one
//   chain of fused multiply-adds, s = fma(a[i][k], b[k][j], s), starting from s = +0. The block
//   results are then added in order, t = block_0; t = t + block_1; ... (a sum without terms is +0).
//   Then, each step rounded to T and left out when it does nothing:
//     t = alpha * t (alpha != 1);  t = t + (beta == 1 ? c : beta * c) (addend given);  t = t +
//     residual.
//   Kernels run many outputs side by side but never split a chain, so the bits depend on nothing
//   else.
//
// Correct rounding (DotMode::correct, the `cr` evaluation).
//   The line above is evaluated exactly in real numbers and rounded once to T, to nearest even.
//   alpha and beta count at their stored value. Non-finite operands follow IEEE 754: a NaN operand,
//   0 * inf or inf - inf give the canonical NaN (0x7FC00000); overflow after the one rounding gives
//   +-inf; an exact zero is +0 unless every addend (each product, addend, residual) is -0. With k =
//   0 and neither addend nor residual the result is +0. beta = 0 is the same as no addend.
//
// T = float, double. T = double under DotMode::correct takes an exact, slow path.
#include <cstdint>
#include <memory>
#include <utility>

namespace assay {

inline constexpr int64_t kDotBlock = 128;

enum class DotMode { canonical, correct };

// An optional matrix added to the result: element (i, j) is data[i * row_stride + j * col_stride];
// a stride of 0 broadcasts. data == nullptr: not there.
template <typename T>
struct Addend {
  const T* data = nullptr;
  int64_t row_stride = 0;
  int64_t col_stride = 0;
};

template <typename T>
struct GemmArgs {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  const T* a = nullptr;  // [m, k], or [k, m] when trans_a
  int64_t lda = 0;       // distance between rows as stored; 0 means dense
  bool trans_a = false;
  const T* b = nullptr;  // [k, n], or [n, k] when trans_b
  int64_t ldb = 0;
  bool trans_b = false;
  T* out = nullptr;  // [m, n]; must not overlap an operand, except that residual may equal out
  int64_t ldo = 0;
  double alpha = 1.0;  // attribute values, exactly as stored (float32 widened)
  double beta = 1.0;   // multiplies addend
  Addend<T> addend;
  Addend<T> residual;
};

// Packed right-hand operands or convolution weights, reusable between calls that use the same
// weights. Cheap to copy. Holds widened panels, norms and flags; independent of the instruction set
// in force.
class PackedWeights {
 public:
  struct Impl;
  PackedWeights() = default;
  explicit PackedWeights(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  bool empty() const { return impl_ == nullptr; }
  const Impl* impl() const { return impl_.get(); }

 private:
  std::shared_ptr<const Impl> impl_;
};

template <typename T>
void gemm(const GemmArgs<T>& args, DotMode mode);

// Packs args.b (k, n, ldb, trans_b are read) for gemm_packed. MatMul with constant weights.
template <typename T>
PackedWeights pack_gemm_weights(const GemmArgs<T>& args, DotMode mode);

// As gemm, with b packed before under the same mode and sizes. args.b must still be valid.
template <typename T>
void gemm_packed(const GemmArgs<T>& args, DotMode mode, const PackedWeights& b);

}  // namespace assay
