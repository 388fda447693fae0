// Small networks that carry seeded defects: a linear operator, a batch normalization, and what
// stands behind it, with random parameters.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/executor.h"

namespace assay::defects {

/// A generator with a fixed sequence on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 1) {}
  std::uint64_t next();
  /// Uniform in [low, high).
  double between(double low, double high);

 private:
  std::uint64_t state_;
};

struct Carrier {
  std::string name;
  std::string op;          ///< "Conv", "ConvTranspose", "Gemm"
  std::string attributes;  ///< as in the text of a net: "<pads=[1,1,1,1]>"
  std::vector<std::int64_t> x, w;
  std::int64_t channels = 0;
  std::int64_t groups = 1;
  bool bias = false;
  std::string behind;  ///< lines from b0 to y; may read r, a value like b0
  bool reads_residual = false;
  std::vector<std::int64_t> y = {};  ///< shape of b0, given where a residual is read

  /// Output channel of the weight at flat index `i`.
  std::int64_t channel_of(std::int64_t i) const;
  /// Input channel of it.
  std::int64_t input_channel_of(std::int64_t i) const;
};

/// Parameters of the original.
struct Parameters {
  std::vector<float> w, b;  ///< b empty without a bias
  std::vector<float> gamma, beta, mean, var;
  double epsilon = static_cast<double>(1e-5F);
};

/// Constants of the folded operator.
struct Constants {
  std::vector<float> w, b;
};

const std::vector<Carrier>& carriers();
/// Random parameters that hide no defect: gamma and beta differ, one gamma is negative, no mean is
/// zero, variances lie in [0.3, 1.9).
Parameters draw(const Carrier& c, std::uint64_t seed);
Feeds draw_input(const Carrier& c, std::uint64_t seed);

Graph original(const Carrier& c, const Parameters& p);
/// `text` edits the lines of the folded net, nullptr for none.
Graph folded(const Carrier& c, const Constants& k,
             const std::function<std::string(std::string)>& text = nullptr);

/// The ways in which tools compute a fold; index 0 .. recipe_count - 1.
inline constexpr int recipe_count = 9;
Constants fold(const Carrier& c, const Parameters& p, int recipe = 0);

}  // namespace assay::defects
