#include "runtime/tensor.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "runtime/numeric/block_map.h"

namespace assay {
namespace {

std::int64_t tensor_limit = std::int64_t{2} << 30;

std::int64_t checked_bytes(DType dtype, const Shape& shape) {
  const std::int64_t bytes = bytes_of(dtype, shape);
  if (bytes > tensor_limit) {
    throw Error({.what = "tensor is larger than the limit",
                 .got = to_string(dtype) + " " + to_string(shape),
                 .expected = "at most " + std::to_string(tensor_limit) + " bytes",
                 .advice = "raise --max-tensor-bytes if this is meant"});
  }
  return bytes;
}

/// Integer target: nearest even, out of range to the nearest bound, NaN to 0.
template <class To>
To integer_from_double(double x) {
  if (std::isnan(x)) return To{0};
  const double r = std::nearbyint(x);
  if (r <= static_cast<double>(std::numeric_limits<To>::min()))
    return std::numeric_limits<To>::min();
  if (r >= static_cast<double>(std::numeric_limits<To>::max()))
    return std::numeric_limits<To>::max();
  return static_cast<To>(r);
}

template <class From>
double as_double(From x) {
  if constexpr (std::is_same_v<From, dd>) {
    return dd_hi(x);
  } else {
    return static_cast<double>(x);
  }
}

/// The double to round in place of a dd: rounded to odd, so that a second rounding to 24 bits or
/// fewer is correct.
double odd_rounded(const dd& x) {
  const double hi = dd_hi(x);
  const double lo = dd_lo(x);
  if (lo == 0.0 || !std::isfinite(hi) || (std::bit_cast<std::uint64_t>(hi) & 1U) != 0) return hi;
  return std::nextafter(hi, lo > 0 ? std::numeric_limits<double>::infinity()
                                   : -std::numeric_limits<double>::infinity());
}

template <class To, class From>
To convert_element(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (std::is_same_v<To, bool>) {
    return as_double(x) != 0.0;
  } else if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
    return static_cast<To>(x);
  } else if constexpr (std::is_integral_v<To>) {
    return integer_from_double<To>(as_double(x));
  } else if constexpr (std::is_same_v<From, dd> && !std::is_same_v<To, double>) {
    return convert_element<To>(odd_rounded(x));
  } else if constexpr (std::is_same_v<To, dd>) {
    return dd(as_double(x));
  } else if constexpr (std::is_integral_v<From> && std::is_floating_point_v<To>) {
    return static_cast<To>(x);  // one rounding, straight from the integer
  } else {
    return static_cast<To>(as_double(x));
  }
}

}  // namespace

std::int64_t max_tensor_bytes() { return tensor_limit; }
void set_max_tensor_bytes(std::int64_t bytes) { tensor_limit = bytes; }

std::int64_t bytes_of(DType dtype, const Shape& shape) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(shape.numel(), size_of(dtype), &bytes)) {
    throw Error({.what = "tensor with more than 2^63 bytes",
                 .got = to_string(dtype) + " " + to_string(shape)});
  }
  return bytes;
}

Tensor::Tensor(DType dtype, Shape shape) : dtype_(dtype), shape_(std::move(shape)) {
  if (size_of(dtype) == 0) {
    throw Error({.what = "unsupported element type",
                 .got = to_string(dtype),
                 .kind = ErrorKind::unsupported});
  }
  const std::int64_t bytes = checked_bytes(dtype, shape_);
  numel_ = bytes / size_of(dtype);
  const std::size_t rounded = (static_cast<std::size_t>(bytes) + 127) / 64 * 64;
  void* memory = std::aligned_alloc(64, rounded);
  if (memory == nullptr) throw std::bad_alloc();
  memory_ = std::shared_ptr<const std::byte>(
      static_cast<std::byte*>(memory),
      [](const std::byte* p) { std::free(const_cast<std::byte*>(p)); });
}

Tensor::Tensor(DType dtype, Shape shape, std::shared_ptr<const std::byte> memory)
    : dtype_(dtype), shape_(std::move(shape)), numel_(shape_.numel()), memory_(std::move(memory)) {}

Tensor Tensor::zeros(DType dtype, Shape shape) {
  Tensor t(dtype, std::move(shape));
  std::memset(t.mutable_raw().data(), 0, t.raw().size());
  return t;
}

void Tensor::check_type(DType t) const { ASSAY_ASSERT(t == dtype_); }

Tensor Tensor::reshaped(Shape shape) const {
  if (shape.numel() != numel_) {
    throw Error({.what = "cannot reshape " + to_string(shape_),
                 .got = to_string(shape),
                 .expected = std::to_string(numel_) + " elements"});
  }
  return Tensor(dtype_, std::move(shape), memory_);
}

Tensor Tensor::clone() const {
  Tensor t(dtype_, shape_);
  if (bytes() > 0) std::memcpy(t.mutable_raw().data(), raw().data(), raw().size());
  return t;
}

Tensor Tensor::rows(std::int64_t begin, std::int64_t end) const {
  ASSAY_ASSERT(shape_.rank() > 0 && 0 <= begin && begin <= end && end <= shape_[0]);
  const std::int64_t row = shape_.numel(1, shape_.rank()) * size_of(dtype_);
  Shape part = shape_;
  part[0] = end - begin;
  return Tensor(dtype_, part,
                std::shared_ptr<const std::byte>(memory_, memory_.get() + begin * row));
}

Tensor convert(const Tensor& t, DType to) {
  if (t.dtype() == to) return t;
  Tensor result(to, t.shape());
  visit_dtype(t.dtype(), [&]<class From>(std::type_identity<From>) {
    visit_dtype(to, [&]<class To>(std::type_identity<To>) {
      map_all(t.data<From>().data(), result.mutable_data<To>().data(), t.numel(),
              [](const From& x) { return convert_element<To>(x); });
    });
  });
  return result;
}

std::vector<double> to_doubles(const Tensor& t) {
  std::vector<double> values(static_cast<std::size_t>(t.numel()));
  visit_dtype(t.dtype(), [&]<class T>(std::type_identity<T>) {
    map_all(t.data<T>().data(), values.data(), t.numel(), [](const T& x) { return as_double(x); });
  });
  return values;
}

std::vector<std::int64_t> to_ints(const Tensor& t) {
  if (!is_integer(t.dtype()) && t.dtype() != DType::boolean) {
    throw Error({.what = "not an integer tensor", .got = describe(t)});
  }
  std::vector<std::int64_t> values;
  values.reserve(static_cast<std::size_t>(t.numel()));
  visit_dtype(t.dtype(), [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) {
      for (const T x : t.data<T>()) values.push_back(static_cast<std::int64_t>(x));
    }
  });
  return values;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         (a.bytes() == 0 || std::memcmp(a.raw().data(), b.raw().data(), a.raw().size()) == 0);
}

std::string describe(const Tensor& t) { return to_string(t.dtype()) + " " + to_string(t.shape()); }

}  // namespace assay
