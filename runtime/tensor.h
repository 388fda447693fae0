// Tensor: element type, shape and a shared buffer. No arithmetic lives here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/dtype.h"
#include "runtime/shape.h"

namespace assay {

/// Largest single tensor Assay allocates, in bytes (default 2 GiB); a model may not ask for more.
/// Set by --max-tensor-bytes.
std::int64_t max_tensor_bytes();
void set_max_tensor_bytes(std::int64_t bytes);

/// Bytes of a tensor of this type and shape. Throws Error when the product leaves 63 bits.
std::int64_t bytes_of(DType dtype, const Shape& shape);

/// A dense row-major tensor. Copies share the buffer; whoever writes into a buffer must be its
/// maker.
class Tensor {
 public:
  Tensor() = default;
  /// Uninitialised, 64-byte aligned. Throws Error beyond max_tensor_bytes().
  Tensor(DType dtype, Shape shape);
  /// A view of memory that `owner` keeps alive (a mapped file, a part of another tensor).
  Tensor(DType dtype, Shape shape, std::shared_ptr<const std::byte> memory);

  template <class T>
  static Tensor of(Shape shape, std::span<const T> values);
  template <class T>
  static Tensor of(Shape shape, std::initializer_list<T> values) {
    return of<T>(std::move(shape), std::span<const T>(values.begin(), values.size()));
  }
  template <class T>
  static Tensor scalar(T value) {
    return of<T>(Shape{}, std::span<const T>(&value, 1));
  }
  static Tensor zeros(DType dtype, Shape shape);

  bool defined() const { return dtype_ != DType::undefined; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::int64_t numel() const { return numel_; }
  std::int64_t bytes() const { return numel_ * size_of(dtype_); }

  /// Typed access; an assertion when T is not the element type.
  template <class T>
  std::span<const T> data() const {
    check_type(dtype_of<T>);
    return {reinterpret_cast<const T*>(memory_.get()), static_cast<std::size_t>(numel_)};
  }
  template <class T>
  std::span<T> mutable_data() {
    check_type(dtype_of<T>);
    return {reinterpret_cast<T*>(const_cast<std::byte*>(memory_.get())),
            static_cast<std::size_t>(numel_)};
  }
  std::span<const std::byte> raw() const {
    return {memory_.get(), static_cast<std::size_t>(bytes())};
  }
  std::span<std::byte> mutable_raw() {
    return {const_cast<std::byte*>(memory_.get()), static_cast<std::size_t>(bytes())};
  }
  const std::shared_ptr<const std::byte>& memory() const { return memory_; }

  /// The same elements under another shape of equal size (shares the buffer).
  Tensor reshaped(Shape shape) const;
  /// An own copy of the elements.
  Tensor clone() const;
  /// Rows [begin, end) of the first axis, sharing the buffer.
  Tensor rows(std::int64_t begin, std::int64_t end) const;

 private:
  void check_type(DType t) const;
  DType dtype_ = DType::undefined;
  Shape shape_;
  std::int64_t numel_ = 0;
  std::shared_ptr<const std::byte> memory_;
};

/// Element conversion with one correct rounding (nearest even, saturating for float to integer is
/// NOT done: out-of-range float to integer gives the nearest bound, NaN gives 0). float32 to
/// float64 and dd is exact.
Tensor convert(const Tensor& t, DType to);

/// All elements as double (dd and 64-bit integers rounded), for reports and small parameter reads.
std::vector<double> to_doubles(const Tensor& t);
/// All elements of an integer (or bool) tensor. Throws Error for other types.
std::vector<std::int64_t> to_ints(const Tensor& t);

/// Same type, shape and bits.
bool same_bits(const Tensor& a, const Tensor& b);
/// "float32 [1, 3]"
std::string describe(const Tensor& t);

template <class T>
Tensor Tensor::of(Shape shape, std::span<const T> values) {
  Tensor t(dtype_of<T>, std::move(shape));
  ASSAY_ASSERT(t.numel() == static_cast<std::int64_t>(values.size()));
  auto out = t.mutable_data<T>();
  for (std::size_t i = 0; i < values.size(); ++i) out[i] = values[i];
  return t;
}

}  // namespace assay
