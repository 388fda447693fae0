#include "validation/compare.h"

#include <fmt/format.h>
#include <cmath>
#include <nlohmann/json.hpp>

#include "validation/metric.h"

namespace assay {
namespace {

constexpr std::size_t positions_kept = 10;

bool agrees(double r, double o, const Tolerance& t) {
  if (r == o || (std::isnan(r) && std::isnan(o))) return true;
  if (!std::isfinite(r) || !std::isfinite(o)) return false;
  const double error = std::fabs(o - r);
  if (error <= t.atol + t.rtol * std::fabs(r)) return true;
  if (t.ulp <= 0) return false;
  const float f = static_cast<float>(r);
  const double step = std::fabs(std::nextafter(f, INFINITY) - static_cast<double>(f));
  return error <= t.ulp * step;
}

void find_outside(Comparison& c, const Tensor& reference, const Tensor& other, const Tolerance& t) {
  const auto a = to_doubles(reference);
  const auto b = to_doubles(other);
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (agrees(a[i], b[i], t)) continue;
    ++c.outside;
    if (c.position.size() < positions_kept) c.position.push_back(static_cast<std::int64_t>(i));
  }
}

/// 64-bit integers may differ below double's resolution: they are compared as integers.
bool exact_integers(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && (a.dtype() == DType::int64 || a.dtype() == DType::uint64);
}

}  // namespace

std::string to_string(Comparison::Verdict v) {
  switch (v) {
    case Comparison::Verdict::pass:
      return "pass";
    case Comparison::Verdict::fail:
      return "fail";
    case Comparison::Verdict::no_elements:
      return "no elements";
  }
  return "?";
}

Comparison compare(const Tensor& reference, const Tensor& other, const Tolerance& tolerance) {
  Comparison c;
  if (reference.shape() != other.shape()) {
    c.verdict = Comparison::Verdict::fail;
    c.reason = "shape " + to_string(other.shape()) + ", expected " + to_string(reference.shape());
    return c;
  }
  if (reference.numel() == 0) return c;
  c.stats = pair_stats(reference, other);
  if (c.stats.different > 0) find_outside(c, reference, other, tolerance);
  if (exact_integers(reference, other) && !same_bits(reference, other) && c.outside == 0 &&
      tolerance.atol < 1) {
    c.outside = 1;
    c.reason = "64-bit integers differ below the resolution of double";
  }
  c.verdict = c.outside == 0 ? Comparison::Verdict::pass : Comparison::Verdict::fail;
  if (c.outside > 0 && c.reason.empty()) {
    c.reason = fmt::format("{} of {} elements differ, first at flat index {}", c.outside,
                           reference.numel(), c.position[0]);
  }
  return c;
}

nlohmann::ordered_json to_json(const Comparison& c) {
  nlohmann::ordered_json out{{"verdict", to_string(c.verdict)}};
  if (!c.reason.empty()) out["reason"] = c.reason;
  if (!c.position.empty()) out["position"] = c.position;
  if (c.stats.count > 0) out.update(metrics_json(c.stats));
  return out;
}

}  // namespace assay
