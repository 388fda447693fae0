// mse: the range with the least expected squared error of quantization.
//
//   error(range) = sum over bins of count * (dequantize(quantize(m)) - m)^2,   m = middle of the
//   bin
// Each end is tried at 1.00, 0.99, ..., 0.20 of the observed one: first both together, then the
// upper end alone, then the lower end alone. The first of equal candidates (the wider range) wins,
// so the result depends on the counts only.
#include "quant/algorithm.h"

namespace assay::mse_algorithm {
namespace {

double error_of(const std::vector<Bin>& bins, const QuantParams& p) {
  const auto scale = static_cast<double>(p.scale);
  const double step = 1 / scale;
  const auto low = static_cast<double>(p.range().lo - p.zero_point);
  const auto high = static_cast<double>(p.range().hi - p.zero_point);
  double sum = 0;
  for (const Bin& b : bins) {
    const double code = std::clamp(b.middle() * step, low, high);
    const double e = static_cast<double>(round_half_even(code)) * scale - b.middle();
    sum += static_cast<double>(b.count) * e * e;
  }
  return sum;
}

struct Search {
  std::vector<Bin> bins = {};
  ActivationScheme scheme = ActivationScheme::u8;
  Range best = {};
  double least = 0;

  void consider(Range r) {
    const double e = error_of(bins, activation_params(r, scheme));
    if (!(e < least)) return;
    least = e;
    best = r;
  }
};

float shrunk(float end, int percent) {
  return static_cast<float>(static_cast<double>(end) * percent / 100);
}

Range choose(const StreamingHistogram& h, const AlgorithmOptions& options) {
  Search s{.scheme = options.scheme, .best = *h.range()};
  const Range full = s.best;
  for (const Bin& b : h.bins()) {
    if (b.count != 0) s.bins.push_back(b);
  }
  s.least = error_of(s.bins, activation_params(full, s.scheme));
  for (int p = 99; p >= 20; --p) s.consider({shrunk(full.low, p), shrunk(full.high, p)});
  const bool two_ends = full.low < 0 && full.high > 0 && s.scheme == ActivationScheme::u8;
  if (!two_ends) return s.best;
  const float low = s.best.low;
  for (int p = 100; p >= 20; --p) s.consider({low, shrunk(full.high, p)});
  const float high = s.best.high;
  for (int p = 100; p >= 20; --p) s.consider({shrunk(full.low, p), high});
  return s.best;
}

const RegisterAlgorithm registered{
    {.name = "mse", .summary = "least expected squared error", .choose = choose}};

}  // namespace
}  // namespace assay::mse_algorithm
