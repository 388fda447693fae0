#include "runtime/numeric/quantize.h"

#include <limits>

namespace assay {
namespace {

template <class T>
CodeRange range_of() {
  return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
}

}  // namespace

CodeRange code_range(DType t) {
  switch (t) {
    case DType::uint8:
      return range_of<std::uint8_t>();
    case DType::int8:
      return range_of<std::int8_t>();
    case DType::uint16:
      return range_of<std::uint16_t>();
    case DType::int16:
      return range_of<std::int16_t>();
    case DType::int32:
      return range_of<std::int32_t>();
    default:
      throw Error({.what = "not a type of codes",
                   .got = to_string(t),
                   .expected = "uint8, int8, uint16, int16 or int32",
                   .kind = ErrorKind::unsupported});
  }
}

}  // namespace assay
