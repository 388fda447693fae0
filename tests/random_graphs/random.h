// The one source of randomness of the generated graphs: same seed, same graph, on every machine.
#pragma once

#include <cstdint>
#include <vector>

namespace assay::testing {

/// SplitMix64 (Steele, Lea, Flood 2014): every 64-bit seed starts an independent-looking sequence.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15U + 0x1234567U) {}

  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  /// In [0, n).
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(bits() >> 1) % n; }
  /// In [low, high].
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
  bool chance(double p) { return unit() < p; }
  /// In [0, 1).
  double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  /// Bell-shaped around 0 with variance 1: the sum of twelve uniform numbers less 6.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += unit();
    return sum;
  }
  template <class T>
  T pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(below(static_cast<std::int64_t>(from.size())))];
  }

 private:
  std::uint64_t state_;
};

}  // namespace assay::testing
