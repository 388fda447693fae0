#include "runtime/ops/support/quantize_axis.h"

namespace assay {
namespace {

[[noreturn]] void misfit(const Shape& x, const Shape& scale, const std::string& expected) {
  throw Error({.what = "scale does not fit the tensor",
               .got = "scale " + to_string(scale) + " for " + to_string(x),
               .expected = expected});
}

}  // namespace

ScaleLayout::ScaleLayout(const Shape& x, const Shape& scale, std::int64_t axis,
                         std::int64_t block_size)
    : total_(x.numel()) {
  if (block_size < 0)
    throw Error({.what = "block_size is negative", .got = std::to_string(block_size)});
  if (block_size == 0 && scale.numel() == 1 && scale.rank() <= 1) {
    run_ = total_ == 0 ? 1 : total_;
    return;
  }
  axis = normalize_axis(axis, x.rank());
  size_ = x[axis];
  inner_ = x.numel(axis + 1, x.rank());
  if (block_size == 0) {
    if (scale.rank() != 1 || scale[0] != size_) {
      misfit(x, scale, "one scale, or one per entry of axis " + std::to_string(axis));
    }
    run_ = inner_ == 0 ? 1 : inner_;
    return;
  }
  block_ = block_size;
  blocks_ = (size_ + block_ - 1) / block_;
  Shape blocked = x;
  blocked[axis] = blocks_;
  if (!(scale == blocked)) misfit(x, scale, "shape " + to_string(blocked) + " for these blocks");
}

std::vector<std::int64_t> zero_points(const Tensor& zero_point, const Tensor& scale) {
  if (!zero_point.defined())
    return std::vector<std::int64_t>(static_cast<std::size_t>(scale.numel()));
  const bool both_single = zero_point.numel() == 1 && scale.numel() == 1;
  if (!both_single && !(zero_point.shape() == scale.shape())) {
    throw Error({.what = "zero point and scale differ in shape",
                 .got = to_string(zero_point.shape()) + " and " + to_string(scale.shape())});
  }
  return to_ints(zero_point);
}

}  // namespace assay
