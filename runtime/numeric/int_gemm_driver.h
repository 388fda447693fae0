#pragma once
// The loop nest of the exact 8-bit dot products. Rows are held as int8, columns as uint8; a code of
// the other signedness is shifted by 128, and its zero point with it, which changes no difference
// code - zero:
//   sum (c - zc)(r - zr) = sum c r - zc sum r - zr sum c + k zc zr,   all modulo 2^32.
#include <cstdint>
#include <vector>

#include "runtime/numeric/gemm_driver.h"
#include "runtime/numeric/int_gemm.h"
#include "runtime/numeric/int_gemm_kernels.h"

namespace assay::dot {

// Row panels [problem][panel][quads][kIntRows][4], k padded with 0; per line its sum and zero
// point.
struct IntRowPanels {
  int64_t problems = 1;
  int64_t lines = 0;
  int64_t k = 0;
  std::vector<int8_t> data;
  std::vector<int32_t> sums;
  std::vector<int32_t> zeros;
  bool any_zero = false;

  int64_t quads() const { return (k + 3) / 4; }
  int64_t panels() const { return (lines + kIntRows - 1) / kIntRows; }
};

// Packs every line of `codes`, stored one after the other at `stride` (k neighbouring codes each),
// problem by problem.
void int_pack_rows(IntRowPanels& rows, const Codes8& codes, int64_t stride);

// Fills a column panel [quads][width][4]; k padded with anything that meets a zero weight, but 0
// for the sums.
class IntColOperand {
 public:
  virtual ~IntColOperand() = default;
  virtual void pack(int64_t problem, const ColPanel& panel, uint8_t* dst) const = 0;
};

struct IntRun {
  int64_t problems = 1;
  int64_t cols = 0;
  const IntRowPanels* rows = nullptr;  // problem p uses rows p % rows->problems
  const IntColOperand* columns = nullptr;
  std::vector<int32_t> col_zeros;  // one, or one per column, in unsigned form
  int32_t* out = nullptr;          // [problems][lines][cols]
  bool transposed_out = false;     // [cols][lines] instead (one problem)
};

void run_int(const IntRun& run);

inline int32_t zero_point(const Codes8& c, int64_t i) {
  if (c.zero.empty()) return 0;
  return c.zero.size() == 1 ? c.zero[0] : c.zero[static_cast<size_t>(i)];
}
inline int32_t signed_zero_point(const Codes8& c, int64_t i) {
  return zero_point(c, i) - (c.is_signed ? 0 : 128);
}
inline int32_t unsigned_zero_point(const Codes8& c, int64_t i) {
  return zero_point(c, i) + (c.is_signed ? 128 : 0);
}
// The exact value code - zero.
inline int64_t code_value(const Codes8& c, int64_t i, int64_t line) {
  const int64_t code =
      c.is_signed ? static_cast<const int8_t*>(c.data)[i] : static_cast<const uint8_t*>(c.data)[i];
  return code - zero_point(c, line);
}
// Turns codes between signed and unsigned form in place: adds 128 modulo 256.
void flip_codes(uint8_t* codes, int64_t count);

// True when no sum of k terms can leave int32, whatever the codes are.
bool int32_is_enough(const Codes8& a, const Codes8& b, int64_t k);

}  // namespace assay::dot
