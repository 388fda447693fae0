// y[i] = table[x[i]]: with AVX-512 VBMI four registers hold the table and two permutations look up
// 64 codes; otherwise one load per code (16 shuffles for 64 codes, without VBMI, were no faster).
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

class TableKernel : public Kernel {
 public:
  TableKernel(const CodeTable& table, std::int64_t n)
      : table_(table), size_(n), look_up_(isa_has_avx512_vbmi() ? look_up_vbmi : look_up) {}
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
