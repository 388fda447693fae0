#pragma once
// Which instruction set the blocked kernels may use. Every kernel gives the same bits under each of
// them (see gemm.h), so the cap exists for tests and for finding a miscompiled build.

namespace assay {

enum class Isa { sse2 = 0, avx2 = 1, avx512 = 2 };

// What this CPU and operating system offer. avx2 implies FMA; avx512 implies F, BW, DQ and VL.
Isa detected_isa();

// True when 8-bit dot products (AVX512-VNNI) may be used under the current cap.
bool isa_has_vnni();

// Kernels use min(detected, cap). Not to be called while a kernel runs.
void set_isa_cap(Isa cap);
Isa current_isa();

const char* isa_name(Isa isa);

}  // namespace assay
