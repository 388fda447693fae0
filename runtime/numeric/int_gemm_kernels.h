#pragma once
// Inner loops of the exact 8-bit dot products. Terms go in quads: a row panel is [k/4][kIntRows][4]
// int8, a column panel [k/4][width][4] uint8 with width a multiple of kIntUnit up to kIntMaxWidth,
// a tile [kIntRows][width] int32.
#include <cstdint>

namespace assay::dot {

inline constexpr int kIntRows = 8;
inline constexpr int kIntUnit = 16;
inline constexpr int kIntMaxWidth = 48;

// tile[r][j] = sum over quads of rows[q][r][e] * cols[q][j][e], wrapping in int32.
struct IntDotCall {
  int64_t quads;
  const int8_t* rows;
  const uint8_t* cols;
  int32_t* tile;
  int row_count;
  int width;
};

using IntDot = void (*)(const IntDotCall&);
void int_dot_sse2(const IntDotCall& call);
void int_dot_avx2(const IntDotCall& call);
void int_dot_vnni(const IntDotCall& call);

// The fastest one allowed by current_isa(). All give the same integers.
IntDot int_dot();

// Four source rows at the same columns, interleaved: dst[j][e] = src[e][j] for j < count (<= 16).
// Reads and writes whole vectors: 16 bytes of each source, 64 bytes of dst.
void interleave_quads(const uint8_t* const src[4], uint8_t* dst);

}  // namespace assay::dot
