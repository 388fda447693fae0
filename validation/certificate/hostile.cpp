#include "validation/certificate/hostile.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <set>

#include "validation/certificate/special_values.h"

namespace assay {
namespace {

/// `sample` with every float32 number x at index i replaced by f(x, i).
Feeds changed(const Feeds& sample, const std::function<float(float, std::int64_t)>& f) {
  return with_numbers(sample, [&](std::span<float> numbers) {
    std::int64_t i = 0;
    for (float& x : numbers) x = f(x, i++);
  });
}

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

/// First, last, middle, and the ends of the first and last rows of the largest input.
std::set<std::int64_t> places(const Feeds& sample) {
  std::set<std::int64_t> list;
  for (const auto& [name, t] : sample) {
    if (t.dtype() != DType::float32 || t.numel() == 0 || t.shape().rank() == 0) continue;
    const std::int64_t n = t.numel();
    const std::int64_t row = t.shape()[t.shape().rank() - 1];
    for (const std::int64_t i : {std::int64_t{0}, row - 1, n / 2, n - row, n - 1}) list.insert(i);
  }
  return list;
}

}  // namespace

HostileInput mixed_input(const Feeds& sample, std::uint64_t seed) {
  return {"signs and magnitudes mixed", changed(sample, [&](float, std::int64_t i) {
            const std::uint64_t r =
                mixed(static_cast<std::uint64_t>(i) + seed * 0x9E3779B97F4A7C15ULL);
            const double size = std::ldexp(1.0 + static_cast<double>(r >> 40) * 0x1p-24,
                                           static_cast<int>(r % 17) - 8);
            return static_cast<float>((r & 256U) != 0 ? size : -size);
          })};
}

std::vector<HostileInput> hostile_inputs(const Feeds& sample, std::uint64_t seed) {
  std::vector<HostileInput> list;
  for (const double factor : {64.0, -1.0, -64.0, 4096.0, 0.0078125}) {
    list.push_back(
        {fmt::format("sample 0 times {}", factor), changed(sample, [&](float x, std::int64_t) {
           return static_cast<float>(static_cast<double>(x) * factor);
         })});
  }
  list.push_back({"all ones", changed(sample, [](float, std::int64_t) { return 1.0F; })});
  list.push_back({"all zeros", changed(sample, [](float, std::int64_t) { return 0.0F; })});
  list.push_back(mixed_input(sample, seed));
  for (const std::int64_t at : places(sample)) {
    list.push_back({fmt::format("one at element {}, else zero", at),
                    changed(sample, [&](float, std::int64_t i) { return i == at ? 1.0F : 0.0F; })});
  }
  for (SpecialInput& special : special_inputs(sample)) {
    if (special.finite) list.push_back({special.name, std::move(special.feeds)});
  }
  return list;
}

}  // namespace assay
