#include "validation/certificate/constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "validation/metric.h"

namespace assay {
namespace {

class Audit {
 public:
  Audit(const NormalForm& o, const NormalForm& f, const Budget& budget)
      : o_(o), f_(f), budget_(budget) {
    budget_.scaled = scales(f);
  }

  ConstantsAudit run() {
    if (o_.channels != f_.channels) return unlike("the numbers of channels differ");
    if (o_.axis_from_end != f_.axis_from_end && o_.channels > 1)
      return unlike("the channels lie on other axes");
    if (o_.linear.size() != f_.linear.size())
      return unlike(
          fmt::format("{} linear operators against {}", o_.linear.size(), f_.linear.size()));
    if (o_.values.size() != f_.values.size())
      return unlike(fmt::format("{} added values against {}", o_.values.size(), f_.values.size()));
    if (budget_.own && f_.outer && normalization()) return std::move(result_);
    for (const LinearTerm& t : o_.linear) {
      const LinearTerm* other = partner(t);
      if (other == nullptr)
        return unlike("no counterpart of " + t.signature + " on '" + t.input +
                      "'; the fused graph has " + signatures());
      weights(t, *other);
    }
    budget_.scaled = scales(f_);
    for (const ValueTerm& t : o_.values) {
      if (!value_term(t)) return unlike("'" + t.input + "' is not added on the fused side");
    }
    for (std::size_t c = 0; c < o_.shift.size(); ++c) bias(c);
    return std::move(result_);
  }

 private:
  ConstantsAudit unlike(const std::string& why) {
    result_.comparable = result_.exact = result_.inside = false;
    result_.mismatch = why;
    return std::move(result_);
  }

  static std::string joined(const std::vector<std::string>& list) {
    std::string text;
    for (const auto& x : list) text += (text.empty() ? "" : ", ") + x;
    return text.empty() ? "none" : text;
  }

  std::string signatures() const {
    std::vector<std::string> list;
    for (const LinearTerm& t : f_.linear) list.push_back(t.signature + " on '" + t.input + "'");
    return joined(list);
  }

  static bool unit(const std::vector<Real>& v) {
    return std::all_of(v.begin(), v.end(), [](const Real& x) { return x.abs() == Real(1); });
  }

  /// Some coefficient is not 1 or -1: the stored numbers are not the coefficients.
  static bool scales(const LinearTerm& t) { return !unit(t.coeff) || !unit(t.input_coeff); }
  static bool scales(const NormalForm& f) {
    return f.divisions > 0 || std::any_of(f.linear.begin(), f.linear.end(),
                                          [](const LinearTerm& t) { return scales(t); });
  }

  const LinearTerm* partner(const LinearTerm& t) const {
    for (const LinearTerm& other : f_.linear) {
      if (other.signature == t.signature && other.input == t.input) return &other;
    }
    return nullptr;
  }

  void weights(const LinearTerm& o, const LinearTerm& f) {
    // Where the term's own factors are 1, its weights are stored as they count.
    budget_.scaled = scales(f);
    const auto w = to_doubles(o.weights);
    const auto stored = to_doubles(f.weights);
    for (std::int64_t c = 0; c < static_cast<std::int64_t>(o.coeff.size()); ++c) {
      if (o.input_coeff.empty() && f.input_coeff.empty()) {
        channel(o, f, c, w, stored);
        continue;
      }
      for (std::int64_t i = 0; i < weights_per_channel(o); ++i) {
        const auto at = static_cast<std::size_t>(weight_index(o, c, i));
        weight(c, i, weight_factor(o, c, i) * Real(w[at]),
               weight_factor(f, c, i) * Real(stored[at]));
      }
    }
  }

  /// The usual case: one factor for all weights of a channel.
  void channel(const LinearTerm& o, const LinearTerm& f, std::int64_t c,
               const std::vector<double>& w, const std::vector<double>& stored) {
    const Real& s = o.coeff[static_cast<std::size_t>(c)];
    const Real& sf = f.coeff[static_cast<std::size_t>(c)];
    const bool as_stored = sf == Real(1);
    const bool plain = s == Real(1) && as_stored;
    const long double near = s.to_long_double();
    for (std::int64_t i = 0; i < weights_per_channel(o); ++i) {
      const auto at = static_cast<std::size_t>(weight_index(o, c, i));
      // The common cases: parts that no fold touched, and zeros.
      if ((plain && w[at] == stored[at]) || (w[at] == 0 && stored[at] == 0)) {
        ++result_.constants;
        continue;
      }
      if (as_stored && !budget_.is_double &&
          clearly_inside(near * static_cast<long double>(w[at]), stored[at]))
        continue;
      weight(c, i, s * Real(w[at]), sf * Real(stored[at]));
    }
  }

  /// Most weights, without 256-bit numbers: `star` is exact to 2^-62, so a constant that is off by
  /// more than 2^-50 and uses less of its budget than the worst so far changes nothing but counts.
  bool clearly_inside(long double star, double stored) {
    const auto x = static_cast<double>(star);
    const auto off = static_cast<double>(std::fabs(star - static_cast<long double>(stored)));
    if (!(off > 0x1p-50 * std::fabs(x)) || !std::isfinite(x) || std::fabs(x) < 0x1p-120)
      return false;
    if (off / weight_budget(x, o_.steps, budget_) > 0.999 * std::min(1.0, result_.budget_use))
      return false;
    if (own_rounding() && static_cast<double>(static_cast<float>(star)) != stored) return false;
    ++result_.constants;
    ++result_.rounded;
    result_.exact = false;
    result_.max_ulp = std::max(result_.max_ulp, off / spacing(x, budget_));
    return true;
  }

  /// The stored numbers are the coefficients of Assay's own fold: each is rounded once.
  bool own_rounding() const { return budget_.own && !budget_.scaled; }

  void weight(std::int64_t c, std::int64_t i, const Real& exact, const Real& stored) {
    check({exact, stored, weight_budget(exact.to_double(), o_.steps, budget_), own_rounding()},
          fmt::format("weight, channel {}, index {}", c, i), c);
  }

  // ---- a normalization that stays, with new parameters

  /// Factors per channel of the only term of both sides, when it is the same term: a value, or a
  /// linear operator with the same weights.
  std::optional<std::pair<const std::vector<Real>*, const std::vector<Real>*>> only_factors()
      const {
    if (o_.linear.size() + o_.values.size() != 1) return std::nullopt;
    if (!o_.values.empty()) {
      if (o_.values[0].input != f_.values[0].input) return std::nullopt;
      return std::pair{&o_.values[0].coeff, &f_.values[0].coeff};
    }
    const LinearTerm& t = o_.linear[0];
    const LinearTerm* other = partner(t);
    if (other == nullptr || !same_bits(t.weights, other->weights) || !t.input_coeff.empty() ||
        !other->input_coeff.empty())
      return std::nullopt;
    return std::pair{&t.coeff, &other->coeff};
  }

  /// y = s (a x + h - mean) + beta with s = gamma / root: gamma and beta are stored, each rounded
  /// once. The factor tells gamma; the value where the normalized one is the mean tells beta.
  bool normalization() {
    const auto factors = only_factors();
    if (!factors) return false;
    const OuterNorm& n = *f_.outer;
    for (std::size_t c = 0; c < o_.shift.size(); ++c) {
      const Real& star = (*factors->first)[c];
      const Real& stored = (*factors->second)[c];
      const Real beta(n.beta[c]);
      const std::string at = ", channel " + std::to_string(c);
      if (n.gamma[c] == 0) {
        check({star, stored}, "factor" + at, static_cast<std::int64_t>(c));
        check({o_.shift[c], f_.shift[c], half_spacing(o_.shift[c]), true, size_of_shift(c)},
              "shift" + at, static_cast<std::int64_t>(c));
        continue;
      }
      if (stored == Real(0)) {
        behind_zero(c, star);
        continue;
      }
      // gamma = factor * unit with unit = root / a
      const Real unit = Real(n.gamma[c]) / stored;
      const Real gamma = star * unit;
      check({gamma, Real(n.gamma[c]), half_spacing(gamma), true}, "scale of the normalization" + at,
            static_cast<std::int64_t>(c));
      const Real a = stored / n.scale[c];
      const Real h = (f_.shift[c] - beta) / n.scale[c] + n.mean[c];
      const Real x = (n.mean[c] - h) / a;
      const Real exact = o_.shift[c] + star * x;
      check({exact, beta, half_spacing(exact), true, size_of_shift(c) + (star * x).abs()},
            "shift of the normalization" + at, static_cast<std::int64_t>(c));
    }
    return true;
  }

  /// What the normalization reads is one number h in this channel: gamma and beta cannot be told
  /// apart, and together they may be off by what rounding each once allows.
  void behind_zero(std::size_t c, const Real& star) {
    const OuterNorm& n = *f_.outer;
    const std::string at = ", channel " + std::to_string(c);
    const auto channel = static_cast<std::int64_t>(c);
    check({star, Real(0)}, "factor" + at, channel);
    const Real beta(n.beta[c]);
    const Real gained = (f_.shift[c] - beta) / Real(n.gamma[c]);  // (h - mean) / root
    const double budget =
        half_spacing(Real(n.gamma[c])) * gained.abs().to_double() + half_spacing(beta);
    check({o_.shift[c], f_.shift[c], budget, false, size_of_shift(c)},
          "shift of the normalization" + at, channel);
  }

  /// Half a unit in the last place, and the little that 256-bit arithmetic may be off.
  double half_spacing(const Real& x) const {
    return 0.5 * spacing(x.to_double(), budget_) * (1 + 0x1p-40);
  }

  /// Factors of a value that is added as it is.
  bool value_term(const ValueTerm& t) {
    for (const ValueTerm& other : f_.values) {
      if (other.input != t.input) continue;
      for (std::size_t c = 0; c < t.coeff.size(); ++c) {
        if (t.coeff[c] == other.coeff[c]) continue;
        check({t.coeff[c], other.coeff[c], weight_budget(t.coeff[c].to_double(), o_.steps, budget_),
               own_rounding()},
              fmt::format("factor of '{}', channel {}", t.input, c), static_cast<std::int64_t>(c));
      }
      return true;
    }
    return false;
  }

  void bias(std::size_t c) {
    check(
        {o_.shift[c], f_.shift[c], shift_budget(o_, c, budget_), own_rounding(), size_of_shift(c)},
        fmt::format("bias, channel {}", c), static_cast<std::int64_t>(c));
  }

  /// Sum of the magnitudes that the shift of a channel is made of.
  Real size_of_shift(std::size_t c) const {
    return o_.magnitude[c] + o_.beta[c] + f_.magnitude[c] + f_.beta[c];
  }

  struct Constant {
    const Real& exact;
    const Real& stored;
    double budget = 0;
    bool once = false;    ///< must be the exact value rounded once to nearest even
    Real size = Real(0);  ///< of the terms whose sum `exact` is, where they cancel
  };

  void check(const Constant& k, const std::string& what, std::int64_t channel) {
    ++result_.constants;
    const double off = (k.exact - k.stored).abs().to_double();
    // What 256-bit arithmetic leaves of two equal numbers.
    const double noise = 0x1p-220 * (k.size + k.exact.abs()).to_double();
    if (off <= noise) return;
    result_.exact = false;
    ++result_.rounded;
    result_.max_ulp = std::max(result_.max_ulp, off / spacing(k.exact.to_double(), budget_));
    double use = k.budget > 0 ? off / k.budget : INFINITY;
    if (k.once && use <= 1 && !rounded_once(k, noise)) use = std::max(use, 1 + 0x1p-40);
    if (!(use <= 1)) result_.inside = false;
    if (use <= result_.budget_use) return;
    result_.budget_use = use;
    result_.worst_channel = channel;
    result_.worst =
        fmt::format("{}: stored {:a}, exact {:a}", what, k.stored.to_double(), k.exact.to_double());
  }

  /// The budget is half a unit on both sides. The neighbour beyond a tie, and the one below a power
  /// of two, where the spacing changes, lie inside it and are still not the rounded number.
  bool rounded_once(const Constant& k, double noise) const {
    const Real nearest = budget_.is_double ? Real(k.exact.to_double())
                                           : Real(static_cast<double>(k.exact.to_float()));
    if (nearest == k.stored) return true;
    const Real middle = (nearest + k.stored) / Real(2);
    const Real apart = (k.exact - middle).abs();
    return !(apart == Real(0)) && apart.to_double() <= noise;  // 256 bits do not tell
  }

  const NormalForm& o_;
  const NormalForm& f_;
  Budget budget_;
  ConstantsAudit result_;
};

}  // namespace

ConstantsAudit audit_constants(const NormalForm& original, const NormalForm& fused,
                               const Budget& budget) {
  return Audit(original, fused, budget).run();
}

void merge(ConstantsAudit& all, const ConstantsAudit& more) {
  all.exact = all.exact && more.exact;
  all.inside = all.inside && more.inside;
  all.max_ulp = std::max(all.max_ulp, more.max_ulp);
  all.constants += more.constants;
  all.rounded += more.rounded;
  if (more.budget_use <= all.budget_use) return;
  all.budget_use = more.budget_use;
  all.worst = more.worst;
  all.worst_channel = more.worst_channel;
}

nlohmann::ordered_json to_json(const ConstantsAudit& a) {
  if (!a.comparable) return {{"comparable", false}, {"mismatch", a.mismatch}};
  return {{"count", a.constants},
          {"rounded", a.rounded},
          {"max_ulp", json_number(a.max_ulp)},
          {"budget_use", json_number(a.budget_use)},
          {"inside", a.inside},
          {"worst", a.worst}};
}

}  // namespace assay
