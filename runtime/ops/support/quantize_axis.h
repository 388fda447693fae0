// Which scale belongs to which element: one for the tensor, one per entry of an axis, or one per
// block along an axis (QuantizeLinear, DequantizeLinear).
#pragma once

#include <string>
#include <vector>

#include "runtime/op.h"

namespace assay {

/// Runs of consecutive elements that share a scale.
class ScaleLayout {
 public:
  /// `axis` and `block_size` are the attributes; throws Error when the scale's shape does not fit.
  ScaleLayout(const Shape& x, const Shape& scale, std::int64_t axis, std::int64_t block_size);

  /// Calls fn(first, last, scale index) over all elements in order.
  template <class F>
  void for_each_run(F&& fn) const {
    for (std::int64_t at = 0; at < total_; at += run_) fn(at, at + run_, index(at));
  }

 private:
  std::int64_t index(std::int64_t at) const {
    if (size_ == 1 && block_ == 0) return 0;
    const std::int64_t along = at / inner_ % size_;
    if (block_ == 0) return along;
    const std::int64_t outer = at / (inner_ * size_);
    return (outer * blocks_ + along / block_) * inner_ + at % inner_;
  }

  std::int64_t total_ = 0;
  std::int64_t run_ = 1;
  std::int64_t size_ = 1;   // along the axis
  std::int64_t inner_ = 1;  // product of the sizes after the axis
  std::int64_t block_ = 0;  // 0: not blocked
  std::int64_t blocks_ = 1;
};

/// Checks that a zero point (if given) has the scale's shape; returns it as integers, zeros if
/// absent.
std::vector<std::int64_t> zero_points(const Tensor& zero_point, const Tensor& scale);

}  // namespace assay
