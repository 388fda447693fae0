#include "kernels/isa.h"

#include "kernels/onednn/engine.h"

namespace assay::kernels {
namespace {

struct Named {
  const char* name;
  dnnl::cpu_isa isa;
};

// The names are those of oneDNN's own ONEDNN_MAX_CPU_ISA, weakest first.
constexpr Named names[] = {
    {"SSE41", dnnl::cpu_isa::sse41},
    {"AVX", dnnl::cpu_isa::avx},
    {"AVX2", dnnl::cpu_isa::avx2},
    {"AVX2_VNNI", dnnl::cpu_isa::avx2_vnni},
    {"AVX2_VNNI_2", dnnl::cpu_isa::avx2_vnni_2},
    {"AVX512_CORE", dnnl::cpu_isa::avx512_core},
    {"AVX512_CORE_VNNI", dnnl::cpu_isa::avx512_core_vnni},
    {"AVX512_CORE_BF16", dnnl::cpu_isa::avx512_core_bf16},
    {"AVX512_CORE_FP16", dnnl::cpu_isa::avx512_core_fp16},
    {"AVX512_CORE_AMX", dnnl::cpu_isa::avx512_core_amx},
    {"AVX512_CORE_AMX_FP16", dnnl::cpu_isa::avx512_core_amx_fp16},
    {"DEFAULT", dnnl::cpu_isa::isa_default},
};

std::string all_names() {
  std::string text;
  for (const Named& n : names) text += (text.empty() ? "" : ", ") + std::string(n.name);
  return text;
}

// The values are bit sets (dnnl_cpu_isa_t), each set holding those it builds on; VNNI is 0x8 at 256
// bits and 0x40 at 512.
bool isa_has(unsigned bits) {
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & bits) == bits;
}

bool isa_has(dnnl::cpu_isa isa) { return isa_has(static_cast<unsigned>(isa)); }

}  // namespace

std::vector<std::string> isa_names() {
  std::vector<std::string> list;
  for (const Named& n : names) list.push_back(n.name);
  return list;
}

void set_isa_cap(const std::string& name) {
  for (const Named& n : names) {
    if (name != n.name) continue;
    if (!engine_in_use() && dnnl::set_max_cpu_isa(n.isa) == dnnl::status::success) return;
    throw Error({.what = "the instruction set can only be capped before the first kernel is made",
                 .got = name,
                 .advice = "give --isa at the start, or set ONEDNN_MAX_CPU_ISA"});
  }
  throw Error({.what = "unknown instruction set",
               .got = "'" + name + "'",
               .expected = "one of " + all_names()});
}

std::string effective_isa() {
  const auto isa = dnnl::get_effective_cpu_isa();
  for (const Named& n : names) {
    if (n.isa == isa) return n.name;
  }
  return "unknown";
}

bool isa_has_avx2() { return isa_has(dnnl::cpu_isa::avx2); }
bool isa_has_avx512() { return isa_has(dnnl::cpu_isa::avx512_core); }
bool isa_has_avx512_vbmi() {
  return isa_has(dnnl::cpu_isa::avx512_core_fp16) && __builtin_cpu_supports("avx512vbmi");
}
bool isa_has_vnni() { return isa_has(0x8U) || isa_has(0x40U); }
bool isa_has_avx2_vnni() { return isa_has(0x8U); }
bool isa_has_amx() { return isa_has(dnnl::cpu_isa::avx512_core_amx); }

}  // namespace assay::kernels
