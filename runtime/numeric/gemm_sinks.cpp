// Proof of the radius of a correctly rounded tile.
//
// Operands are float32, so every product a*b is exact in double (48 bits, exponents -298..255) and
// no operation here can underflow or overflow while the operands are finite. With u = 2^-53, block
// chains of at most B terms lose at most B - 1 roundings, adding the blocks at
// most ceil(k/B) - 1, the product with alpha 1, addend and residual 1 each (beta * c is exact). So
// the computed sum is
//   s = sum_k alpha a_k b_k (1 + t_k) + beta c (1 + t') + res (1 + t''),   |t| <= gamma_d, d =
//   min(k,B) + ceil(k/B) + 1
// and |s - exact| <= gamma_d M with M = |alpha| sum|a||b| + |beta c| + |res|, gamma_d = d u / (1 -
// d u) (Higham, lemma 3.1). By Cauchy-Schwarz sum|a||b| <= |a|_2 |b|_2. The ends s - r and s + r
// are rounded themselves, by at most u(|s| + r)
// <= 2u (1 + small) M + u r: two more units of depth and a relative 2^-52. We take depth = d + 4
// and multiply by (1 + 2^-20), which covers 1/(1 - d u) (d u < 2^-22 for k < 2^39), the rounding of
// the two norms (relative error below (k + 4) u each, k < 2^30) and of the radius itself. Hence the
// exact value lies between the two computed ends, and as rounding to float is monotone, equal ends
// are the answer. Norms of non-finite operands are inf or NaN, every comparison then fails and the
// element is settled by the exact tier, as is every zero (its sign needs the addends).
#include "runtime/numeric/gemm_sinks.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "runtime/numeric/proved.h"

namespace assay::dot {
namespace {

double radius_scale = 1.0;

void call_finish(const FinishCall<float>& call) { kernels().finish_f32(call); }
void call_finish(const FinishCall<double>& call) { kernels().finish_f64(call); }

}  // namespace

double radius_unit(int64_t k, int64_t block) {
  const int64_t depth = std::min(k, block) + (k + block - 1) / block + 5;
  return static_cast<double>(depth) * 0x1p-53 * (1.0 + 0x1p-20);
}

SumError dot_error(int64_t k, int64_t block) {
  return {.k = k, .unit = proved<"float32, dot product">(radius_unit(k, block) * radius_scale)};
}

void set_radius_scale_for_test(double scale) { radius_scale = scale; }

template <typename T>
void CanonicalSink<T>::take(const Tile<T>& tile) const {
  const OutputPlan<T>& p = plan_;
  const int64_t row = tile.row, col = tile.cols.col;
  call_finish(FinishCall<T>{
      .tile = tile.sums,
      .rows = tile.rows,
      .cols = tile.cols.valid,
      .width = tile.cols.width,
      .alpha = static_cast<T>(p.alpha),
      .beta = static_cast<T>(p.beta),
      .addend = place_addend(p.addend, tile.problem % p.addend_period * p.addend_step, row, col),
      .residual = place_addend(p.residual, tile.problem * p.residual_step, row, col),
      .out = p.out + tile.problem * p.out_step + row * p.out_stride + col,
      .out_stride = p.out_stride});
}

template class CanonicalSink<float>;
template class CanonicalSink<double>;

CorrectSink::CorrectSink(const OutputPlan<float>& plan, const RowNorms& norms,
                         const SumError& error, const TermSource& terms)
    : plan_(plan),
      k_(error.k),
      norm_problems_(norms.problems),
      norm_rows_(norms.rows),
      unit_(error.unit.value),
      radius_(norms.norms, norms.norms + norms.problems * norms.rows),
      terms_(terms) {
  for (double& r : radius_) r *= unit_ * std::fabs(plan.alpha);
}

struct CorrectSink::Flagged {
  int row;
  uint32_t columns;
  uint32_t zero;  // among them, those that are exactly 0
  TileAddend<float> addend, residual;
};

void CorrectSink::take(const Tile<double>& tile) const {
  const OutputPlan<float>& p = plan_;
  const int64_t row = tile.row, col = tile.cols.col;
  const auto addend =
      place_addend(p.addend, tile.problem % p.addend_period * p.addend_step, row, col);
  auto residual = place_addend(p.residual, tile.problem * p.residual_step, row, col);
  float* out = p.out + tile.problem * p.out_step + row * p.out_stride + col;
  // A residual in place would be overwritten before the flagged elements have read it.
  float saved[kRowPanel * kMaxWidth<double>];
  if (residual.data == out) {
    for (int r = 0; r < tile.rows; ++r)
      std::copy_n(out + r * p.out_stride, tile.cols.valid, saved + r * kMaxWidth<double>);
    residual = {.data = saved, .row_stride = kMaxWidth<double>, .col_stride = 1};
  }
  uint32_t undecided[kRowPanel], zero[kRowPanel];
  kernels().ziv(
      ZivCall{.tile = tile.sums,
              .rows = tile.rows,
              .cols = tile.cols.valid,
              .width = tile.cols.width,
              .row_radius = radius_.data() + tile.problem % norm_problems_ * norm_rows_ + row,
              .col_norm = tile.col_norm,
              .alpha = p.alpha,
              .beta = p.beta,
              .addend_radius = unit_,
              .addend = addend,
              .residual = residual,
              .out = out,
              .out_stride = p.out_stride,
              .undecided = undecided,
              .zero = zero});
  for (int r = 0; r < tile.rows; ++r) {
    const uint32_t columns = undecided[r] | zero[r];
    if (columns == 0) continue;
    settle_flagged(
        tile,
        {.row = r, .columns = columns, .zero = zero[r], .addend = addend, .residual = residual});
  }
}

float CorrectSink::settle_one(int64_t problem, int64_t row, int64_t col, DotTerms& terms) const {
  if (plan_.alpha == 1.0) {
    double* products = scratch<double>(Slot::extra, k_);
    terms_.products(problem, row, col, products);
    const auto quick = settle_products({products, static_cast<size_t>(k_)}, terms);
    if (quick) return *quick;
  }
  terms_.collect(problem, row, col, terms);
  return settle<float>(terms);
}

void CorrectSink::settle_flagged(const Tile<double>& tile, const Flagged& flagged) const {
  const OutputPlan<float>& p = plan_;
  thread_local DotTerms terms;
  const int64_t i = tile.row + flagged.row;
  float* out = p.out + tile.problem * p.out_step + i * p.out_stride + tile.cols.col;
  for (uint32_t columns = flagged.columns; columns != 0; columns &= columns - 1) {
    const int j = std::countr_zero(columns);
    terms.clear();
    terms.alpha = p.alpha;
    bool plus_zero = false;
    const auto extra = [&](double multiplier, const TileAddend<float>& t) {
      if (t.data == nullptr) return;
      const double value = t.data[flagged.row * t.row_stride + j * t.col_stride];
      terms.add_extra(multiplier, value);
      plus_zero = plus_zero || !std::signbit(multiplier * value);
    };
    extra(p.beta, flagged.addend);
    extra(1.0, flagged.residual);
    if (plus_zero && (flagged.zero >> j & 1U) != 0) {  // one addend +0 makes an exact zero +0
      out[j] = 0.0F;
      continue;
    }
    out[j] = settle_one(tile.problem, i, tile.cols.col + j, terms);
  }
}

}  // namespace assay::dot
