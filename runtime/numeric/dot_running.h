#pragma once
// The sink behind gemm_running and conv_running.
#include <cmath>
#include <limits>

#include "runtime/numeric/dot_radius.h"
#include "runtime/numeric/gemm_sinks.h"
#include "runtime/numeric/proved.h"

namespace assay::dot {

// radius[problem * step + row * stride + col].
struct RadiusPlan {
  double* data;
  int64_t step;
  int64_t stride;
};

// Every rounding of a result r errs by at most u|r| + eta/2, so the chain's error is at most
//   E = u * sum|r| + steps * eta / 2,   and the last steps give |alpha| E + u(|alpha t| + |beta c|
//   + |each sum|) + 3 eta.
// The kernel adds the |r| in T: at most kDotBlock additions in a block and one per block, a
// relative error below 2 d u (d their number), which `inflate` covers together with the roundings
// of this function in double.
template <typename T>
class RunningSink final : public TileSink<T> {
 public:
  RunningSink(const OutputPlan<T>& plan, int64_t k, const RadiusPlan& radius)
      : plan_(plan), radius_(radius) {
    const int64_t depth = std::min(k, kDotBlock) + k / kDotBlock + 8;
    const int64_t steps = k + k / kDotBlock + 8;
    inflate_ = (1.0 + 2.0 * static_cast<double>(depth) * kUnit) * (1.0 + 0x1p-40);
    underflow_ = static_cast<double>(steps) * kTiny * std::fmax(1.0, std::fabs(plan.alpha));
  }

  void take(const Tile<T>& tile) const override {
    for (int r = 0; r < tile.rows; ++r)
      for (int j = 0; j < tile.cols.valid; ++j) element(tile, r, j);
  }

 private:
  static constexpr double kUnit = sizeof(T) == 4 ? kUnitFloat : kUnitDouble;
  static constexpr double kTiny = sizeof(T) == 4 ? kTinyFloat : kTinyDouble;

  void element(const Tile<T>& tile, int r, int j) const {
    const int64_t row = tile.row + r, col = tile.cols.col + j;
    const int64_t at = static_cast<int64_t>(r) * tile.cols.width + j;
    T value = tile.sums[at];
    double size = static_cast<double>(tile.magnitudes[at]) * std::fabs(plan_.alpha);
    const auto rounded = [&](T result) {
      size += std::fabs(static_cast<double>(result));
      return result;
    };
    if (plan_.alpha != 1.0) value = rounded(static_cast<T>(plan_.alpha) * value);
    const auto addend = place_addend(
        plan_.addend, tile.problem % plan_.addend_period * plan_.addend_step, row, col);
    if (addend.data != nullptr) {
      const T term =
          plan_.beta == 1.0 ? *addend.data : rounded(static_cast<T>(plan_.beta) * *addend.data);
      value = rounded(value + term);
    }
    const auto residual =
        place_addend(plan_.residual, tile.problem * plan_.residual_step, row, col);
    if (residual.data != nullptr) value = rounded(value + *residual.data);
    if (std::isnan(value)) value = std::numeric_limits<T>::quiet_NaN();
    const double bound =
        proved<"dot product, canonical order">(kUnit * size * inflate_ + underflow_).value;
    radius_.data[tile.problem * radius_.step + row * radius_.stride + col] =
        std::isfinite(static_cast<double>(value)) && !std::isnan(bound)
            ? bound
            : std::numeric_limits<double>::infinity();
    plan_.out[tile.problem * plan_.out_step + row * plan_.out_stride + col] = value;
  }

  OutputPlan<T> plan_;
  RadiusPlan radius_;
  double inflate_ = 1.0, underflow_ = 0.0;
};

}  // namespace assay::dot
