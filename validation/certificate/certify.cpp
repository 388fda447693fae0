#include "validation/certificate/certify.h"

#include <algorithm>
#include <set>

#include "validation/certificate/judge.h"

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

FusionCertificate judged(const Region& r, const Comparison& c, const std::vector<Feeds>& feeds,
                         const CertifyOptions& options) {
  try {
    return judge_region(r, c.own, feeds, options, c.graphs.original);
  } catch (const Error& e) {
    FusionCertificate open;
    open.rule = r.rule.empty() ? "other tool" : r.rule;
    open.nodes = r.nodes;
    open.output = r.output;
    open.labels = {"U"};
    open.reason = std::string("could not be judged: ") + e.what();
    return open;
  }
}

}  // namespace

Comparison compare_graphs(const Graph& original, const Graph& fused, const RewriteLog* log,
                          const CertifyOptions& options) {
  Comparison c{.graphs = log != nullptr
                             ? Comparable{.original = original, .fused = fused}
                             : make_comparable(original, fused, options.samples, options.map),
               .alignment = {},
               .own = log != nullptr};
  c.alignment = align(c.graphs.original, c.graphs.fused, log);
  return c;
}

std::vector<std::vector<Feeds>> region_feeds(const Comparison& c,
                                             const std::vector<Feeds>& samples) {
  const auto golden = golden_values(c.graphs.original, c.alignment, samples);
  std::vector<std::vector<Feeds>> list;
  for (const Region& r : c.alignment.regions) list.push_back(feeds_of(r, golden));
  return list;
}

CertifyResult certify(const Graph& original, const Graph& fused, const RewriteLog* log,
                      const CertifyOptions& options) {
  return certify(compare_graphs(original, fused, log, options), options);
}

CertifyResult certify(const Comparison& c, const CertifyOptions& options) {
  const Alignment& a = c.alignment;
  CertifyResult result;
  const auto feeds = region_feeds(c, options.samples);
  std::set<NodeId> undecided;  // a node in two regions needs both verdicts
  for (std::size_t i = 0; i < a.regions.size(); ++i) {
    const Region& r = a.regions[i];
    result.fusions.push_back(judged(r, c, feeds[i], options));
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
  if (c.own) return result;
  result.coverage["aligned_by_name"] = c.graphs.by_name;
  result.coverage["aligned_by_map"] = c.graphs.by_map;
  result.coverage["aligned_by_cut"] = c.graphs.by_cut;
  result.coverage["notes"] = c.graphs.notes;
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
