#include "validation/certificate/certify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "fusion/pipeline.h"
#include "kernels/program.h"
#include "validation/certificate/constants.h"
#include "validation/certificate/foreign.h"
#include "validation/certificate/radius.h"
#include "validation/certificate/regions.h"
#include "validation/certificate/structure.h"
#include "validation/metric.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

/// |a - b| and where it is largest, against a bound per element.
struct Difference {
  double max_abs = 0;
  double max_ulp = 0;
  double usage = 0;            ///< largest |a - b| / bound
  std::int64_t at = -1;        ///< of the largest usage
  std::int64_t nonfinite = 0;  ///< pairs in which exactly one side is finite

  void merge(const Difference& o) {
    max_abs = std::max(max_abs, o.max_abs);
    max_ulp = std::max(max_ulp, o.max_ulp);
    nonfinite += o.nonfinite;
    if (o.usage <= usage) return;
    usage = o.usage;
    at = o.at;
  }
};

double float_ulp(double x) {
  const double a = std::fabs(x);
  return a < 0x1p-126 ? 0x1p-149 : std::ldexp(1.0, std::ilogb(a) - 23);
}

Difference difference(const Tensor& a, const Tensor& b, const std::vector<double>& bound) {
  Difference d;
  const auto x = to_doubles(a);
  const auto y = to_doubles(b);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) {
      d.nonfinite += std::isfinite(x[i]) != std::isfinite(y[i]);
      continue;
    }
    const double off = std::fabs(x[i] - y[i]);
    if (off == 0) continue;
    d.max_abs = std::max(d.max_abs, off);
    d.max_ulp = std::max(d.max_ulp, off / float_ulp(x[i]));
    const double usage = bound[i] > 0 ? off / bound[i] : INFINITY;
    if (usage <= d.usage) continue;
    d.usage = usage;
    d.at = static_cast<std::int64_t>(i);
  }
  return d;
}

std::vector<double> sum_of(const std::vector<std::vector<double>>& parts) {
  std::vector<double> total = parts[0];
  for (std::size_t p = 1; p < parts.size(); ++p) {
    for (std::size_t i = 0; i < total.size(); ++i) total[i] += parts[p][i];
  }
  for (double& x : total) x *= 1 + 0x1p-40;
  return total;
}

std::vector<double> gap(const Tensor& a, const Tensor& b) {
  auto x = to_doubles(a);
  const auto y = to_doubles(b);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::fabs(x[i] - y[i]);
  return x;
}

Graph constants_folded(const Graph& g) { return fuse(g, {.mode = "fold_constants"}).graph; }

/// Judges one region.
class Judge {
 public:
  Judge(const Region& r, bool own, const CertifyOptions& options)
      : r_(r), own_(own), options_(options) {}

  FusionCertificate run(const std::vector<std::map<std::string, Tensor>>& golden) {
    c_.rule = !r_.rule.empty() ? r_.rule : own_ ? "rewritten" : "other tool";
    c_.nodes = r_.nodes;
    c_.output = r_.output;
    for (const auto& values : golden) {
      Feeds feeds;
      for (const std::string& name : r_.inputs) feeds[name] = values.at(name);
      feeds_.push_back(std::move(feeds));
    }
    algebra();
    numbers();
    if (options_.kernels && c_.verdict != "E5") kernels_part();
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

  /// A cut graph does not state the types of values in its middle.
  Graph with_input_types() const {
    Graph g = r_.fused;
    for (const ValueId v : g.inputs()) {
      const Tensor& t = feeds_[0].at(g.name(v));
      ValueType type{t.dtype(), std::vector<Dim>{}};
      for (const std::int64_t d : t.shape().dims()) type.dims->push_back({.size = d});
      g.set_type(v, std::move(type));
    }
    return g;
  }

  void kernels_part() {
    std::map<std::string, Shape> shapes;
    for (const auto& [name, t] : feeds_[0]) shapes[name] = t.shape();
    try {
      auto program = kernels::Program::compile(with_input_types(), shapes);
      Difference all;
      for (const Feeds& feeds : feeds_) {
        const Bounded exact = evaluate_bounded(r_.fused, feeds, Precision::f64, false);
        const Bounded loose = evaluate_bounded(r_.fused, feeds, Precision::f32, true);
        if (!exact.radius || !loose.radius) {
          c_.onednn = {{"note", "no bound for " + (loose.radius ? exact.missing : loose.missing)}};
          return;
        }
        all.merge(difference(exact.value, program.run(feeds).at(r_.output),
                             sum_of({to_doubles(*loose.radius), to_doubles(*exact.radius)})));
      }
      c_.onednn = {{"max_abs", json_number(all.max_abs)},
                   {"max_ulp", json_number(all.max_ulp)},
                   {"bound_usage", json_number(all.usage)},
                   {"inside", all.usage <= 1}};
      for (const auto& step : program.steps()) {
        if (step.value == r_.output) c_.onednn["kernel"] = step.kernel;
      }
    } catch (const Error& e) {
      c_.onednn = {{"note", e.what()}};
    }
  }

  const Region& r_;
  bool own_;
  const CertifyOptions& options_;
  FusionCertificate c_;
  std::vector<Feeds> feeds_;
  std::optional<NormalForm> original_form_;
  std::string no_form_, structural_, outside_;
  bool single_ = false;
  double widest_ = 0;
};

/// The original's own tensors at every region's borders, per sample.
std::vector<std::map<std::string, Tensor>> golden_values(const Graph& original, const Alignment& a,
                                                         const std::vector<Feeds>& samples) {
  std::set<std::string> names;
  for (const Region& r : a.regions) {
    names.insert(r.inputs.begin(), r.inputs.end());
    names.insert(r.output);
  }
  const Executor executor(original, Precision::cr);
  std::vector<std::map<std::string, Tensor>> all;
  for (const Feeds& feeds : samples) {
    auto values = executor.run(feeds, nullptr, names);
    for (const auto& [name, t] : feeds) values.emplace(name, t);
    all.push_back(std::move(values));
  }
  return all;
}

}  // namespace

CertifyResult certify(const Graph& given, const Graph& other, const RewriteLog* log,
                      const CertifyOptions& options) {
  Comparable both = log != nullptr ? Comparable{.original = given, .fused = other}
                                   : make_comparable(given, other, options.samples);
  const Graph& original = both.original;
  const Alignment a = align(original, both.fused, log);
  CertifyResult result;
  const auto golden = golden_values(original, a, options.samples);
  for (const Region& r : a.regions) {
    try {
      result.fusions.push_back(Judge(r, log != nullptr, options).run(golden));
    } catch (const Error& e) {
      FusionCertificate open;
      open.rule = r.rule.empty() ? "other tool" : r.rule;
      open.nodes = r.nodes;
      open.output = r.output;
      open.labels = {"U"};
      open.reason = std::string("could not be judged: ") + e.what();
      result.fusions.push_back(std::move(open));
    }
  }
  const std::int64_t open =
      a.changed - std::min<std::int64_t>(a.changed, static_cast<std::int64_t>(a.unaligned.size()));
  result.coverage = {{"nodes_unchanged", a.unchanged},
                     {"nodes_changed", a.changed},
                     {"regions", a.regions.size()}};
  result.coverage["share_judged"] =
      a.changed == 0 ? Json(1.0) : Json(static_cast<double>(open) / static_cast<double>(a.changed));
  result.coverage["unaligned"] = a.unaligned;
  if (log != nullptr) return result;
  result.coverage["aligned_by_name"] = both.by_name;
  result.coverage["aligned_by_cut"] = both.by_cut;
  result.coverage["notes"] = both.notes;
  return result;
}

Json to_json(const FusionCertificate& c) {
  Json j{{"rule", c.rule},
         {"nodes", c.nodes},
         {"output", c.output},
         {"verdict", c.verdict},
         {"labels", c.labels}};
  if (!c.reason.empty()) j["reason"] = c.reason;
  const std::pair<const char*, const Json*> parts[] = {
      {"proof", &c.proof},       {"constants", &c.constants}, {"scaling", &c.scaling},
      {"rounding", &c.rounding}, {"onednn", &c.onednn},       {"domain", &c.domain},
      {"witness", &c.witness}};
  for (const auto& [key, value] : parts) {
    if (!value->is_null()) j[key] = *value;
  }
  return j;
}

}  // namespace assay
