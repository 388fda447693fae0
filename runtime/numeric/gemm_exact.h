#pragma once
// Settles one output exactly: RN(alpha * sum_k a_k b_k + sum_e multiplier_e * value_e), with the
// special values of gemm.h. The slow tier behind the vectorized test of the blocked kernels.
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace assay::dot {

struct DotTerms {
  std::vector<double> a;
  std::vector<double> b;
  double alpha = 1.0;
  struct Extra {
    double multiplier = 1.0;
    double value = 0.0;
  };
  std::array<Extra, 2> extras{};
  int extra_count = 0;

  void clear() {
    a.clear();
    b.clear();
    extra_count = 0;
  }
  void add(double x, double y) {
    a.push_back(x);
    b.push_back(y);
  }
  void add_extra(double multiplier, double value) {
    extras[static_cast<size_t>(extra_count++)] = {multiplier, value};
  }
};

// T = float expects every a, b, value, multiplier and alpha to be a float32 value.
template <typename T>
T settle(const DotTerms& terms);

// The middle tier: RN(sum_k products[k] + extras) when a compensated sum can prove it. The products
// are exact and may include zeros of taps that do not take part; nothing is returned for zeros and
// special values.
std::optional<float> settle_products(std::span<const double> products, const DotTerms& extras);

// RN to float of high + low, exact, for |low| < 2^-53 |high| (or low = 0).
float round_pair_to_float(double high, double low);

}  // namespace assay::dot
