// An elementwise function from codes to codes as a table of its 256 values.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "kernels/kernel.h"

namespace assay::kernels {

/// Value of the function for every bit pattern of a code (int8 codes by their bits).
using CodeTable = std::array<std::uint8_t, 256>;

/// y[i] = table[x[i]] for n elements of input 0; output 0 may be the same memory.
std::unique_ptr<Kernel> make_code_table(const CodeTable& table, std::int64_t n);

}  // namespace assay::kernels
