#include "validation/certificate/certify.h"

#include <algorithm>
#include <set>

#include "validation/certificate/foreign.h"
#include "validation/certificate/judge.h"
#include "validation/certificate/regions.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

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
    for (const ValueId v : original.inputs()) {
      if (original.value(v).initializer.defined())
        values.emplace(original.name(v), original.value(v).initializer);
    }
    all.push_back(std::move(values));
  }
  return all;
}

std::vector<Feeds> feeds_of(const Region& r,
                            const std::vector<std::map<std::string, Tensor>>& golden) {
  std::vector<Feeds> list;
  for (const auto& values : golden) {
    Feeds feeds;
    for (const std::string& name : r.inputs) feeds[name] = values.at(name);
    list.push_back(std::move(feeds));
  }
  return list;
}

}  // namespace

CertifyResult certify(const Graph& given, const Graph& other, const RewriteLog* log,
                      const CertifyOptions& options) {
  Comparable both = log != nullptr ? Comparable{.original = given, .fused = other}
                                   : make_comparable(given, other, options.samples, options.map);
  const Graph& original = both.original;
  const Alignment a = align(original, both.fused, log);
  CertifyResult result;
  const auto golden = golden_values(original, a, options.samples);
  std::set<NodeId> undecided;  // a node in two regions needs both verdicts
  for (const Region& r : a.regions) {
    try {
      result.fusions.push_back(judge_region(r, log != nullptr, feeds_of(r, golden), options));
    } catch (const Error& e) {
      FusionCertificate open;
      open.rule = r.rule.empty() ? "other tool" : r.rule;
      open.nodes = r.nodes;
      open.output = r.output;
      open.labels = {"U"};
      open.reason = std::string("could not be judged: ") + e.what();
      result.fusions.push_back(std::move(open));
    }
    if (result.fusions.back().verdict == "U")
      undecided.insert(r.fused_ids.begin(), r.fused_ids.end());
  }
  result.coverage = {{"nodes_unchanged", a.unchanged},
                     {"nodes_changed", a.changed},
                     {"nodes_undecided", undecided.size()},
                     {"regions", a.regions.size()}};
  const auto open = static_cast<double>(a.unaligned.size() + undecided.size());
  result.coverage["share_judged"] =
      a.changed == 0 ? 1.0 : 1.0 - open / static_cast<double>(a.changed);
  result.coverage["unaligned"] = a.unaligned;
  if (log != nullptr) return result;
  result.coverage["aligned_by_name"] = both.by_name;
  result.coverage["aligned_by_map"] = both.by_map;
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
