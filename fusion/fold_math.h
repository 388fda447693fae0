// Fold arithmetic: per-channel affine maps, exact, and constants rounded once.
//
// A chain behind a linear operator (batch normalizations, constant Mul and Add) is one affine map
// per output channel:
//   y = s·x + t,   BN: s = γ/√(v+ε), t = β − μ·s;   Mul k: s = k;   Div k: s = 1/k;   Add k: t = k.
// Folding gives w' = w·s and b' = s(b)+t. Every stored constant is the exact real value rounded
// once to nearest even, also after several rules have run one after the other, because the steps
// are kept and applied to the original numbers.
//
// How: s and t are computed with MPFR at a precision p with an error of at most 2^(10-p) times the
// sum of the magnitudes of their terms (each step rounds at most 6 times, at most 64 steps: 6·64+2
// < 2^9 roundings of 2^-p each). A value whose interval holds no rounding boundary is decided
// (Ziv); else p grows. Values that are still undecided at the last precision lie on a boundary
// exactly: they are algebraic of degree at most 2 per normalization over dyadic numbers of less
// than 1500 bits, and two such numbers that differ do so by more than the last radius. They round
// to even.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/error.h"
#include "runtime/tensor.h"

namespace assay {

// ---- the formulas, on any real type: used for the refold test at float64 and double-double

/// s = γ/√(v+ε)
template <class T>
T bn_scale(const T& gamma, const T& var, const T& epsilon) {
  using std::sqrt;
  return gamma / sqrt(var + epsilon);
}

/// b' = (b−μ)·s+β
template <class T>
T bn_bias(const T& bias, const T& mean, const T& scale, const T& beta) {
  return (bias - mean) * scale + beta;
}

/// w' = w·s
template <class T>
T fold_weight(const T& weight, const T& scale) {
  return weight * scale;
}

// ---- exact maps

/// One step y = s·x + t per channel. Every vector holds one number per channel, or one for all.
struct AffineStep {
  enum class Kind { batch_norm, mul, div, add, sub, negate };
  Kind kind = Kind::add;
  std::vector<double> gamma = {};  ///< batch_norm; the operand of the other kinds
  std::vector<double> beta = {};
  std::vector<double> mean = {};
  std::vector<double> var = {};
  double epsilon = 0;
};

/// Steps in the order in which they act on x.
class ExactAffine {
 public:
  ExactAffine() = default;
  explicit ExactAffine(std::vector<AffineStep> steps) : steps_(std::move(steps)) {}

  const std::vector<AffineStep>& steps() const { return steps_; }
  bool empty() const { return steps_.empty(); }
  ExactAffine then(const ExactAffine& next) const;
  ExactAffine then(AffineStep step) const;

  /// The exact s and t of a channel, each rounded once to the type T (float or double).
  template <class T>
  T scale(std::int64_t channel) const;
  template <class T>
  T shift(std::int64_t channel) const;
  /// s·x + t, exact, rounded once.
  template <class T>
  T apply(T x, std::int64_t channel) const;
  /// x·s, exact, rounded once.
  template <class T>
  T weight(T x, std::int64_t channel) const;
  /// True when t is exactly zero.
  bool shift_is_zero(std::int64_t channel) const;

  /// The channel where a step has no meaning (v+ε <= 0, division by 0, a number that is not
  /// finite), with its values.
  std::optional<std::string> undefined_at(std::int64_t channels) const;

 private:
  std::vector<AffineStep> steps_;
};

/// Channel of the element with a row-major index. The `stretch` elements from each multiple of it
/// on lie in one channel.
struct ChannelOf {
  std::function<std::int64_t(std::int64_t)> of = {};
  std::int64_t stretch = 1;
  std::int64_t operator()(std::int64_t i) const { return of(i); }
};

/// Tensors of float32 or float64 elements: w[i]·s of its channel. The result may hold infinities
/// (check all_finite).
Tensor scale_weights(const Tensor& w, const ExactAffine& map, const ChannelOf& channel_of);
/// s·b + t per channel; `bias` undefined() stands for zeros. Type `dtype`, shape [channels].
Tensor map_bias(const Tensor& bias, const ExactAffine& map, std::int64_t channels, DType dtype);
/// A linear operator between two maps: `in` acts on its input channels (a normalization in front),
/// `out` on its output channels.
struct TwoSided {
  ExactAffine in = {};
  ExactAffine out = {};
  ChannelOf in_channel_of = {};
  ChannelOf out_channel_of = {};
};
/// w·s_in·s_out per element, rounded once.
Tensor scale_weights(const Tensor& w, const TwoSided& maps);
/// out(b + Σ w·t_in) per output channel, the sum over that channel's elements, rounded once. `bias`
/// undefined() stands for zeros.
Tensor map_bias(const Tensor& bias, const Tensor& w, const TwoSided& maps, std::int64_t channels);

/// The first element that is not finite, as text ("element 12 is inf"); nullopt when all are
/// finite.
std::optional<std::string> not_finite(const Tensor& t);

}  // namespace assay
