// Shapes: sizes with checked arithmetic, strides, broadcasting.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// The sizes of a tensor, outermost first; an empty shape is a scalar. Zero is a legal size,
/// negative is not.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dims) : dims_(dims) {}
  explicit Shape(std::vector<std::int64_t> dims) : dims_(std::move(dims)) {}

  std::int64_t rank() const { return static_cast<std::int64_t>(dims_.size()); }
  /// Size of axis `i`; negative counts from the end. `i` must be in range.
  std::int64_t operator[](std::int64_t i) const { return dims_[index(i)]; }
  std::int64_t& operator[](std::int64_t i) { return dims_[index(i)]; }
  std::span<const std::int64_t> dims() const { return dims_; }
  const std::vector<std::int64_t>& vec() const { return dims_; }

  /// Number of elements. Throws Error when a size is negative or the product leaves 63 bits.
  std::int64_t numel() const;
  /// Product of the sizes in [first, last).
  std::int64_t numel(std::int64_t first, std::int64_t last) const;
  /// Row-major strides in elements.
  std::vector<std::int64_t> strides() const;

  bool operator==(const Shape&) const = default;

 private:
  std::size_t index(std::int64_t i) const {
    return static_cast<std::size_t>(i < 0 ? i + rank() : i);
  }
  std::vector<std::int64_t> dims_;
};

/// "[1, 3, 224, 224]"
std::string to_string(const Shape& s);

/// Multidirectional (NumPy) broadcasting; nullopt when the shapes do not fit.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);

/// Strides that read a tensor of shape `from` as if it had the shape `to` (0 on repeated axes, rank
/// of `to`).
std::vector<std::int64_t> broadcast_strides(const Shape& from, const Shape& to);

/// `axis` counted from 0. Throws Error when outside [-rank, rank).
std::int64_t normalize_axis(std::int64_t axis, std::int64_t rank);

}  // namespace assay
