#include "runtime/ops/support/recurrent.h"

#include <algorithm>
#include <cmath>

#include "runtime/numeric/elementary.h"
#include "runtime/numeric/exact_accumulator.h"
#include "runtime/ops/support/infer.h"
#include "runtime/ops/support/scalar.h"

namespace assay::ops {
namespace {

std::int64_t direction_count(const Attributes& a) {
  const std::string direction = a.string_or("direction", "forward");
  if (direction == "bidirectional") return 2;
  if (direction == "forward" || direction == "reverse") return 1;
  throw Error({.what = "unknown value of attribute 'direction'",
               .got = "'" + direction + "'",
               .expected = "forward, reverse or bidirectional"});
}

bool takes_alpha(const std::string& name) {
  return name == "Affine" || name == "LeakyRelu" || name == "ThresholdedRelu" ||
         name == "ScaledTanh" || name == "HardSigmoid" || name == "Elu";
}
bool takes_beta(const std::string& name) {
  return name == "Affine" || name == "ScaledTanh" || name == "HardSigmoid";
}

float default_alpha(const std::string& name) {
  if (name == "LeakyRelu") return 0.01F;
  return name == "HardSigmoid" ? 0.2F : 1.0F;
}

/// activation_alpha and activation_beta hold one value for each activation that takes one, in
/// order.
std::vector<Activation> read_activations(const Attributes& a,
                                         const std::vector<std::string>& names) {
  const auto alphas = a.floats_or("activation_alpha", {});
  const auto betas = a.floats_or("activation_beta", {});
  std::size_t alpha = 0, beta = 0;
  std::vector<Activation> out;
  for (const std::string& name : names) {
    Activation activation{.name = name};
    if (takes_alpha(name)) {
      activation.alpha = alpha < alphas.size() ? alphas[alpha] : default_alpha(name);
      ++alpha;
    }
    if (takes_beta(name)) {
      activation.beta = beta < betas.size() ? betas[beta] : name == "HardSigmoid" ? 0.5F : 0.0F;
      ++beta;
    }
    out.push_back(activation);
  }
  return out;
}

std::vector<std::string> activation_names(const Attributes& a, std::int64_t directions,
                                          const std::vector<std::string>& defaults) {
  std::vector<std::string> names;
  for (std::int64_t d = 0; d < directions; ++d)
    names.insert(names.end(), defaults.begin(), defaults.end());
  if (!a.has("activations")) return names;
  const auto it = a.items().find("activations");
  const auto* given = std::get_if<std::vector<std::string>>(&it->second);
  if (given == nullptr || given->size() != names.size()) {
    throw Error({.what = "attribute 'activations' has the wrong length",
                 .expected = std::to_string(names.size()) + " names"});
  }
  return *given;
}

void check_weights(const EvalContext& c, const Recurrent& r, std::int64_t gates) {
  const Shape w{r.directions, gates * r.hidden, r.inputs},
      u{r.directions, gates * r.hidden, r.hidden};
  if (c.input(1).shape() == w && c.input(2).shape() == u) return;
  throw Error({.what = "weights of a recurrent operator",
               .got = to_string(c.input(1).shape()) + " and " + to_string(c.input(2).shape()),
               .expected = to_string(w) + " and " + to_string(u)});
}

}  // namespace

Recurrent read_recurrent(const EvalContext& c, std::int64_t gates,
                         const std::vector<std::string>& defaults) {
  const Attributes& a = c.attributes();
  Recurrent r;
  r.directions = direction_count(a);
  r.reverse_first = a.string_or("direction", "forward") == "reverse";
  r.hidden = a.int_or("hidden_size", c.input(2).shape()[-1]);
  r.batch_first = a.int_or("layout", 0) != 0;
  r.clip = a.float_or("clip", 0.0F);
  const Shape& x = c.input(0).shape();
  r.steps = x[r.batch_first ? 1 : 0];
  r.batch = x[r.batch_first ? 0 : 1];
  r.inputs = x[2];
  r.activations = read_activations(a, activation_names(a, r.directions, defaults));
  r.lengths.assign(static_cast<std::size_t>(r.batch), r.steps);
  if (c.has_input(4)) r.lengths = to_ints(c.input(4));
  for (const std::int64_t length : r.lengths) {
    if (length >= 0 && length <= r.steps) continue;
    throw Error({.what = "sequence_lens",
                 .got = std::to_string(length),
                 .expected = "0 to " + std::to_string(r.steps)});
  }
  ASSAY_ASSERT(static_cast<std::int64_t>(r.lengths.size()) == r.batch);
  check_weights(c, r, gates);
  return r;
}

void infer_recurrent(InferContext& c) {
  require_dtype(c, 0, float_type, "a float type");
  require_rank(c, 0, 3);
  require_rank(c, 2, 3);
  if (!c.input(0).dims || !c.input(2).dims) return;
  const Dims& x = *c.input(0).dims;
  const std::int64_t d = direction_count(c.attributes());
  const std::int64_t h = c.attributes().int_or("hidden_size", c.input(2).dims->back());
  const bool batch_first = c.attributes().int_or("layout", 0) != 0;
  const DType t = c.input(0).dtype;
  c.set_output(0, {t, batch_first ? Dims{x[0], x[1], d, h} : Dims{x[0], d, x[1], h}});
  const Dims last = batch_first ? Dims{x[0], d, h} : Dims{d, x[1], h};
  c.set_output(1, {t, last});
  c.set_output(2, {t, last});
}

template <class T>
T sum_of_products(const Terms<T>& terms, bool correct) {
  if constexpr (std::is_same_v<T, float>) {
    double plain = -0.0;
    bool finite = true;
    for (const auto& [a, b] : terms) {
      plain +=
          double{a} *
          double{
              b};  // exact products; the sum decides non-finite results and the sign of zero only
      finite = finite && std::isfinite(a) && std::isfinite(b);
    }
    if (correct && !finite) return canonical(static_cast<float>(plain));
    if (correct) {
      FloatAccumulator sum;
      for (const auto& [a, b] : terms) sum.add_product(a, b);
      return sum.is_zero() ? (plain == 0.0 && std::signbit(plain) ? -0.0F : 0.0F)
                           : sum.round_to_float();
    }
  }
  T sum = T(0.0F);
  for (const auto& [a, b] : terms) {
    if constexpr (std::is_same_v<T, dd>)
      sum = sum + a * b;
    else
      sum = std::fma(a, b, sum);
  }
  return canonical(sum);
}

template float sum_of_products<float>(const Terms<float>&, bool);
template double sum_of_products<double>(const Terms<double>&, bool);
template dd sum_of_products<dd>(const Terms<dd>&, bool);

template <class T>
T activate(const Activation& a, T x, float clip) {
  if (clip > 0.0F) x = x < T(-clip) ? T(-clip) : x > T(clip) ? T(clip) : x;
  const std::string& n = a.name;
  if (n == "Sigmoid") return evaluate(SigmoidFn{}, x);
  if (n == "Tanh") return evaluate(TanhFn{}, x);
  if (n == "Relu") return x > T(0.0F) || not_a_number(x) ? x : T(0.0F);
  if (n == "Affine") return canonical(T(T(a.alpha) * x + T(a.beta)));
  if (n == "LeakyRelu") return evaluate(LeakyReluFn{a.alpha}, x);
  if (n == "ThresholdedRelu") return evaluate(ThresholdedReluFn{a.alpha}, x);
  if (n == "ScaledTanh") return canonical(T(T(a.alpha) * evaluate(TanhFn{}, T(T(a.beta) * x))));
  if (n == "HardSigmoid") return evaluate(HardSigmoidFn{a.alpha, a.beta}, x);
  if (n == "Elu") return evaluate(EluFn{a.alpha}, x);
  if (n == "Softsign") return evaluate(SoftsignFn{}, x);
  if (n == "Softplus") return evaluate(SoftplusFn{}, x);
  throw Error({.what = "unknown activation of a recurrent operator",
               .got = "'" + n + "'",
               .kind = ErrorKind::unsupported});
}

template float activate<float>(const Activation&, float, float);
template double activate<double>(const Activation&, double, float);
template dd activate<dd>(const Activation&, dd, float);

std::int64_t x_offset(const Recurrent& r, std::int64_t t, std::int64_t b) {
  return (r.batch_first ? b * r.steps + t : t * r.batch + b) * r.inputs;
}

std::int64_t y_offset(const Recurrent& r, std::int64_t t, std::int64_t d, std::int64_t b) {
  const std::int64_t at =
      r.batch_first ? (b * r.steps + t) * r.directions + d : (t * r.directions + d) * r.batch + b;
  return at * r.hidden;
}

std::int64_t h_offset(const Recurrent& r, std::int64_t d, std::int64_t b) {
  return (r.batch_first ? b * r.directions + d : d * r.batch + b) * r.hidden;
}

}  // namespace assay::ops
