// y[i] = table[x[i]]. With AVX-512 four registers hold the table: with VBMI two permutations of
// bytes look up 64 codes, without it four permutations of pairs of bytes and a shift. Otherwise one
// load per code.
#include "kernels/native/code_table.h"

#include <immintrin.h>

#include "kernels/native/simd.h"

namespace assay::kernels {
namespace {

using Look = void (*)(const std::uint8_t* table, const std::uint8_t* x, std::uint8_t* y,
                      std::int64_t n);

void look_up(const std::uint8_t* table, const std::uint8_t* x, std::uint8_t* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = table[x[i]];
}

__attribute__((target("avx512f,avx512bw,avx512vbmi"))) void look_up_vbmi(const std::uint8_t* table,
                                                                         const std::uint8_t* x,
                                                                         std::uint8_t* y,
                                                                         std::int64_t n) {
  const __m512i t0 = _mm512_loadu_si512(table), t1 = _mm512_loadu_si512(table + 64),
                t2 = _mm512_loadu_si512(table + 128), t3 = _mm512_loadu_si512(table + 192);
  std::int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
    const __m512i codes = _mm512_loadu_si512(x + i);
    // A permutation over two registers reads the low seven bits; the eighth chooses the half.
    const __m512i low = _mm512_permutex2var_epi8(t0, codes, t1);
    const __m512i high = _mm512_permutex2var_epi8(t2, codes, t3);
    _mm512_storeu_si512(y + i, _mm512_mask_mov_epi8(low, _mm512_movepi8_mask(codes), high));
  }
  look_up(table, x + i, y + i, n - i);
}

// Entries 2j and 2j + 1 lie in one 16-bit word j. For codes of 0 to 255 in 16-bit lanes.
__attribute__((target("avx512f,avx512bw"), always_inline)) inline __m512i look_up_pairs(
    const __m512i (&t)[4], __m512i codes) {
  const __m512i word = _mm512_srli_epi16(codes, 1);
  const __m512i low = _mm512_permutex2var_epi16(t[0], word, t[1]);
  const __m512i high = _mm512_permutex2var_epi16(t[2], word, t[3]);
  const __mmask32 upper = _mm512_test_epi16_mask(word, _mm512_set1_epi16(64));
  const __m512i pair = _mm512_mask_mov_epi16(low, upper, high);
  const __m512i shift = _mm512_slli_epi16(_mm512_and_si512(codes, _mm512_set1_epi16(1)), 3);
  return _mm512_and_si512(_mm512_srlv_epi16(pair, shift), _mm512_set1_epi16(0xFF));
}

__attribute__((target("avx512f,avx512bw"))) void look_up_words(const std::uint8_t* table,
                                                               const std::uint8_t* x,
                                                               std::uint8_t* y, std::int64_t n) {
  const __m512i t[4] = {_mm512_loadu_si512(table), _mm512_loadu_si512(table + 64),
                        _mm512_loadu_si512(table + 128), _mm512_loadu_si512(table + 192)};
  std::int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
    const __m512i codes = _mm512_loadu_si512(x + i);
    const __m512i even = look_up_pairs(t, _mm512_and_si512(codes, _mm512_set1_epi16(0xFF)));
    const __m512i odd = look_up_pairs(t, _mm512_srli_epi16(codes, 8));
    _mm512_storeu_si512(y + i, _mm512_or_si512(even, _mm512_slli_epi16(odd, 8)));
  }
  look_up(table, x + i, y + i, n - i);
}

Look best_look_up() {
  if (isa_has_avx512_vbmi()) return look_up_vbmi;
  return isa_has_avx512() ? look_up_words : look_up;
}

class TableKernel : public Kernel {
 public:
  TableKernel(const CodeTable& table, std::int64_t n)
      : table_(table), size_(n), look_up_(best_look_up()) {}
  void bind(const Binding& b) override { binding_ = b; }
  void run() override {
    const auto* x = reinterpret_cast<const std::uint8_t*>(binding_.inputs[0]);
    auto* y = reinterpret_cast<std::uint8_t*>(binding_.outputs[0]);
    split_work(size_, 16384, [&](std::int64_t begin, std::int64_t end) {
      look_up_(table_.data(), x + begin, y + begin, end - begin);
    });
  }
  std::string implementation() const override { return "native:table"; }

 private:
  CodeTable table_;
  std::int64_t size_;
  Look look_up_;
  Binding binding_;
};

}  // namespace

std::unique_ptr<Kernel> make_code_table(const CodeTable& table, std::int64_t n) {
  return std::make_unique<TableKernel>(table, n);
}

}  // namespace assay::kernels
