// The roofline of this machine, measured by the program's own kernels: how fast large products run,
// and how fast memory streams.
#pragma once

#include <cstdint>

namespace assay::bench {

struct Roofline {
  double f32_gflops =
      0;  ///< best of a few large float32 matrix products; a multiply-add counts as two
  double int8_gops = 0;  ///< the same for u8 x s8
  double gbytes = 0;     ///< read plus write of a buffer larger than the second-level cache, GB/s

  /// Highest rate that work of this kind can reach: min(peak, intensity * bandwidth), in 10^9
  /// operations per second.
  double limit(bool integer, std::int64_t macs, std::int64_t bytes) const;
};

/// Takes about half a second.
Roofline measure_roofline(int threads);

}  // namespace assay::bench
