#include "kernels/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace assay::kernels {
namespace {

constexpr std::int64_t alignment = 64;

std::int64_t aligned(std::int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

bool overlap(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

struct Taken {
  std::int64_t begin, end;
};

std::int64_t lowest_gap(std::vector<Taken> taken, std::int64_t bytes) {
  std::sort(taken.begin(), taken.end(),
            [](const Taken& a, const Taken& b) { return a.begin < b.begin; });
  std::int64_t at = 0;
  for (const Taken& t : taken) {
    if (t.begin - at >= bytes) break;
    at = std::max(at, t.end);
  }
  return at;
}

}  // namespace

MemoryPlan plan_memory(const std::vector<Lifetime>& buffers) {
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return buffers[a].bytes > buffers[b].bytes;
  });
  MemoryPlan plan{std::vector<std::int64_t>(buffers.size()), 0};
  std::vector<std::size_t> placed;
  for (const std::size_t i : order) {
    std::vector<Taken> taken;
    for (const std::size_t k : placed) {
      if (overlap(buffers[i], buffers[k])) {
        taken.push_back({plan.offsets[k], plan.offsets[k] + aligned(buffers[k].bytes)});
      }
    }
    plan.offsets[i] = lowest_gap(std::move(taken), aligned(buffers[i].bytes));
    plan.bytes = std::max(plan.bytes, plan.offsets[i] + aligned(buffers[i].bytes));
    placed.push_back(i);
  }
  return plan;
}

}  // namespace assay::kernels
