#pragma once
// What happens to a finished tile: the canonical last steps, or the test for correct rounding.
#include <cstdint>
#include <vector>

#include "runtime/numeric/gemm_driver.h"
#include "runtime/numeric/gemm_exact.h"
#include "runtime/numeric/parallel.h"
#include "runtime/numeric/proved.h"

namespace assay::dot {

// Where the outputs and addends of problem p are: out + p * out_step, addend + (p % addend_period)
// * addend_step, residual + p * residual_step. Column strides of addends are 0 or 1.
template <typename T>
struct OutputPlan {
  T* out = nullptr;
  int64_t out_step = 0;
  int64_t out_stride = 0;  // between rows
  double alpha = 1.0;
  double beta = 1.0;
  Addend<T> addend;
  int64_t addend_period = 1;
  int64_t addend_step = 0;
  Addend<T> residual;
  int64_t residual_step = 0;
  const RangeFn* tail = nullptr;  // called on ranges of `out` that are done, as offsets from it
};

template <typename T>
TileAddend<T> place_addend(const Addend<T>& a, int64_t offset, int64_t row, int64_t col) {
  if (a.data == nullptr) return {};
  return {.data = a.data + offset + row * a.row_stride + col * a.col_stride,
          .row_stride = a.row_stride,
          .col_stride = a.col_stride};
}

// Fetches the output and residual elements of a tile ahead of the last step, which would wait for
// them.
template <typename T, typename Sum>
void prefetch_tile(const OutputPlan<T>& plan, const Tile<Sum>& tile) {
  const auto touch = [&](const T* first, int64_t stride) {
    for (int r = 0; r < tile.rows; ++r, first += stride)
      for (int j = 0; j < tile.cols.valid; j += 64 / static_cast<int>(sizeof(T)))
        __builtin_prefetch(first + j, 1, 3);
  };
  touch(plan.out + tile.problem * plan.out_step + tile.row * plan.out_stride + tile.cols.col,
        plan.out_stride);
  if (plan.residual.data != nullptr && plan.residual.data != plan.out)
    touch(plan.residual.data + tile.problem * plan.residual_step +
              tile.row * plan.residual.row_stride + tile.cols.col,
          plan.residual.row_stride);
}

template <typename T>
void run_tail(const OutputPlan<T>& plan, const DoneRows& done) {
  if (plan.tail == nullptr) return;
  const int64_t count = done.last_col - done.first_col;
  const int64_t first = done.problem * plan.out_step + done.row * plan.out_stride + done.first_col;
  if (count == plan.out_stride) return (*plan.tail)(first, first + done.rows * count);
  for (int64_t r = 0; r < done.rows; ++r)
    (*plan.tail)(first + r * plan.out_stride, first + r * plan.out_stride + count);
}

template <typename T>
class CanonicalSink final : public TileSink<T> {
 public:
  explicit CanonicalSink(const OutputPlan<T>& plan) : plan_(plan) {}
  void take(const Tile<T>& tile) const override;
  void prepare(const Tile<T>& tile) const override { prefetch_tile(plan_, tile); }
  void finish(const DoneRows& done) const override { run_tail(plan_, done); }

 private:
  OutputPlan<T> plan_;
};

// Hands over the factors of one output (those that take part), without the addends.
class TermSource {
 public:
  virtual ~TermSource() = default;
  virtual void collect(int64_t problem, int64_t row, int64_t col, DotTerms& terms) const = 0;
  // All k products of one output of float operands, zeros where a tap does not take part.
  virtual void products(int64_t problem, int64_t row, int64_t col, double* out) const = 0;
};

// Rows have norms[(problem % norm_problems) * rows + row].
struct RowNorms {
  const double* norms = nullptr;
  int64_t problems = 1;
  int64_t rows = 0;
};

// What the sums are made of: k products each; their radius is `unit` times row norm times column
// norm.
struct SumError {
  int64_t k = 0;
  ProvedRadius unit;
};

// Of the plain sum of k products in chains of `block`, see gemm_sinks.cpp for the proof.
SumError dot_error(int64_t k, int64_t block = kDotBlock);

class CorrectSink final : public TileSink<double> {
 public:
  CorrectSink(const OutputPlan<float>& plan, const RowNorms& norms, const SumError& error,
              const TermSource& terms);
  void take(const Tile<double>& tile) const override;
  void prepare(const Tile<double>& tile) const override { prefetch_tile(plan_, tile); }
  void finish(const DoneRows& done) const override { run_tail(plan_, done); }

 private:
  struct Flagged;
  float settle_one(int64_t problem, int64_t row, int64_t col, DotTerms& terms) const;
  void settle_flagged(const Tile<double>& tile, const Flagged& flagged) const;

  OutputPlan<float> plan_;
  int64_t k_;
  int64_t norm_problems_, norm_rows_;
  double unit_;                 // SumError::unit
  std::vector<double> radius_;  // per row: unit * |alpha| * norm
  const TermSource& terms_;
};

// depth * 2^-53 (1 + 2^-20), see gemm_sinks.cpp for the proof.
double radius_unit(int64_t k, int64_t block = kDotBlock);

// For tests only: scales every radius of CorrectSink. With a factor below 1 the test for correct
// rounding is no longer proved, and tests check that wrong results then do turn up. Not to be
// called while a kernel runs.
void set_radius_scale_for_test(double scale);

}  // namespace assay::dot
