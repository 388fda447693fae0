#include "validation/certificate/resolution.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "validation/metric.h"

namespace assay {
namespace {

using Kind = AffineStep::Kind;

double at(const std::vector<double>& v, std::size_t channel) {
  return v.size() == 1 ? v[0] : v[channel];
}

double factor(const AffineStep& s, std::size_t c) {
  switch (s.kind) {
    case Kind::batch_norm:
      return at(s.gamma, c) / std::sqrt(at(s.var, c) + s.epsilon);
    case Kind::mul:
      return at(s.gamma, c);
    case Kind::div:
      return 1 / at(s.gamma, c);
    case Kind::negate:
      return -1;
    default:
      return 1;
  }
}

double shifted(const AffineStep& s, double x, std::size_t c) {
  if (s.kind == Kind::batch_norm) return (x - at(s.mean, c)) * factor(s, c) + at(s.beta, c);
  if (s.kind == Kind::add) return x + at(s.gamma, c);
  if (s.kind == Kind::sub) return x - at(s.gamma, c);
  return x * factor(s, c);
}

/// The batch normalization at place `k` of the chain.
class Study {
 public:
  Study(const NormalForm& o, std::size_t k, const Budget& budget)
      : o_(o), t_(o.linear[0]), k_(k), budget_(budget), weights_(to_doubles(t_.weights)) {}

  Resolution run() {
    const AffineStep& bn = t_.chain[k_].step;
    best_ = {t_.chain[k_].node, bn.epsilon, INFINITY, INFINITY, INFINITY};
    for (std::size_t c = 0; c < t_.coeff.size(); ++c) channel(bn, c);
    return best_;
  }

 private:
  void channel(const AffineStep& bn, std::size_t c) {
    double around = 1;  // the other factors of the chain
    double behind = 1;
    double x = t_.bias.empty() ? 0.0 : t_.bias[c];
    for (std::size_t i = 0; i < t_.chain.size(); ++i) {
      if (i != k_) around *= factor(t_.chain[i].step, c);
      if (i > k_) behind *= factor(t_.chain[i].step, c);
      if (i < k_) x = shifted(t_.chain[i].step, x, c);
    }
    const double root = std::sqrt(at(bn.var, c) + bn.epsilon);
    const double gamma = at(bn.gamma, c);
    const std::int64_t per_channel = weights_per_channel(t_);
    for (std::int64_t i = 0; i < per_channel; ++i) {
      const double w =
          weights_[static_cast<std::size_t>(weight_index(t_, static_cast<std::int64_t>(c), i))];
      scaled(bn, c, w * around / root, weight_budget(w * around * gamma / root, o_.steps, budget_));
    }
    const double budget = shift_budget(o_, c, budget_);
    scaled(bn, c, behind * (x - at(bn.mean, c)) / root, budget);
    keep(best_.d_mean, budget / std::fabs(behind * gamma / root));
  }

  /// A constant, or its part, of the size `unit` * gamma.
  void scaled(const AffineStep& bn, std::size_t c, double unit, double budget) {
    const double gamma = std::fabs(at(bn.gamma, c));
    const double move = budget / std::fabs(unit);
    if (gamma > 0) keep(best_.d_gamma, move / gamma);
    const double share = move / gamma;
    if (share < 1)
      keep(best_.d_epsilon,
           (at(bn.var, c) + bn.epsilon) * (share * (2 - share)) / ((1 - share) * (1 - share)));
  }

  static void keep(double& least, double x) {
    if (x < least) least = x;
  }

  const NormalForm& o_;
  const LinearTerm& t_;
  std::size_t k_;
  const Budget& budget_;
  std::vector<double> weights_;
  Resolution best_;
};

std::string sentence(const Resolution& r) {
  return fmt::format(
      "This file cannot reveal an epsilon that is too large by less than {:.2g}{}, a gamma off by "
      "less than {:.2g} of its value, or a mean off by less than {:.2g}: every constant would "
      "stay inside its budget.",
      r.d_epsilon, r.epsilon > 0 ? fmt::format(" ({:.3g} %)", 100 * r.d_epsilon / r.epsilon) : "",
      r.d_gamma, r.d_mean);
}

}  // namespace

std::vector<Resolution> resolution(const NormalForm& original, const Budget& budget) {
  std::vector<Resolution> list;
  if (original.linear.size() != 1 || !original.plain) return list;
  const auto& chain = original.linear[0].chain;
  for (std::size_t k = 0; k < chain.size(); ++k) {
    if (chain[k].step.kind == Kind::batch_norm) list.push_back(Study(original, k, budget).run());
  }
  return list;
}

nlohmann::ordered_json to_json(const std::vector<Resolution>& list) {
  auto j = nlohmann::ordered_json::array();
  for (const Resolution& r : list) {
    j.push_back(
        {{"node", r.node},
         {"epsilon", r.epsilon},
         {"d_epsilon", json_number(r.d_epsilon)},
         {"d_epsilon_relative", json_number(r.epsilon > 0 ? r.d_epsilon / r.epsilon : INFINITY)},
         {"d_gamma_relative", json_number(r.d_gamma)},
         {"d_mean", json_number(r.d_mean)},
         {"note", sentence(r)}});
  }
  return j;
}

}  // namespace assay
