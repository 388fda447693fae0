#include "runtime/ops/support/elementwise.h"

#include <algorithm>

namespace assay::ops {
namespace {

/// The output's axes with neighbours merged where every operand walks them as one.
struct Walk {
  std::vector<std::int64_t> sizes;                 // outermost first, at least one axis
  std::vector<std::vector<std::int64_t>> strides;  // per axis, per operand
};

bool merges(const std::vector<std::int64_t>& outer, const std::vector<std::int64_t>& inner,
            std::int64_t inner_size) {
  for (std::size_t i = 0; i < outer.size(); ++i) {
    if (outer[i] != inner[i] * inner_size) return false;
  }
  return true;
}

Walk plan(const Shape& out, std::span<const Shape> operands) {
  std::vector<std::vector<std::int64_t>> per_operand;
  for (const Shape& s : operands) per_operand.push_back(broadcast_strides(s, out));
  Walk walk;
  for (std::int64_t axis = 0; axis < out.rank(); ++axis) {
    if (out[axis] == 1) continue;
    std::vector<std::int64_t> strides;
    for (const auto& s : per_operand) strides.push_back(s[static_cast<std::size_t>(axis)]);
    if (!walk.sizes.empty() && merges(walk.strides.back(), strides, out[axis])) {
      walk.sizes.back() *= out[axis];
      walk.strides.back() = strides;
    } else {
      walk.sizes.push_back(out[axis]);
      walk.strides.push_back(strides);
    }
  }
  if (walk.sizes.empty()) {
    walk.sizes.push_back(1);
    walk.strides.emplace_back(operands.size(), 0);
  }
  return walk;
}

/// Offsets of the operands at outer position `index`.
void locate(const Walk& walk, std::int64_t index, std::vector<std::int64_t>& offset) {
  std::fill(offset.begin(), offset.end(), 0);
  for (std::size_t axis = walk.sizes.size() - 1; axis-- > 0;) {
    const std::int64_t at = index % walk.sizes[axis];
    index /= walk.sizes[axis];
    for (std::size_t i = 0; i < offset.size(); ++i) offset[i] += at * walk.strides[axis][i];
  }
}

}  // namespace

void for_each_run(const Shape& out, std::span<const Shape> operands,
                  const std::function<void(const Run&)>& fn) {
  const std::int64_t total = out.numel();
  if (total == 0) return;
  const Walk walk = plan(out, operands);
  const std::int64_t inner = walk.sizes.back();
  const std::vector<std::int64_t>& step = walk.strides.back();
  const std::int64_t piece = std::min(inner, kElementGrain);
  const std::int64_t pieces = (inner + piece - 1) / piece;
  const std::int64_t grain = std::max<std::int64_t>(1, kElementGrain / piece);
  parallel_for(0, total / inner * pieces, grain, [&](std::int64_t first, std::int64_t last) {
    std::vector<std::int64_t> offset(operands.size());
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t begin = i % pieces * piece;
      locate(walk, i / pieces, offset);
      for (std::size_t k = 0; k < offset.size(); ++k) offset[k] += begin * step[k];
      fn({.first = i / pieces * inner + begin,
          .count = std::min(piece, inner - begin),
          .offset = offset,
          .step = step});
    }
  });
}

}  // namespace assay::ops
