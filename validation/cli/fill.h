// Seeded numbers for inputs that nobody gives.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/tensor.h"

namespace assay {

/// Floats uniform in [-1, 1) on a grid of 2^-23; integers 0 or 1 (they are indices, masks or counts
/// more often than values), 8-bit integers over their whole range. The values follow from type,
/// shape, seed and name alone, on every machine.
Tensor synthetic_tensor(DType dtype, const Shape& shape, std::uint64_t seed,
                        const std::string& name);

}  // namespace assay
