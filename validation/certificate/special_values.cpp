#include "validation/certificate/special_values.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>

#include "validation/certificate/measure.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

/// Numbers of a region's inputs up to which the radius on special values is evaluated.
constexpr std::int64_t largest_measured = 1 << 14;

/// Subnormal numbers in a large tensor: processors take a hundred times as long for each operation
/// on one, so the others are zero.
constexpr std::size_t most_subnormals = 64;

/// Signs alternate, magnitudes run through 1 to 2^22 smallest steps.
float subnormal(std::size_t i) {
  const double size = std::ldexp(1.0 + static_cast<double>(i % 5), static_cast<int>(i % 20) - 149);
  return static_cast<float>(i % 2 == 0 ? size : -size);
}

std::int64_t numbers(const Feeds& feeds) {
  std::int64_t n = 0;
  for (const auto& [name, t] : feeds) n += t.dtype() == DType::float32 ? t.numel() : 0;
  return n;
}

/// 0 finite, 1 NaN, 2 and 3 the infinities.
int class_of(double x) {
  if (std::isfinite(x)) return 0;
  return std::isnan(x) ? 1 : x > 0 ? 2 : 3;
}

struct Classes {
  std::int64_t other = 0;       ///< elements of another class
  std::int64_t zero_signs = 0;  ///< zeros of another sign
};

Classes compare(const Tensor& a, const Tensor& b) {
  Classes c;
  if (a.shape() != b.shape()) return {.other = std::max(a.numel(), b.numel()), .zero_signs = 0};
  const auto x = to_doubles(a);
  const auto y = to_doubles(b);
  for (std::size_t i = 0; i < x.size(); ++i) {
    c.other += class_of(x[i]) != class_of(y[i]);
    c.zero_signs += x[i] == 0 && y[i] == 0 && std::signbit(x[i]) != std::signbit(y[i]);
  }
  return c;
}

class Check {
 public:
  Check(const Region& r, bool bits, bool own)
      : r_(r),
        bits_(bits),
        own_(own),
        original_(r.original, bits ? Precision::cr : Precision::f32),
        fused_(r.fused, bits ? Precision::cr : Precision::f32) {}

  SpecialCheck run(const Feeds& sample) {
    const auto inputs = special_inputs(sample);
    for (const SpecialInput& in : inputs) {
      try {
        bits_ ? compare_bits(in) : compare_classes(in);
      } catch (const Error& e) {  // sizes that follow from the data
        result_.domain.push_back({{"inputs", in.name}, {"note", e.what()}});
      }
    }
    result_.summary = inputs.empty()            ? "no float32 inputs"
                      : !result_.domain.empty() ? "some differ, see domain"
                      : bits_                   ? "same bits"
                                                : "same kinds of numbers";
    if (!inputs.empty() && !bits_ && numbers(sample) > largest_measured)
      result_.summary += "; too large for the radius on subnormals";
    return std::move(result_);
  }

 private:
  Tensor of(const Executor& e, const SpecialInput& in) const {
    return e.run(in.feeds).at(r_.output);
  }

  void compare_bits(const SpecialInput& in) {
    const Tensor o = of(original_, in), f = of(fused_, in);
    if (same_bits(o, f)) return;
    result_.domain.push_back(
        {{"inputs", in.name}, {"bits", "differ"}, {"original_finite_inside", in.finite}});
    if (!in.finite || !result_.same_bits) return;
    result_.same_bits = false;
    witness(in, witness_json(r_.output, o, f, first_difference(o, f)));
  }

  void compare_classes(const SpecialInput& in) {
    const Classes c = compare(of(original_, in), of(fused_, in));
    if (c.other > 0)
      result_.domain.push_back({{"inputs", in.name},
                                {"nonfinite_pairs", c.other},
                                {"original_finite_inside", in.finite}});
    if (c.zero_signs > 0)
      result_.domain.push_back({{"inputs", in.name}, {"zero_signs", c.zero_signs}});
    if (in.finite && numbers(in.feeds) <= largest_measured) measure_on(in);
  }

  void measure_on(const SpecialInput& in) {
    const Measured m = measure(r_, {}, {in.feeds}, own_);
    if (!m.missing.empty() || result_.exceeds || result_.overflowed) return;
    result_.exceeds = m.f32.usage > 1;
    result_.overflowed = m.overflowed;
    if (result_.exceeds || result_.overflowed) witness(in, m.witness);
  }

  void witness(const SpecialInput& in, Json w) {
    result_.witness = std::move(w);
    result_.witness["inputs"] = in.name;
  }

  const Region& r_;
  bool bits_, own_;
  Executor original_, fused_;  // weights are packed once
  SpecialCheck result_;
};

}  // namespace

Feeds with_numbers(const Feeds& sample, const std::function<void(std::span<float>)>& change) {
  Feeds feeds = sample;
  for (auto& [name, t] : feeds) {
    if (t.dtype() != DType::float32) continue;
    t = t.clone();
    change(t.mutable_data<float>());
  }
  return feeds;
}

std::vector<SpecialInput> special_inputs(const Feeds& sample) {
  if (numbers(sample) == 0) return {};
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<SpecialInput> list;
  list.push_back({"NaN in the middle",
                  with_numbers(sample,
                               [](std::span<float> x) {
                                 if (!x.empty())
                                   x[x.size() / 2] = std::numeric_limits<float>::quiet_NaN();
                               }),
                  false});
  list.push_back({"+infinity first, -infinity last",
                  with_numbers(sample,
                               [](std::span<float> x) {
                                 if (x.empty()) return;
                                 x.front() = infinity;
                                 if (x.size() > 1) x.back() = -infinity;
                               }),
                  false});
  list.push_back({"signed zeros", with_numbers(sample, [](std::span<float> x) {
                    for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % 2 == 0 ? -0.0F : 0.0F;
                  })});
  list.push_back({"subnormals", with_numbers(sample, [](std::span<float> x) {
                    const bool all = x.size() <= 64 * most_subnormals;
                    const std::size_t step = all ? 1 : x.size() / most_subnormals;
                    for (std::size_t i = 0; i < x.size(); ++i)
                      x[i] = i % step == 0 ? subnormal(i / step) : 0.0F;
                  })});
  return list;
}

SpecialCheck check_special_values(const Region& r, const Feeds& sample, bool bits, bool own) {
  return Check(r, bits, own).run(sample);
}

}  // namespace assay
