#include "tests/random_graphs/faults.h"

#include <algorithm>
#include <cmath>

#include "runtime/executor.h"
#include "tests/random_graphs/fingerprint.h"
#include "validation/certificate/certify.h"
#include "validation/certificate/difference.h"
#include "validation/certificate/radius.h"

namespace assay::testing {
namespace {

std::vector<Fault>& registry() {
  static std::vector<Fault> faults;
  return faults;
}

std::vector<Fault> shuffled(Random& random) {
  auto list = registry();
  std::sort(list.begin(), list.end(),
            [](const Fault& a, const Fault& b) { return a.name < b.name; });
  for (std::size_t i = list.size(); i > 1; --i)
    std::swap(list[i - 1],
              list[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
  return list;
}

std::map<std::string, int> fired(const RewriteLog& log) {
  std::map<std::string, int> counts;
  for (const FiredRewrite& f : log.fired) ++counts[f.rule];
  return counts;
}

std::set<std::string> removed(const RewriteLog& log) {
  std::set<std::string> names;
  for (const FiredRewrite& f : log.fired) {
    if (f.rule == "drop_dead_code" || f.rule == "fold_constants") continue;
    for (const NodeNote& n : f.removed) names.insert(n.name);
  }
  return names;
}

/// The fused graph with the fault, and the log that goes with it; nullopt when it changes nothing.
/// `what` receives the words of the fault.
std::optional<FusionResult> faulted(const RandomGraph& r, const FusionResult& right,
                                    const Fault& fault, Random& random, std::string& what) {
  FusionResult wrong = right;
  Graph read = r.graph;
  const bool writing = fault.kind == Fault::Kind::writing;
  FaultSite site{writing ? wrong.graph : read, random, {}, {}, {}};
  if (writing) {
    for (const FiredRewrite& f : right.log.fired) {
      for (const NodeNote& n : f.made) site.nodes.insert(n.name);
      site.constants.insert(f.constants.begin(), f.constants.end());
    }
  } else if (fault.kind == Fault::Kind::reading) {
    site.nodes = removed(right.log);
  } else {
    for (const NodeId n : read.node_ids()) site.nodes.insert(read.node(n).name);
  }
  if (!fault.inject(site)) return std::nullopt;
  what = site.what;
  site.graph.verify();
  if (!writing) wrong = fuse(read, {.mode = "all"});
  const bool same_rules = fired(wrong.log) == fired(right.log);
  if (fault.kind == Fault::Kind::reading && !same_rules) return std::nullopt;
  if (fault.kind == Fault::Kind::guard && wrong.log.fired.size() <= right.log.fired.size())
    return std::nullopt;
  if (fingerprint(wrong.graph) == fingerprint(right.graph)) return std::nullopt;
  return wrong;
}

Feeds scaled(const Feeds& feeds, double factor) {
  Feeds result = feeds;
  for (auto& [name, t] : result) {
    if (!is_float(t.dtype())) continue;
    Tensor wide = convert(t, DType::float64).clone();
    for (double& x : wide.mutable_data<double>()) x *= factor;
    t = convert(wide, t.dtype());
  }
  return result;
}

/// What `wrong` takes of what the original is fed.
Feeds known_inputs(const Graph& wrong, const Feeds& given) {
  Feeds known;
  for (const auto& [name, t] : given) {
    const auto v = wrong.find_value(name);
    if (v && wrong.value(*v).is_input) known[name] = t;
  }
  return known;
}

/// Calls differ(feeds of `a`, feeds of `b`) on samples, small and large, of either sign, until it
/// says yes.
template <class Differ>
bool seen_on_samples(const RandomGraph& r, const Graph& a, const Graph& b, Differ&& differ) {
  for (const Feeds& feeds : r.samples) {
    for (const double factor : {1.0, -1.0, 16.0, -1.0 / 16}) {
      const Feeds given = scaled(feeds, factor);
      if (differ(known_inputs(a, given), known_inputs(b, given))) return true;
    }
  }
  return false;
}

/// What the outputs are computed from, without the subgraphs at their ends: a node with a subgraph
/// has no radius, and is the same function of what it captures on both sides.
std::vector<ValueId> bounded_ends(const Graph& g) {
  std::vector<ValueId> ends;
  for (const ValueId out : g.outputs()) {
    const Node* n = g.producer(out);
    if (n == nullptr || n->captures.empty()) {
      ends.push_back(out);
      continue;
    }
    for (const ValueId v : n->captures) {
      if (g.constant(v) == nullptr && !g.value(v).is_input) ends.push_back(v);
    }
  }
  return ends;
}

}  // namespace

bool changes_nothing(const RandomGraph& r, const Graph& right, const Graph& wrong) {
  return !seen_on_samples(r, right, wrong, [&](const Feeds& fa, const Feeds& fb) {
    const auto a = Executor(right, Precision::dd).run(fa);
    const auto b = Executor(wrong, Precision::dd).run(fb);
    return std::any_of(a.begin(), a.end(), [&](const auto& output) {
      return !b.count(output.first) || !same_bits(output.second, b.at(output.first));
    });
  });
}

bool hides_in_rounding(const RandomGraph& r, const Graph& wrong) {
  for (const ValueId out : bounded_ends(r.graph)) {
    const auto there = wrong.find_value(r.graph.name(out));
    if (!there) return false;
    const Graph o = extract(r.graph, r.graph.inputs(), {out});
    const Graph f = extract(wrong, wrong.inputs(), {*there});
    const bool seen = seen_on_samples(r, o, f, [&](const Feeds& fa, const Feeds& fb) {
      const Bounded a = evaluate_bounded(o, fa, Precision::f64, true);
      const Bounded b = evaluate_bounded(f, fb, Precision::f64, true);
      const Bounded ra = evaluate_bounded(o, fa, Precision::f32, true);
      const Bounded rb = evaluate_bounded(f, fb, Precision::f32, true);
      if (!ra.radius || !rb.radius) return !same_bits(a.value, b.value);
      const auto allowed = sum_of({to_doubles(*ra.radius), to_doubles(*rb.radius),
                                   to_doubles(*ra.radius), to_doubles(*rb.radius)});
      return difference(a.value, b.value, allowed).usage > 1;
    });
    if (seen) return false;
  }
  return true;
}

std::vector<NodeId> FaultSite::nodes_of(const std::string& types) const {
  const std::string list = "|" + types + "|";
  std::vector<NodeId> found;
  for (const NodeId n : graph.node_ids()) {
    const Node& node = graph.node(n);
    const bool typed = types == "*" || list.find("|" + node.op_type + "|") != std::string::npos;
    if (typed && nodes.count(node.name)) found.push_back(n);
  }
  for (std::size_t i = found.size(); i > 1; --i)
    std::swap(found[i - 1],
              found[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
  return found;
}

const Tensor* FaultSite::constant(NodeId n, std::size_t i) const {
  const Node& node = graph.node(n);
  return node.has_input(i) ? graph.constant(node.inputs[i]) : nullptr;
}

void FaultSite::set_constant(NodeId n, std::size_t i, Tensor t) {
  graph.set_input(n, i, graph.add_initializer(graph.fresh_name("fault"), std::move(t)));
}

RegisterFault::RegisterFault(Fault fault) { registry().push_back(std::move(fault)); }

std::optional<bool> fault_is_caught(const RandomGraph& r, std::uint64_t seed, Counts& counts,
                                    std::string& text) {
  if (!in_domain(r)) return std::nullopt;
  Random random(seed ^ 0xFA017);
  const FusionResult right = fuse(r.graph, {.mode = "all"});
  for (const Fault& fault : shuffled(random)) {
    std::optional<FusionResult> wrong;
    std::string what;
    try {
      wrong = faulted(r, right, fault, random, what);
    } catch (const Error&) {
      continue;  // the changed graph is no graph any more
    }
    if (!wrong || changes_nothing(r, right.graph, wrong->graph)) continue;
    if (fault.may_be_equivalent && hides_in_rounding(r, wrong->graph)) continue;
    text = fault.name + what;
    bool caught = false;
    const auto result =
        certify(r.graph, wrong->graph, &wrong->log, {.samples = r.samples, .kernels = false});
    for (const FusionCertificate& c : result.fusions) {
      caught = caught || c.verdict == "E5";
      text += "; " + c.rule + " at '" + c.output + "' " + c.verdict + " " + c.reason;
    }
    ++counts.faults;
    counts.caught += caught;
    auto& [injected, found] = counts.by_fault[fault.name];
    ++injected;
    found += caught;
    return caught;
  }
  return std::nullopt;
}

}  // namespace assay::testing
