#include "runtime/shape.h"

#include <algorithm>

#include "runtime/error.h"

namespace assay {

std::int64_t Shape::numel() const { return numel(0, rank()); }

std::int64_t Shape::numel(std::int64_t first, std::int64_t last) const {
  std::int64_t n = 1;
  bool zero = false;
  for (std::int64_t i = first; i < last; ++i) {
    const std::int64_t d = dims_[static_cast<std::size_t>(i)];
    if (d < 0) throw Error({.what = "negative size in a shape", .got = to_string(*this)});
    zero = zero || d == 0;
    if (d != 0 && __builtin_mul_overflow(n, d, &n)) {
      throw Error({.what = "shape with more than 2^63 elements", .got = to_string(*this)});
    }
  }
  return zero ? 0 : n;
}

std::vector<std::int64_t> Shape::strides() const {
  std::vector<std::int64_t> s(dims_.size(), 1);
  for (std::int64_t i = rank() - 2; i >= 0; --i) {
    const auto k = static_cast<std::size_t>(i);
    s[k] = s[k + 1] * dims_[k + 1];
  }
  return s;
}

std::string to_string(const Shape& s) {
  std::string text = "[";
  for (std::int64_t i = 0; i < s.rank(); ++i) {
    text += (i ? ", " : "") + std::to_string(s[i]);
  }
  return text + "]";
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  const std::int64_t rank = std::max(a.rank(), b.rank());
  std::vector<std::int64_t> dims(static_cast<std::size_t>(rank));
  for (std::int64_t i = 1; i <= rank; ++i) {
    const std::int64_t x = i <= a.rank() ? a[-i] : 1;
    const std::int64_t y = i <= b.rank() ? b[-i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    dims[static_cast<std::size_t>(rank - i)] = x == 1 ? y : x;
  }
  return Shape(std::move(dims));
}

std::vector<std::int64_t> broadcast_strides(const Shape& from, const Shape& to) {
  const auto own = from.strides();
  std::vector<std::int64_t> s(static_cast<std::size_t>(to.rank()), 0);
  for (std::int64_t i = 1; i <= from.rank(); ++i) {
    if (from[-i] != 1)
      s[static_cast<std::size_t>(to.rank() - i)] = own[static_cast<std::size_t>(from.rank() - i)];
  }
  return s;
}

std::int64_t normalize_axis(std::int64_t axis, std::int64_t rank) {
  const std::int64_t a = axis < 0 ? axis + rank : axis;
  if (a < 0 || a >= rank) {
    throw Error(
        {.what = "axis out of range",
         .got = std::to_string(axis),
         .expected = "an axis in [-" + std::to_string(rank) + ", " + std::to_string(rank) + ")"});
  }
  return a;
}

}  // namespace assay
