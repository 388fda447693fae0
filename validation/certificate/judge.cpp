#include "validation/certificate/judge.h"

#include <fmt/format.h>

#include <algorithm>

#include "fusion/pipeline.h"
#include "validation/certificate/constants.h"
#include "validation/certificate/difference.h"
#include "validation/certificate/kernel_check.h"
#include "validation/certificate/radius.h"
#include "validation/certificate/recipe.h"
#include "validation/certificate/resolution.h"
#include "validation/certificate/structure.h"
#include "validation/metric.h"

namespace assay {
namespace {

Graph constants_folded(const Graph& g) { return fuse(g, {.mode = "fold_constants"}).graph; }

/// Judges one region.
class Judge {
 public:
  Judge(const Region& r, bool own, const std::vector<Feeds>& samples)
      : r_(r), own_(own), feeds_(samples) {}

  FusionCertificate run(bool kernels) {
    c_.rule = !r_.rule.empty() ? r_.rule : own_ ? "rewritten" : "other tool";
    c_.nodes = r_.nodes;
    c_.output = r_.output;
    algebra();
    numbers();
    if (kernels && c_.verdict != "E5") c_.onednn = check_kernels(r_, feeds_);
    return std::move(c_);
  }

 private:
  void set(const std::string& verdict, const std::string& reason = {}) {
    c_.labels.push_back(verdict);
    const bool worse =
        c_.verdict == "U" ? c_.labels.size() == 1 : verdict > c_.verdict;  // E0 < E5 < U
    if (!worse) return;
    c_.verdict = verdict;
    c_.reason = reason;
  }

  void algebra() {
    if (isomorphic(r_.original, r_.plain) ||
        isomorphic(constants_folded(r_.original), constants_folded(r_.plain))) {
      single_ = rounds_once(r_.fused);
      set(single_ ? "E1" : "E0");
      c_.proof = {{"algebra", "the same operators in the same order"},
                  {"rounding", single_ ? "single" : "staged"}};
      c_.constants = {{"count", 0}, {"rounded", 0}, {"budget_use", 0}};
      return;
    }
    if (same_moves(r_.original, r_.plain, feeds_[0])) {
      set("E0");
      c_.proof = {{"algebra", "both sides only move elements, and to the same places"}};
      c_.constants = {{"count", 0}, {"rounded", 0}, {"budget_use", 0}};
      return;
    }
    const auto shapes = value_shapes(r_, feeds_[0]);
    auto o = normal_form(constants_folded(r_.original), shapes);
    auto f = normal_form(constants_folded(r_.plain), shapes);
    for (const auto* side : {&o, &f}) {
      if (const auto* why = std::get_if<std::string>(side)) {
        no_form_ = std::string(side == &o ? "original: " : "fused: ") + *why;
        c_.proof = {{"algebra", "no affine normal form (" + no_form_ + ")"}};
        return;
      }
    }
    original_form_ = std::get<NormalForm>(std::move(o));
    const ConstantsAudit audit = audit_constants(*original_form_, std::get<NormalForm>(f), own_);
    c_.constants = to_json(audit);
    if (audit.comparable) describe_constants(std::get<NormalForm>(f), audit);
    if (!audit.comparable) {
      structural_ = audit.mismatch;
      c_.proof = {{"algebra", "differs: " + audit.mismatch}};
      return;
    }
    c_.proof = {
        {"algebra", "equal-before-storage"},
        {"constants", own_ ? "each is the exact value rounded once" : "inside the derived budget"}};
    if (!audit.inside) {
      c_.proof["constants"] = "outside the budget";
      outside_ = audit.worst;
      set("E5", fmt::format("constant outside its budget ({:.3g} times): {}", audit.budget_use,
                            audit.worst));
    } else {
      set(audit.exact ? "E1" : "E2");
    }
  }

  /// Which arithmetic made the constants, and which errors they could not reveal.
  void describe_constants(const NormalForm& fused, const ConstantsAudit& audit) {
    const Recognised r = recognise_recipe(*original_form_, fused);
    if (audit.exact) {
      c_.constants["recipe"] = "none needed: no constant was rounded";
    } else if (r.applies) {
      c_.constants["recipe"] = r.names.empty() ? "no recipe matches" : r.names[0];
      if (r.names.size() > 1) c_.constants["recipes"] = r.names;
    }
    const auto list = resolution(*original_form_, own_);
    if (!list.empty()) c_.constants["resolution"] = to_json(list);
  }

  /// E0 says the same bits: seen, not only argued.
  void check_bits() {
    for (const Feeds& feeds : feeds_) {
      const Tensor o = Executor(r_.original, Precision::cr).run(feeds).at(r_.output);
      const Tensor f = Executor(r_.fused, Precision::cr).run(feeds).at(r_.output);
      if (!same_bits(o, f)) set("E5", "the same operators in the same order give other bits");
    }
    c_.proof["bits"] = "equal on the samples";
  }

  void numbers() {
    if (c_.verdict == "E0") check_bits();
    Difference f32;
    Difference real;
    Difference scaled;
    std::string missing;
    for (std::size_t i = 0; i < feeds_.size(); ++i) {
      const Bounded o32 = evaluate_bounded(r_.original, feeds_[i], Precision::f32, false);
      const Bounded f32_ = evaluate_bounded(r_.fused, feeds_[i], Precision::f32, false);
      const Bounded o64 = evaluate_bounded(r_.original, feeds_[i], Precision::f64, false);
      const Bounded f64 = evaluate_bounded(r_.fused, feeds_[i], Precision::f64, false);
      for (const Bounded* b : {&o32, &f32_, &o64, &f64}) {
        if (!b->radius) missing = b->missing;
      }
      if (!missing.empty()) break;
      const auto e64 = sum_of({to_doubles(*o64.radius), to_doubles(*f64.radius)});
      const Difference d64 = difference(o64.value, f64.value, e64);
      real.merge(d64);
      // Real-number difference of the two graphs on this input, which the constants' storage
      // explains, plus both radii.
      const auto allowed = sum_of(
          {to_doubles(*o32.radius), to_doubles(*f32_.radius), gap(o64.value, f64.value), e64});
      f32.merge(difference(o32.value, f32_.value, allowed));
      if (original_form_ && structural_.empty()) scaled.merge(scaling(i, o64));
      witness(o64.value, f64.value, d64, i);
    }
    if (!missing.empty()) {
      c_.proof["radius"] = "no bound for " + missing;
      by_bits();
      return;
    }
    c_.rounding = {{"max_abs", json_number(f32.max_abs)},
                   {"max_ulp", json_number(f32.max_ulp)},
                   {"bound_usage", json_number(f32.usage)}};
    c_.scaling = {{"float64_difference", json_number(real.max_abs)},
                  {"float64_difference_over_radius", json_number(real.usage)}};
    if (original_form_ && structural_.empty())
      c_.scaling["float64_exact_constants_over_radius"] = json_number(scaled.usage);
    decide(f32, real, scaled);
  }

  /// The fused structure in float64 with its constants' storage error taken out, against the
  /// original in float64.
  Difference scaling(std::size_t i, const Bounded& o64) {
    const auto exact = with_exact_constants(r_.plain, *original_form_);
    if (!exact) return {};
    const Bounded f = evaluate_bounded(*exact, feeds_[i], Precision::f64, false);
    if (!f.radius) return {};
    // The constants are the exact ones rounded to float64: one more radius covers that.
    return difference(
        o64.value, f.value,
        sum_of({to_doubles(*o64.radius), to_doubles(*f.radius), to_doubles(*f.radius)}));
  }

  void decide(const Difference& f32, const Difference& real, const Difference& scaled) {
    if (!structural_.empty()) {
      if (real.usage > 1) {
        set("E5", structural_);
      } else {
        hostile();
      }
      return;
    }
    if (!no_form_.empty()) {
      // No algebra: equal in float64 up to the radius is strong evidence for these inputs, not a
      // proof for all.
      if (real.usage > 1 && real.max_abs > 0) {
        set(f32.max_ulp > 64 ? "E5" : "U",
            "differs in float64 beyond the radius, and there is no normal form to explain it (" +
                no_form_ + ")");
      } else {
        set("U", "equal on the samples up to the certified radius; no affine normal form (" +
                     no_form_ + ")");
      }
      return;
    }
    if (scaled.usage > 1)
      set("E5",
          "the structure differs: with exact constants the float64 difference leaves the radius");
    if (f32.usage > 1) set("E5", "the float32 difference exceeds the certified radius");
    if (f32.nonfinite > 0) {
      c_.domain = {{"nonfinite_pairs", f32.nonfinite}};
      set("E4", "finite on one side only");
    }
    if (c_.verdict != "E5") c_.witness = nullptr;
  }

  /// Larger inputs of both signs, to make a structural difference show.
  void hostile() {
    for (const double factor : {64.0, -1.0, -64.0, 4096.0}) {
      Feeds big = feeds_[0];
      for (auto& [name, t] : big) {
        t = t.clone();
        if (t.dtype() != DType::float32) continue;
        for (float& x : t.mutable_data<float>()) x = static_cast<float>(x * factor);
      }
      const Bounded o = evaluate_bounded(r_.original, big, Precision::f64, false);
      const Bounded f = evaluate_bounded(r_.fused, big, Precision::f64, false);
      if (!o.radius || !f.radius) break;
      const Difference d =
          difference(o.value, f.value, sum_of({to_doubles(*o.radius), to_doubles(*f.radius)}));
      if (d.usage <= 1) continue;
      witness(o.value, f.value, d, 0);
      c_.witness["inputs"] = fmt::format("sample 0 times {}", factor);
      set("E5", structural_);
      return;
    }
    set("U", structural_ + "; no input was found that shows it");
  }

  /// Without a radius only equality of bits says something.
  void by_bits() {
    bool equal = true;
    for (const Feeds& feeds : feeds_) {
      equal = equal && same_bits(Executor(r_.original, Precision::cr).run(feeds).at(r_.output),
                                 Executor(r_.fused, Precision::cr).run(feeds).at(r_.output));
    }
    if (c_.labels.empty())
      set("U", equal ? "bit-equal on the samples, but no proof"
                     : "differs, and an operator has no bound");
  }

  void witness(const Tensor& o, const Tensor& f, const Difference& d, std::size_t sample) {
    if (d.at < 0 || d.usage <= widest_) return;
    widest_ = d.usage;
    const auto i = static_cast<std::size_t>(d.at);
    const Shape& s = o.shape();
    c_.witness = {{"tensor", r_.output}, {"sample", sample}, {"index", d.at}};
    if (s.rank() > 1) c_.witness["channel"] = d.at / s.numel(2, s.rank()) % s[1];
    c_.witness["original"] = fmt::format("{:a}", to_doubles(o)[i]);
    c_.witness["fused"] = fmt::format("{:a}", to_doubles(f)[i]);
  }

  const Region& r_;
  bool own_;
  const std::vector<Feeds>& feeds_;
  FusionCertificate c_;
  std::optional<NormalForm> original_form_;
  std::string no_form_, structural_, outside_;
  bool single_ = false;
  double widest_ = 0;
};

}  // namespace

FusionCertificate judge_region(const Region& r, bool own, const std::vector<Feeds>& samples,
                               const CertifyOptions& options) {
  return Judge(r, own, samples).run(options.kernels);
}

}  // namespace assay
