#include "runtime/numeric/cpu_isa.h"

#include <algorithm>
#include <atomic>

namespace assay {
namespace {

std::atomic<int> cap{static_cast<int>(Isa::avx512)};

bool cpu_has_vnni() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512vnni") != 0;
}

Isa detect() {
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  const bool avx512 =
      __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  if (avx2 && avx512) return Isa::avx512;
  return avx2 ? Isa::avx2 : Isa::sse2;
}

}  // namespace

Isa detected_isa() {
  static const Isa isa = detect();
  return isa;
}

void set_isa_cap(Isa isa) { cap.store(static_cast<int>(isa)); }

Isa current_isa() {
  return static_cast<Isa>(std::min(static_cast<int>(detected_isa()), cap.load()));
}

bool isa_has_vnni() {
  static const bool vnni = cpu_has_vnni();
  return vnni && current_isa() == Isa::avx512;
}

const char* isa_name(Isa isa) {
  if (isa == Isa::avx512) return "avx512";
  return isa == Isa::avx2 ? "avx2" : "sse2";
}

}  // namespace assay
