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

// element(problem, line, k) is the code in signed form; zero(problem, line) its zero point in that
// form.
template <typename Element, typename Zero>
void int_pack_rows(IntRowPanels& w, const Element& element, const Zero& zero) {
  w.data.assign(static_cast<size_t>(w.problems * w.panels() * w.quads() * kIntRows * 4), 0);
  for (int64_t p = 0; p < w.problems; ++p)
    for (int64_t i = 0; i < w.lines; ++i) {
      int8_t* at = w.data.data() + (p * w.panels() + i / kIntRows) * w.quads() * kIntRows * 4 +
                   i % kIntRows * 4;
      int32_t sum = 0;
      for (int64_t k = 0; k < w.k; ++k) {
        const int8_t code = element(p, i, k);
        at[k / 4 * kIntRows * 4 + k % 4] = code;
        sum += code;
      }
      w.sums.push_back(sum);
      w.zeros.push_back(zero(p, i));
      w.any_zero = w.any_zero || w.zeros.back() != 0;
    }
}

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

// Signed form of a code.
inline int8_t signed_code(const Codes8& c, int64_t i) {
  if (c.is_signed) return static_cast<const int8_t*>(c.data)[i];
  return static_cast<int8_t>(static_cast<const uint8_t*>(c.data)[i] ^ 0x80U);
}
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
// Codes in unsigned form with `slack` zero bytes after them.
std::vector<uint8_t> unsigned_codes(const Codes8& c, int64_t count, int64_t slack);

// True when no sum of k terms can leave int32, whatever the codes are.
bool int32_is_enough(const Codes8& a, const Codes8& b, int64_t k);

}  // namespace assay::dot
