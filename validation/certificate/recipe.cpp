#include "validation/certificate/recipe.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

using Kind = AffineStep::Kind;

double value_at(const std::vector<double>& v, std::size_t channel) {
  return v.size() == 1 ? v[0] : v[channel];
}

/// How a recipe treats a batch normalization; e is epsilon, v the variance, m the mean.
enum class Scale { quotient, by_reciprocal_root };           // g / sqrt(v+e), g * (1 / sqrt(v+e))
enum class Shift { mean_first, shift_first, fma, factors };  // see bias_of

/// Arithmetic in T (float or double), every operation rounded to T.
template <class T, Scale S, Shift B>
struct Folder {
  static T root(const AffineStep& s, std::size_t c) {
    return std::sqrt(static_cast<T>(value_at(s.var, c)) + static_cast<T>(s.epsilon));
  }
  static T scale_of(const AffineStep& s, std::size_t c) {
    const auto gamma = static_cast<T>(value_at(s.gamma, c));
    if constexpr (S == Scale::quotient) return gamma / root(s, c);
    return gamma * (T(1) / root(s, c));
  }

  static T bias_of(const AffineStep& s, T b, std::size_t c) {
    const auto mean = static_cast<T>(value_at(s.mean, c));
    const auto beta = static_cast<T>(value_at(s.beta, c));
    const T k = scale_of(s, c);
    switch (B) {
      case Shift::mean_first:
        return (b - mean) * k + beta;
      case Shift::shift_first:
        return b * k + (beta - mean * k);
      case Shift::fma:
        return std::fma(b - mean, k, beta);
      case Shift::factors:
        return (b - mean) * (T(1) / root(s, c)) * static_cast<T>(value_at(s.gamma, c)) + beta;
    }
    return T(0);
  }

  /// The factor that a step puts on a weight, where it is one.
  static T factor(const AffineStep& s, std::size_t c) {
    if (s.kind == Kind::batch_norm) return scale_of(s, c);
    return s.kind == Kind::negate ? T(-1) : static_cast<T>(value_at(s.gamma, c));
  }

  static T weight(const LinearTerm& t, double w, std::size_t c) {
    auto x = static_cast<T>(w);
    for (const ChainStep& step : t.chain) {
      const AffineStep& s = step.step;
      if (s.kind == Kind::div) x /= static_cast<T>(value_at(s.gamma, c));
      if (s.kind == Kind::batch_norm || s.kind == Kind::mul || s.kind == Kind::negate)
        x *= factor(s, c);
    }
    return x;
  }

  static T bias(const LinearTerm& t, double b, std::size_t c) {
    auto x = static_cast<T>(b);
    for (const ChainStep& step : t.chain) {
      const AffineStep& s = step.step;
      if (s.kind == Kind::batch_norm) x = bias_of(s, x, c);
      if (s.kind == Kind::mul || s.kind == Kind::negate) x *= factor(s, c);
      if (s.kind == Kind::div) x /= static_cast<T>(value_at(s.gamma, c));
      if (s.kind == Kind::add) x += static_cast<T>(value_at(s.gamma, c));
      if (s.kind == Kind::sub) x -= static_cast<T>(value_at(s.gamma, c));
    }
    return x;
  }
};

/// The exact value, rounded once to float32. The product in long double is within 2^-62 of it,
/// which decides nearly always.
struct Exact {
  static float weight(const LinearTerm& t, double w, std::size_t c) {
    const long double near = t.coeff[c].to_long_double() * static_cast<long double>(w);
    const auto low = static_cast<float>(near * (1 - 0x1p-60L));
    if (low == static_cast<float>(near * (1 + 0x1p-60L))) return low;
    return (t.coeff[c] * Real(w)).to_float();
  }
};

struct Recipe {
  const char* name;
  float (*weight)(const LinearTerm&, double, std::size_t);
  /// nullptr: the form's own exact shift.
  float (*bias)(const LinearTerm&, double, std::size_t);
};

template <class T, Scale S, Shift B>
constexpr Recipe recipe(const char* name) {
  return {name,
          [](const LinearTerm& t, double w, std::size_t c) {
            return static_cast<float>(Folder<T, S, B>::weight(t, w, c));
          },
          [](const LinearTerm& t, double b, std::size_t c) {
            return static_cast<float>(Folder<T, S, B>::bias(t, b, c));
          }};
}

constexpr auto quotient = Scale::quotient;
constexpr auto reciprocal = Scale::by_reciprocal_root;
constexpr Recipe recipes[] = {
    recipe<float, quotient, Shift::mean_first>(
        "float32 s = g/sqrt(v+e), w*s, (b-m)*s+beta (ONNX Runtime, onnxoptimizer, onnxsim)"),
    recipe<float, reciprocal, Shift::factors>(
        "float32 r = 1/sqrt(v+e), w*(g*r), (b-m)*r*g+beta (PyTorch)"),
    recipe<float, reciprocal, Shift::mean_first>("float32 s = g*(1/sqrt(v+e)), w*s, (b-m)*s+beta"),
    recipe<float, quotient, Shift::shift_first>("float32 s = g/sqrt(v+e), w*s, b*s+(beta-m*s)"),
    recipe<float, reciprocal, Shift::shift_first>(
        "float32 s = g*(1/sqrt(v+e)), w*s, b*s+(beta-m*s)"),
    recipe<float, quotient, Shift::fma>("float32 s = g/sqrt(v+e), w*s, fma(b-m, s, beta)"),
    {"exact, rounded once (Assay)", Exact::weight, nullptr},
    recipe<double, quotient, Shift::mean_first>("float64, stored as float32"),
};

/// The chain acts on this one operator and nothing else adds to the shift.
bool one_chain(const NormalForm& o) {
  return o.linear.size() == 1 && o.plain && o.linear[0].input_coeff.empty() &&
         static_cast<std::size_t>(o.steps) ==
             static_cast<std::size_t>(
                 std::count_if(o.linear[0].chain.begin(), o.linear[0].chain.end(),
                               [](const ChainStep& s) { return s.step.kind != Kind::negate; }));
}

bool gives(const Recipe& r, const NormalForm& o, const NormalForm& f) {
  const LinearTerm& t = o.linear[0];
  const auto w = to_doubles(t.weights);
  const auto stored = to_doubles(f.linear[0].weights);
  const std::int64_t per_channel = weights_per_channel(t);
  for (std::size_t c = 0; c < t.coeff.size(); ++c) {
    const double b = t.bias.empty() ? 0.0 : t.bias[c];
    const float bias = r.bias == nullptr ? o.shift[c].to_float() : r.bias(t, b, c);
    if (!(Real(static_cast<double>(bias)) == f.shift[c])) return false;
    for (std::int64_t i = 0; i < per_channel; ++i) {
      const auto k = static_cast<std::size_t>(weight_index(t, static_cast<std::int64_t>(c), i));
      if (static_cast<double>(r.weight(t, w[k], c)) != stored[k]) return false;
    }
  }
  return true;
}

}  // namespace

Recognised recognise_recipe(const NormalForm& o, const NormalForm& f) {
  Recognised result;
  if (!one_chain(o) || f.linear.size() != 1 ||
      f.linear[0].weights.shape() != o.linear[0].weights.shape())
    return result;
  if (!f.linear[0].input_coeff.empty()) return result;
  for (const Real& s : f.linear[0].coeff) {
    if (!(s == Real(1))) return result;  // left unfolded
  }
  result.applies = true;
  for (const Recipe& r : recipes) {
    if (gives(r, o, f)) result.names.emplace_back(r.name);
  }
  return result;
}

std::vector<std::string> recipe_names() {
  std::vector<std::string> names;
  for (const Recipe& r : recipes) names.emplace_back(r.name);
  return names;
}

}  // namespace assay
