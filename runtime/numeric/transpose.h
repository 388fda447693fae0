// Matrix transposition in tiles: both sides stay within a few cache lines.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/numeric/parallel.h"

namespace assay {

/// to[c * rows + r] = from[r * ld + c] for r in [0, rows), c in [0, columns); `ld` is the distance
/// of two rows of `from`. Columns are spread over threads.
template <class T>
void transpose_tiles(const T* from, std::int64_t ld, std::int64_t rows, std::int64_t columns,
                     T* to) {
  constexpr std::int64_t wide = 16, high = 64;
  const auto tiles = [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t c0 = first * wide; c0 < std::min(columns, last * wide); c0 += wide) {
      const std::int64_t c1 = std::min(columns, c0 + wide);
      for (std::int64_t r0 = 0; r0 < rows; r0 += high) {
        const std::int64_t r1 = std::min(rows, r0 + high);
        for (std::int64_t c = c0; c < c1; ++c) {
          for (std::int64_t r = r0; r < r1; ++r) to[c * rows + r] = from[r * ld + c];
        }
      }
    }
  };
  const std::int64_t parts = (columns + wide - 1) / wide;
  if (columns * rows <= 1 << 15) return tiles(0, parts);
  parallel_for(0, parts, 1, tiles);
}

}  // namespace assay
