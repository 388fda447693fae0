#include "kernels/memory_plan.h"

#include <gtest/gtest.h>

namespace assay::kernels::memory_plan_test {
namespace {

TEST(MemoryPlan, ChainReusesTwoBuffers) {
  // a: steps 0-1, b: 1-2, c: 2-3, each 128 bytes: a and c are never alive together, both meet b.
  const MemoryPlan plan = plan_memory({{128, 0, 1}, {128, 1, 2}, {128, 2, 3}});
  EXPECT_EQ(plan.bytes, 256);
  EXPECT_EQ(plan.offsets[0], plan.offsets[2]);
  EXPECT_NE(plan.offsets[0], plan.offsets[1]);
}

TEST(MemoryPlan, SizesAreRoundedUpToCacheLines) {
  const MemoryPlan plan = plan_memory({{1, 0, 5}, {65, 0, 5}});
  EXPECT_EQ(plan.bytes, 64 + 128);
  for (const auto o : plan.offsets) EXPECT_EQ(o % 64, 0);
}

TEST(MemoryPlan, BuffersAliveTogetherNeverOverlap) {
  std::vector<Lifetime> buffers;
  std::uint32_t s = 5;
  for (int i = 0; i < 200; ++i) {
    s = s * 1664525U + 1013904223U;
    const std::int64_t first = (s >> 8U) % 50;
    buffers.push_back({static_cast<std::int64_t>(s >> 20U) + 1, first, first + (s >> 16U) % 7});
  }
  const MemoryPlan plan = plan_memory(buffers);
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (buffers[i].first > buffers[k].last || buffers[k].first > buffers[i].last) continue;
      const bool apart = plan.offsets[i] + buffers[i].bytes <= plan.offsets[k] ||
                         plan.offsets[k] + buffers[k].bytes <= plan.offsets[i];
      ASSERT_TRUE(apart) << i << " and " << k;
    }
  }
}

}  // namespace
}  // namespace assay::kernels::memory_plan_test
