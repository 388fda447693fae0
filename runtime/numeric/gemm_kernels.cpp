#include "runtime/numeric/gemm_kernels.h"

namespace assay::dot {

const Kernels& kernels() {
  switch (current_isa()) {
    case Isa::avx512:
      return kAvx512Kernels;
    case Isa::avx2:
      return kAvx2Kernels;
    case Isa::sse2:
      break;
  }
  return kSse2Kernels;
}

}  // namespace assay::dot
