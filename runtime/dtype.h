// Element types: names, sizes, and the only type switch (visit_dtype).
//
// The numbers of the public types are those of ONNX's TensorProto.DataType. `dd` is Assay's own:
// double-double, used by the `dd` evaluation and never written to a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "runtime/error.h"
#include "runtime/numeric/dd.h"
#include "runtime/numeric/half.h"

namespace assay {

enum class DType : std::int32_t {
  undefined = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  string = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  uint64 = 13,
  bfloat16 = 16,
  dd = 1000,
};

/// "float32", "int8", "bool", ...; an unknown number gives "type 42".
std::string to_string(DType t);
/// The inverse of to_string; also takes "float" and "double".
std::optional<DType> parse_dtype(std::string_view name);
/// Bytes per element; 0 for string and undefined.
std::int64_t size_of(DType t);

bool is_float(DType t);    ///< float16, bfloat16, float32, float64, dd
bool is_integer(DType t);  ///< signed or unsigned, bool not included
bool is_signed(DType t);

template <class T>
inline constexpr DType dtype_of = DType::undefined;
template <>
inline constexpr DType dtype_of<float> = DType::float32;
template <>
inline constexpr DType dtype_of<double> = DType::float64;
template <>
inline constexpr DType dtype_of<dd> = DType::dd;
template <>
inline constexpr DType dtype_of<Half> = DType::float16;
template <>
inline constexpr DType dtype_of<BFloat16> = DType::bfloat16;
template <>
inline constexpr DType dtype_of<bool> = DType::boolean;
template <>
inline constexpr DType dtype_of<std::uint8_t> = DType::uint8;
template <>
inline constexpr DType dtype_of<std::int8_t> = DType::int8;
template <>
inline constexpr DType dtype_of<std::uint16_t> = DType::uint16;
template <>
inline constexpr DType dtype_of<std::int16_t> = DType::int16;
template <>
inline constexpr DType dtype_of<std::uint32_t> = DType::uint32;
template <>
inline constexpr DType dtype_of<std::int32_t> = DType::int32;
template <>
inline constexpr DType dtype_of<std::uint64_t> = DType::uint64;
template <>
inline constexpr DType dtype_of<std::int64_t> = DType::int64;

/// Calls `f(std::type_identity<T>{})` with the C++ type of `t`. Throws Error (unsupported) for
/// string and unknown types.
template <class F>
decltype(auto) visit_dtype(DType t, F&& f) {
  switch (t) {
    case DType::float32:
      return f(std::type_identity<float>{});
    case DType::float64:
      return f(std::type_identity<double>{});
    case DType::dd:
      return f(std::type_identity<dd>{});
    case DType::float16:
      return f(std::type_identity<Half>{});
    case DType::bfloat16:
      return f(std::type_identity<BFloat16>{});
    case DType::boolean:
      return f(std::type_identity<bool>{});
    case DType::uint8:
      return f(std::type_identity<std::uint8_t>{});
    case DType::int8:
      return f(std::type_identity<std::int8_t>{});
    case DType::uint16:
      return f(std::type_identity<std::uint16_t>{});
    case DType::int16:
      return f(std::type_identity<std::int16_t>{});
    case DType::uint32:
      return f(std::type_identity<std::uint32_t>{});
    case DType::int32:
      return f(std::type_identity<std::int32_t>{});
    case DType::uint64:
      return f(std::type_identity<std::uint64_t>{});
    case DType::int64:
      return f(std::type_identity<std::int64_t>{});
    default:
      throw Error({.what = "unsupported element type",
                   .got = to_string(t),
                   .kind = ErrorKind::unsupported});
  }
}

/// Calls `f(std::type_identity<T>{})` for the types that arithmetic is written for: float, double,
/// dd.
template <class F>
decltype(auto) visit_real(DType t, F&& f) {
  switch (t) {
    case DType::float32:
      return f(std::type_identity<float>{});
    case DType::float64:
      return f(std::type_identity<double>{});
    case DType::dd:
      return f(std::type_identity<dd>{});
    default:
      throw Error({.what = "unsupported element type",
                   .got = to_string(t),
                   .expected = "float32 or float64",
                   .kind = ErrorKind::unsupported});
  }
}

}  // namespace assay
