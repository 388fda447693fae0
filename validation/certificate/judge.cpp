#include "validation/certificate/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fusion/pipeline.h"
#include "validation/certificate/bitwise.h"
#include "validation/certificate/equivalence.h"
#include "validation/certificate/exact_constants.h"
#include "validation/certificate/hostile.h"
#include "validation/certificate/kernel_check.h"
#include "validation/certificate/measure.h"
#include "validation/certificate/quantizer_change.h"
#include "validation/certificate/recipe.h"
#include "validation/certificate/refold.h"
#include "validation/certificate/resolution.h"
#include "validation/certificate/special_values.h"
#include "validation/certificate/structure.h"
#include "validation/certificate/whole_region.h"
#include "validation/metric.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t mixed_draws = 32;  ///< of the graph's inputs, where a region is undecided

Graph constants_folded(const Graph& g) { return fuse(g, {.mode = "fold_constants"}).graph; }

/// Judges one region.
class Judge {
 public:
  Judge(const Region& r, bool own, const std::vector<Feeds>& samples, const CertifyOptions& options,
        const Graph& original)
      : r_(r), own_(own), feeds_(samples), options_(options), whole_(original) {}

  FusionCertificate run() {
    c_.rule = !r_.rule.empty() ? r_.rule : own_ ? "rewritten" : "other tool";
    c_.nodes = r_.nodes;
    c_.output = r_.output;
    algebra();
    if (c_.verdict == "E0") {
      check_bits();
    } else {
      numbers();
    }
    special_values();
    if (options_.kernels && c_.verdict != "E5") c_.onednn = check_kernels(r_, feeds_);
    return std::move(c_);
  }

 private:
  /// Labels add up; the headline is the worst.
  void set(const std::string& verdict, const std::string& reason = {}) {
    c_.labels.push_back(verdict);
    if (c_.labels.size() > 1 && verdict <= c_.verdict) return;  // E0 < E5 < U
    c_.verdict = verdict;
    c_.reason = reason;
  }

  // ---- for all inputs

  void algebra() {
    c_.constants = {{"count", 0}, {"rounded", 0}, {"budget_use", 0}};
    if (isomorphic(r_.original, r_.plain) ||
        isomorphic(constants_folded(r_.original), constants_folded(r_.plain))) {
      const bool single = rounds_once(r_.fused);
      set(single ? "E1" : "E0");
      c_.proof = {{"algebra", "the same operators in the same order"},
                  {"rounding", single ? "single" : "staged"}};
    } else if (same_numbers()) {
      set("E0");
      c_.proof = {{"algebra", "the same operators on the same numbers, merged or moved"},
                  {"rounding", "staged"}};
    } else if (same_moves(r_.original, r_.plain, feeds_[0])) {
      set("E0");
      c_.proof = {{"algebra", "both sides only move elements, and to the same places"}};
    } else if (only_shapes(r_.original) && only_shapes(r_.plain)) {
      set("E0");
      c_.proof = {{"algebra", "both sides depend only on the shapes of their inputs"}};
    } else if (!prove(r_) && !changed_quantization()) {
      c_.proof = {{"algebra", "no proof: " + equal_.mismatch}};
      c_.constants = nullptr;
    }
    proved_ = !c_.labels.empty();
  }

  /// Spelled in one way (bitwise.h), both sides are the same.
  bool same_numbers() const {
    if (rounds_once(r_.fused)) return false;
    std::map<std::string, Shape> shapes;
    if (normalizes_behind_moves(r_.original) || normalizes_behind_moves(r_.plain))
      shapes = value_shapes(r_, feeds_[0]).shapes;
    return isomorphic(bitwise_form(r_.original, shapes), bitwise_form(r_.plain, shapes));
  }

  /// E3: without some of its quantizers the original is the fused function.
  bool changed_quantization() {
    const Equivalence before = equal_;
    for (const auto& drop : possible_drops(r_)) {
      Region apart = r_;
      apart.original = without_quantizers(r_.original, drop);
      const RegionShapes run = value_shapes(apart, feeds_[0]);
      const bool same = isomorphic(apart.original, apart.plain);
      equal_ = same ? Equivalence{.proved = true}
                    : prove_equal(apart.original, apart.plain, run, {.own = own_});
      if (!equal_.proved) continue;
      apart_ = std::move(apart);
      const QuantizerCheck check = check_dropped(r_.original, drop, feeds_);
      if (!same) accept_proof(run);
      set("E3");
      c_.proof["algebra"] = "equal-before-storage apart from the dropped quantizers";
      c_.proof["quantization"] = check.json;
      if (!check.inside) {
        set("E5", "the original leaves the interval of the dropped quantizers");
        c_.witness = check.witness;
      }
      return true;
    }
    equal_ = before;
    return false;
  }

  bool prove(const Region& r) {
    const RegionShapes run = value_shapes(r, feeds_[0]);
    Region as_read = r;
    as_read.original = r.read;
    for (Graph* g : {&as_read.fused, &as_read.plain}) *g = constants_folded(*g);
    equal_ = prove_equal(as_read.original, as_read.plain, run, {.own = own_});
    read_ = std::move(as_read);
    if (equal_.proved) accept_proof(run);
    return equal_.proved;
  }

  void accept_proof(const RegionShapes& run) {
    ConstantsAudit all;
    for (const Segment& s : equal_.segments) merge(all, s.audit);
    c_.proof = {
        {"algebra", "equal-before-storage"},
        {"constants", own_ ? "each is the exact value rounded once" : "inside the derived budget"}};
    if (equal_.for_these_shapes) c_.proof["shapes"] = "for inputs of the shapes that were run";
    c_.constants = to_json(all);
    describe_constants(all);
    if (!all.inside) {
      c_.proof["constants"] = "outside the budget";
      set("E5",
          fmt::format("constant outside its budget ({:.3g} times): {}", all.budget_use, all.worst));
    } else {
      set(all.exact ? "E1" : "E2");
    }
    if (own_ && !all.exact) again_in_float64(run);
  }

  void again_in_float64(const RegionShapes& run) {
    const Refold again = refold(read_ ? *read_ : r_, run);
    if (!again.done) {
      c_.proof["refold"] = "not made: " + again.note;
      return;
    }
    c_.proof["refold"] = {{"precision", "float64"},
                          {"constants", again.audit.constants},
                          {"max_ulp", json_number(again.audit.max_ulp)}};
    if (!again.audit.inside)
      set("E5", fmt::format("the rule run in float64 is off by {:.3g} units of float64: {}",
                            again.audit.max_ulp, again.audit.worst));
  }

  /// Which arithmetic made the constants, and which errors they could not reveal.
  void describe_constants(const ConstantsAudit& all) {
    std::vector<std::string> names = recipe_names();
    bool applies = false;
    Json list = Json::array();
    for (const Segment& s : equal_.segments) {
      for (const auto& r : to_json(resolution(s.original, {.own = own_}))) list.push_back(r);
      if (s.audit.exact) continue;
      const Recognised found = recognise_recipe(s.original, s.fused);
      if (!found.applies) continue;
      applies = true;
      std::erase_if(names, [&](const std::string& n) {
        return std::find(found.names.begin(), found.names.end(), n) == found.names.end();
      });
    }
    if (all.exact) {
      c_.constants["recipe"] = "none needed: no constant was rounded";
    } else if (applies) {
      c_.constants["recipe"] = names.empty() ? "no recipe matches" : names[0];
      if (names.size() > 1) c_.constants["recipes"] = names;
    }
    if (!list.empty()) c_.constants["resolution"] = list;
  }

  /// E0 says the same bits: seen, not only argued.
  void check_bits() {
    c_.proof["bits"] = "equal on the samples";
    for (std::size_t i = 0; i < feeds_.size(); ++i) {
      const Tensor o = Executor(r_.original, Precision::cr).run(feeds_[i]).at(r_.output);
      const Tensor f = Executor(r_.fused, Precision::cr).run(feeds_[i]).at(r_.output);
      if (same_bits(o, f)) continue;
      c_.proof["bits"] = "differ";
      c_.witness = witness_json(r_.output, o, f, first_difference(o, f));
      c_.witness["sample"] = i;
      return set("E5", "the same operators in the same order give other bits");
    }
  }

  /// NaN and infinities lie outside the domain of E0 to E2: what differs is listed. Signed zeros
  /// and subnormals lie inside.
  void special_values() {
    if (c_.verdict == "E5" || apart_) return;
    if (!r_.dependent.empty()) {
      c_.proof["special_values"] = "not run: the inputs depend on each other";
      return;
    }
    const bool bits = c_.verdict == "E0";
    const Region& r = proved_ && read_ ? *read_ : r_;
    const SpecialCheck check = check_special_values(bits ? r_ : r, feeds_[0], bits, own_);
    c_.proof["special_values"] = check.summary;
    for (const Json& entry : check.domain) c_.domain.push_back(entry);
    if (!check.same_bits || (proved_ && (check.overflowed || check.exceeds)))
      c_.witness = check.witness;
    if (!check.same_bits)
      set("E5", "the same operators in the same order give other bits on special values");
    if (proved_ && check.exceeds)
      set("E5", "the float32 difference exceeds the certified radius on special values");
    if (proved_ && check.overflowed)
      set("E4", "finite in the original, not finite in the fused graph");
  }

  // ---- on inputs

  void numbers() {
    const Region& r = apart_ ? *apart_ : proved_ && read_ ? *read_ : r_;
    const Measured m = measure(r, equal_.segments, feeds_, own_);
    if (!m.missing.empty()) {
      c_.proof["radius"] = "no bound for " + m.missing;
      if (!proved_) set("U", no_proof() + "; no bound for " + m.missing);
      return;
    }
    c_.rounding = m.rounding_json();
    c_.scaling = m.scaling_json();
    c_.domain = m.domain;
    if (c_.witness.is_null()) c_.witness = m.witness;
    if (proved_) {
      judge_proved(m);
    } else {
      search_witness(m);
    }
    if (c_.verdict == "E5" && c_.witness.is_null()) show();
    if (c_.verdict != "E5" && c_.verdict != "E4") c_.witness = nullptr;
  }

  /// An input on which a wrong constant shows, when the samples had none.
  void show() {
    for (const HostileInput& input : hostile_inputs(feeds_[0], options_.seed)) {
      const Measured again = measure(r_, {}, {input.feeds}, own_);
      if (!again.missing.empty() || again.real.usage <= 1) continue;
      c_.witness = again.witness;
      c_.witness["inputs"] = input.name;
      return;
    }
  }

  void judge_proved(const Measured& m) {
    for (const Measured::Level& level : m.structure) {
      if (level.difference.usage > 1)
        set("E5", "the structure differs: with exact constants the " + level.name +
                      " difference leaves the radius");
    }
    if (c_.verdict == "E1" && m.real.usage > 1)
      set("E5", "no constant was rounded, yet the float64 difference leaves the radius");
    if (m.f32.usage > 1) set("E5", "the float32 difference exceeds the certified radius");
    if (m.overflowed) set("E4", "finite in the original, not finite in the fused graph");
  }

  /// One of the inputs shows a difference that neither rounding nor storage explains.
  bool shows(const Region& r, const std::vector<HostileInput>& inputs) {
    for (const HostileInput& input : inputs) {
      const Measured again = measure(r, {}, {input.feeds}, own_);
      if (!again.missing.empty() || again.unexplained.usage <= 1) continue;
      c_.witness = again.witness;
      c_.witness["inputs"] = input.name;
      return true;
    }
    return false;
  }

  bool shows_from_graph_inputs() {
    const auto whole = from_graph_inputs(whole_, r_);
    if (!whole || options_.samples.empty()) return false;
    std::vector<HostileInput> inputs;
    for (const Feeds& sample : options_.samples)
      inputs.push_back({"the graph's inputs, sample " + std::to_string(inputs.size()),
                        all_inputs(whole_, sample)});
    const Feeds first = inputs[0].feeds;
    for (HostileInput& input : hostile_inputs(first, options_.seed))
      inputs.push_back({"the graph's inputs, " + input.name, std::move(input.feeds)});
    for (std::uint64_t draw = 1; draw <= mixed_draws; ++draw) {
      HostileInput input = mixed_input(first, options_.seed + draw);
      input.name = "the graph's inputs, " + input.name + ", draw " + std::to_string(draw);
      inputs.push_back(std::move(input));
    }
    return shows(*whole, inputs);
  }

  std::string no_proof() const { return "no proof of equality (" + equal_.mismatch + ")"; }

  /// A difference that no storage rounding of constants explains is a proof of the opposite.
  void search_witness(const Measured& m) {
    if (m.unexplained.usage > 1)
      return set("E5", "another function, as the witness shows: " + equal_.mismatch);
    // Inputs that depend on each other cannot be chosen freely: the network never has such values.
    // Then the graph's own inputs are varied.
    const bool found = r_.dependent.empty() ? shows(r_, hostile_inputs(feeds_[0], options_.seed))
                                            : shows_from_graph_inputs();
    if (found) return set("E5", "another function, as the witness shows: " + equal_.mismatch);
    set("U", "equal on the samples up to the certified radius; " + no_proof());
  }

  const Region& r_;
  bool own_;
  const std::vector<Feeds>& feeds_;
  const CertifyOptions& options_;
  const Graph& whole_;  ///< the graph of the region
  FusionCertificate c_;
  Equivalence equal_;
  std::optional<Region> apart_;  ///< E3: without the quantizers that the fused side lacks
  std::optional<Region> read_;   ///< with constants as the rules read them
  bool proved_ = false;
};

}  // namespace

FusionCertificate judge_region(const Region& r, bool own, const std::vector<Feeds>& samples,
                               const CertifyOptions& options, const Graph& original) {
  return Judge(r, own, samples, options, original).run();
}

}  // namespace assay
