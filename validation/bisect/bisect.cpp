#include "validation/bisect/bisect.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "validation/bisect/partial_run.h"
#include "validation/bisect/splice.h"
#include "validation/metric.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

/// Sizes that follow from the data may differ.
PairStats all_different(const Tensor& t) {
  PairStats s;
  s.count = s.different = s.nonfinite_mismatch = t.numel();
  return s;
}

/// The outputs of two networks side by side.
PairStats differ(const Graph& original, const Values& a, const Values& b) {
  PairStats all;
  for (const ValueId v : original.outputs()) {
    const auto x = a.find(original.name(v));
    const auto y = b.find(original.name(v));
    if (x == a.end() || y == b.end()) continue;
    all.merge(x->second.shape() == y->second.shape() ? pair_stats(x->second, y->second)
                                                     : all_different(x->second));
  }
  return all;
}

class Bisection {
 public:
  Bisection(const Comparison& c, const RunGraph& run)
      : c_(c), run_(run), n_(c.alignment.regions.size()) {}

  void sample(const Feeds& feeds, BisectionRun& result, const std::function<void()>& step) const {
    const Graph& original = c_.graphs.original;
    const Graph fused = with_instances(c_, std::vector<bool>(n_, true));
    const Values before = all_values(original, feeds, run_);
    const Values after = all_values(fused, feeds, run_);
    result.whole.merge(differ(original, before, after));
    for (std::size_t i = 0; i < n_; ++i) {
      const std::string& output = c_.alignment.regions[i].output;
      std::vector<bool> only(n_, false), rest(n_, true);
      only[i] = true;
      rest[i] = false;
      InstanceEffect& e = result.instances[i];
      e.one_only.merge(
          differ(original, before, run_behind(with_instances(c_, only), output, before, run_)));
      e.left_out.merge(
          differ(original, before, run_behind(with_instances(c_, rest), output, after, run_)));
      step();
    }
  }

 private:
  const Comparison& c_;
  const RunGraph& run_;
  std::size_t n_;
};

void set_shares(BisectionRun& run) {
  double total = 0;
  for (const InstanceEffect& e : run.instances) total += e.one_only.sum_error2;
  if (total <= 0) return;
  for (InstanceEffect& e : run.instances) e.share = e.one_only.sum_error2 / total;
}

Json effect_json(const PairStats& s) {
  return {{"max_abs", json_number(s.max_abs)},
          {"max_ulp", json_number(s.max_ulp)},
          {"different", s.different},
          {"nonfinite_mismatch", s.nonfinite_mismatch}};
}

Json run_json(const BisectionRun& run) {
  if (!run.note.empty()) return {{"evaluation", run.evaluation}, {"note", run.note}};
  std::vector<const InstanceEffect*> order;
  for (const InstanceEffect& e : run.instances) order.push_back(&e);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->share > b->share; });
  Json list = Json::array();
  for (const InstanceEffect* e : order) {
    list.push_back({{"output", e->output},
                    {"rule", e->rule},
                    {"verdict", e->verdict},
                    {"one_only", effect_json(e->one_only)},
                    {"leave_one_out", effect_json(e->left_out)},
                    {"share", json_number(e->share)}});
  }
  return {{"evaluation", run.evaluation},
          {"elements", run.whole.count},
          {"whole", effect_json(run.whole)},
          {"instances", std::move(list)}};
}

}  // namespace

std::vector<BisectionRun> bisect(const Comparison& c,
                                 const std::vector<FusionCertificate>& certificates,
                                 const BisectOptions& options) {
  std::vector<std::pair<std::string, RunGraph>> evaluations{{"f32", run_canonical()}};
  if (options.kernels) evaluations.emplace_back("onednn", run_kernels());
  std::vector<BisectionRun> runs;
  const auto total =
      static_cast<std::int64_t>(evaluations.size() * options.samples.size() * certificates.size());
  std::int64_t done = 0;
  const auto step = [&] {
    if (options.progress) options.progress(++done, total);
  };
  for (const auto& [name, run] : evaluations) {
    BisectionRun result{.evaluation = name};
    for (const FusionCertificate& f : certificates)
      result.instances.push_back({.output = f.output,
                                  .rule = f.rule,
                                  .verdict = f.verdict,
                                  .one_only = {},
                                  .left_out = {}});
    const Bisection bisection(c, run);
    try {
      for (const Feeds& feeds : options.samples) bisection.sample(feeds, result, step);
      set_shares(result);
    } catch (const Error& e) {
      result.note = e.what();
    }
    runs.push_back(std::move(result));
  }
  return runs;
}

Json to_json(const std::vector<BisectionRun>& runs, std::int64_t samples) {
  Json j{
      {"samples", samples},
      {"note",
       "one-only: the original with this instance alone fused; leave-one-out: everything fused "
       "but this instance; both against the original, over all outputs. Shares are of the summed "
       "squares of the one-only differences."},
      {"runs", Json::array()}};
  for (const BisectionRun& r : runs) j["runs"].push_back(run_json(r));
  return j;
}

}  // namespace assay
