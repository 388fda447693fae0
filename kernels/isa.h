// The instruction set that the fast kernels may use: a cap for tests and comparisons, and what is
// in force.
#pragma once

#include <string>
#include <vector>

namespace assay::kernels {

/// Names that set_isa_cap takes, weakest first: "SSE41", "AVX2", "AVX2_VNNI", "AVX512_CORE", ...
std::vector<std::string> isa_names();

/// Caps the instruction set of every kernel made afterwards. Must come before the first Program of
/// the process. Throws Error for an unknown name, or when kernels exist already.
void set_isa_cap(const std::string& name);

/// What kernels use now: the CPU's best under the cap and under ONEDNN_MAX_CPU_ISA.
std::string effective_isa();

bool isa_has_avx2();
bool isa_has_avx512();
/// Byte permutations; oneDNN has no level of that name, AVX512_CORE_FP16 is the first that implies
/// it.
bool isa_has_avx512_vbmi();
/// True when 8-bit dot products are exact (VNNI or AMX in force), false when pairs saturate to 16
/// bits.
bool isa_has_vnni();
bool isa_has_avx2_vnni();
bool isa_has_amx();

}  // namespace assay::kernels
