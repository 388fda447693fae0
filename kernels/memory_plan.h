// Placing buffers in one arena: two buffers share bytes only when their lifetimes are apart.
#pragma once

#include <cstdint>
#include <vector>

namespace assay::kernels {

/// One buffer: its size, and the first and last step in which its content must be intact.
struct Lifetime {
  std::int64_t bytes = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
};

struct MemoryPlan {
  std::vector<std::int64_t> offsets;  ///< per buffer, multiples of 64
  std::int64_t bytes = 0;             ///< size of the arena
};

/// Largest buffers first, each at the lowest offset that fits between those alive at the same time.
MemoryPlan plan_memory(const std::vector<Lifetime>& buffers);

}  // namespace assay::kernels
