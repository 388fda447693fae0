#include "validation/cli/fill.h"

namespace assay {
namespace {

/// SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t next(std::uint64_t& state) {
  std::uint64_t z = state += 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

std::uint64_t start(std::uint64_t seed, const std::string& name) {
  std::uint64_t state = seed;
  for (const char c : name) state = next(state) ^ static_cast<unsigned char>(c);
  return state;
}

template <class T>
T value(std::uint64_t bits) {
  if constexpr (sizeof(T) == 1 && !std::is_same_v<T, bool>) {
    return static_cast<T>(bits >> 56);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(bits >> 63);
  } else {
    const double unit = static_cast<double>(bits >> 40) * 0x1p-23 - 1.0;  // 24 bits in [-1, 1)
    return static_cast<T>(unit);
  }
}

}  // namespace

Tensor synthetic_tensor(DType dtype, const Shape& shape, std::uint64_t seed,
                        const std::string& name) {
  Tensor t(dtype, shape);
  std::uint64_t state = start(seed, name);
  visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    for (T& x : t.mutable_data<T>()) x = value<T>(next(state));
  });
  return t;
}

}  // namespace assay
