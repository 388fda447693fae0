#include "runtime/numeric/int_gemm.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdlib>
#include <limits>

#include "runtime/numeric/int_gemm_driver.h"
#include "runtime/numeric/parallel.h"
#include "runtime/numeric/transpose.h"

namespace assay {
namespace {

using namespace dot;

// Columns of a row-major [k][n] matrix in unsigned form.
class MatrixCols final : public IntColOperand {
 public:
  MatrixCols(const uint8_t* codes, int64_t k, int64_t n) : codes_(codes), k_(k), n_(n) {}
  void pack(int64_t, const ColPanel& panel, uint8_t* dst) const override {
    static constexpr uint8_t none[kIntUnit] = {};
    for (int64_t q = 0; q < (k_ + 3) / 4; ++q)
      for (int j = 0; j < panel.width; j += kIntUnit, dst += kIntUnit * 4) {
        const uint8_t* src[4];
        for (int64_t e = 0; e < 4; ++e) {
          const bool inside = q * 4 + e < k_ && j < panel.valid;
          src[e] = inside ? codes_ + (q * 4 + e) * n_ + panel.col + j : none;
        }
        interleave_quads(src, dst);
      }
  }

 private:
  const uint8_t* codes_;
  int64_t k_, n_;
};

int64_t a_index(const IntGemmArgs& g, int64_t i, int64_t k) {
  return i * (g.lda != 0 ? g.lda : g.k) + k;
}

int64_t b_index(const IntGemmArgs& g, int64_t k, int64_t j) {
  const int64_t ldb = g.ldb != 0 ? g.ldb : (g.trans_b ? g.k : g.n);
  return g.trans_b ? j * ldb + k : k * ldb + j;
}

std::vector<uint8_t> dense_columns(const IntGemmArgs& g) {
  std::vector<uint8_t> codes(static_cast<size_t>(g.k * g.n + 64), 0);
  const auto* src = static_cast<const uint8_t*>(g.b.data);
  if (g.trans_b) {
    transpose_tiles(src, g.ldb != 0 ? g.ldb : g.k, g.n, g.k, codes.data());
  } else {
    for (int64_t k = 0; k < g.k; ++k)
      std::copy_n(src + b_index(g, k, 0), g.n, codes.data() + k * g.n);
  }
  if (g.b.is_signed) flip_codes(codes.data(), g.k * g.n);
  return codes;
}

IntReport exact_report(const IntGemmArgs& g) {
  std::atomic<int64_t> overflowed{0}, largest{0};
  parallel_for(0, g.m, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      for (int64_t j = 0; j < g.n; ++j) {
        int64_t sum = 0;
        for (int64_t k = 0; k < g.k; ++k)
          sum += code_value(g.a, a_index(g, i, k), i) * code_value(g.b, b_index(g, k, j), j);
        if (sum != static_cast<int32_t>(sum)) overflowed.fetch_add(1);
        int64_t seen = largest.load();
        while (std::abs(sum) > seen && !largest.compare_exchange_weak(seen, std::abs(sum))) {
        }
      }
  });
  return {.overflowed = overflowed.load(), .max_abs = largest.load()};
}

}  // namespace

IntReport int_gemm(const IntGemmArgs& g) {
  assert(g.a.zero.size() <= 1 || static_cast<int64_t>(g.a.zero.size()) == g.m);
  assert(g.b.zero.size() <= 1 || static_cast<int64_t>(g.b.zero.size()) == g.n);
  IntRowPanels rows;
  rows.lines = g.m;
  rows.k = g.k;
  int_pack_rows(rows, g.a, g.lda != 0 ? g.lda : g.k);
  const std::vector<uint8_t> codes = dense_columns(g);
  const MatrixCols columns(codes.data(), g.k, g.n);
  IntRun run;
  run.cols = g.n;
  run.rows = &rows;
  run.columns = &columns;
  const int64_t zeros = std::max<int64_t>(1, static_cast<int64_t>(g.b.zero.size()));
  for (int64_t j = 0; j < zeros; ++j) run.col_zeros.push_back(unsigned_zero_point(g.b, j));
  run.out = g.out;
  run_int(run);
  return int32_is_enough(g.a, g.b, g.k) ? IntReport{} : exact_report(g);
}

int32_t dot_s16pair(std::span<const uint8_t> a, std::span<const int8_t> b) {
  assert(a.size() == b.size());
  uint32_t sum = 0;
  for (size_t k = 0; k < a.size(); k += 2) {
    const bool paired = k + 1 < a.size();
    const int32_t pair = a[k] * b[k] + (paired ? a[k + 1] * b[k + 1] : 0);
    sum += static_cast<uint32_t>(std::clamp<int32_t>(pair, std::numeric_limits<int16_t>::min(),
                                                     std::numeric_limits<int16_t>::max()));
  }
  return static_cast<int32_t>(sum);
}

}  // namespace assay
