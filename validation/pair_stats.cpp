#include "validation/pair_stats.h"

#include <algorithm>
#include <cmath>

#include "runtime/numeric/float_ulp.h"

namespace assay {
namespace {

std::size_t histogram_bin(double error) {
  if (error == 0) return 0;
  const int e =
      std::clamp(std::ilogb(error), PairStats::histogram_low - 1, PairStats::histogram_high - 1);
  return static_cast<std::size_t>(e - (PairStats::histogram_low - 1) + 1);
}

void keep_worst(PairStats& s, std::int64_t index) {
  if (s.worst.size() < PairStats::worst_kept) s.worst.push_back(index);
}

void add_nonfinite(PairStats& s, double r, double o, std::int64_t index) {
  s.nan_reference += std::isnan(r);
  s.nan_other += std::isnan(o);
  s.inf_reference += std::isinf(r);
  s.inf_other += std::isinf(o);
  const bool agree = (std::isnan(r) && std::isnan(o)) || r == o;
  if (agree) return;
  ++s.different;
  ++s.nonfinite_mismatch;
  keep_worst(s, index);
}

void add_finite(PairStats& s, double r, double o, std::int64_t index) {
  const double error = o - r;
  const double size = std::fabs(error);
  s.sum_abs += size;
  s.sum_error += error;
  s.sum_error2 += error * error;
  s.sum_reference2 += r * r;
  s.sum_other2 += o * o;
  s.sum_product += r * o;
  s.sign_flips += (r < 0 && o > 0) || (r > 0 && o < 0);
  ++s.histogram[histogram_bin(size)];
  if (r == 0) {
    ++s.zero_reference;
  } else {
    s.max_rel = std::max(s.max_rel, size / std::fabs(r));
  }
  if (size == 0) return;
  ++s.different;
  keep_worst(s, index);
  s.max_ulp = std::max(s.max_ulp, size / float_ulp(r));
  if (size > s.max_abs) {
    s.max_abs = size;
    s.max_abs_at = index;
  }
}

}  // namespace

void PairStats::merge(const PairStats& next) {
  if (next.max_abs > max_abs) {
    max_abs = next.max_abs;
    max_abs_at = count + next.max_abs_at;
  }
  for (const std::int64_t i : next.worst) {
    if (worst.size() < worst_kept) worst.push_back(count + i);
  }
  count += next.count;
  different += next.different;
  nan_reference += next.nan_reference;
  nan_other += next.nan_other;
  inf_reference += next.inf_reference;
  inf_other += next.inf_other;
  nonfinite_mismatch += next.nonfinite_mismatch;
  zero_reference += next.zero_reference;
  sign_flips += next.sign_flips;
  max_rel = std::max(max_rel, next.max_rel);
  max_ulp = std::max(max_ulp, next.max_ulp);
  sum_abs += next.sum_abs;
  sum_error += next.sum_error;
  sum_error2 += next.sum_error2;
  sum_reference2 += next.sum_reference2;
  sum_other2 += next.sum_other2;
  sum_product += next.sum_product;
  for (std::size_t i = 0; i < histogram.size(); ++i) histogram[i] += next.histogram[i];
}

PairStats pair_stats(const Tensor& reference, const Tensor& other) {
  if (reference.shape() != other.shape()) {
    throw Error({.what = "tensors of unlike shape cannot be compared",
                 .got = to_string(other.shape()),
                 .expected = to_string(reference.shape())});
  }
  PairStats s;
  s.count = reference.numel();
  // Small blocks widened to double: one loop for every pair of types.
  constexpr std::int64_t block = 4096;
  const Tensor a = reference.reshaped({s.count});
  const Tensor b = other.reshaped({s.count});
  for (std::int64_t begin = 0; begin < s.count; begin += block) {
    const std::int64_t end = std::min(begin + block, s.count);
    const auto r = to_doubles(a.rows(begin, end));
    const auto o = to_doubles(b.rows(begin, end));
    for (std::size_t i = 0; i < r.size(); ++i) {
      const auto index = begin + static_cast<std::int64_t>(i);
      if (std::isfinite(r[i]) && std::isfinite(o[i])) {
        add_finite(s, r[i], o[i], index);
      } else {
        add_nonfinite(s, r[i], o[i], index);
      }
    }
  }
  return s;
}

}  // namespace assay
