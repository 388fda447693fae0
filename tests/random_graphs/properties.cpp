#include "tests/random_graphs/properties.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/onnx/reader.h"
#include "runtime/onnx/writer.h"
#include "tests/random_graphs/fingerprint.h"
#include "tests/random_graphs/random.h"
#include "validation/certificate/certify.h"
#include "validation/certificate/radius.h"

namespace assay::testing {
namespace {

using Troubles = std::vector<std::string>;

void check_file(const Graph& fused, const RandomGraph& r, Troubles& troubles) {
  fused.verify();
  const std::string bytes = onnx_bytes(fused);
  const Graph again = read_onnx(std::as_bytes(std::span(bytes.data(), bytes.size())));
  const auto want = Executor(fused, Precision::cr).run(r.samples[0]);
  const auto got = Executor(again, Precision::cr).run(r.samples[0]);
  for (const auto& [name, t] : want) {
    if (!got.count(name) || !same_bits(t, got.at(name)))
      troubles.push_back("the written file gives other bits at '" + name + "'");
  }
}

void check_certificates(const RandomGraph& r, const FusionResult& f, Counts& counts,
                        Troubles& troubles, std::vector<std::string>* doubtful) {
  // Certificates speak of float32 storage.
  for (const ValueId v : r.graph.inputs()) {
    if (r.graph.value(v).type.dtype == DType::float64) return;
  }
  const CertifyResult result =
      certify(r.graph, f.graph, &f.log, {.samples = r.samples, .kernels = false});
  for (const FusionCertificate& c : result.fusions) {
    ++counts.instances;
    ++counts.verdicts[c.verdict];
    const bool changes_codes = c.rule.find("drop_inner_quantizer") != std::string::npos ||
                               c.rule.find("drop_requantize") != std::string::npos;
    if (c.verdict <= "E2" || (c.verdict == "E3" && changes_codes)) continue;
    ++(c.verdict == "U" ? counts.undecided : counts.alarms);
    if (doubtful == nullptr) continue;
    doubtful->push_back(fmt::format("{} at '{}' is {}: {}", c.rule, c.output, c.verdict, c.reason));
  }
  if (!result.coverage["unaligned"].empty())
    troubles.push_back("not judged: " + result.coverage["unaligned"].dump());
}

/// Both graphs in float64, each with the float32 radius of any order of summation. A stored
/// constant of a fold is off by half a unit, which moves a product by less than its own rounding
/// does; four times the two radii leave room for that and for chains of folds.
void check_whole(const RandomGraph& r, const Graph& fused, Troubles& troubles) {
  for (const ValueId out : r.graph.outputs()) {
    const std::string& name = r.graph.name(out);
    const Graph o = extract(r.graph, r.graph.inputs(), {out});
    const Graph f = extract(fused, fused.inputs(), {*fused.find_value(name)});
    for (const Feeds& feeds : r.samples) {
      const Bounded a = evaluate_bounded(o, feeds, Precision::f32, true);
      const Bounded b = evaluate_bounded(f, feeds, Precision::f32, true);
      if (!a.radius || !b.radius) continue;
      const auto x = to_doubles(a.value);
      const auto y = to_doubles(b.value);
      const auto rx = to_doubles(*a.radius);
      const auto ry = to_doubles(*b.radius);
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (!std::isfinite(x[i]) || !std::isfinite(y[i])) continue;
        if (!std::isfinite(rx[i]) || !std::isfinite(ry[i])) continue;  // behind an overflow
        if (std::fabs(x[i] - y[i]) <= 4 * (rx[i] + ry[i]) + 0x1p-140) continue;
        troubles.push_back(fmt::format("'{}'[{}]: {} against {}, radii {} and {}", name, i, x[i],
                                       y[i], rx[i], ry[i]));
        return;
      }
    }
  }
}

void check_order(const RandomGraph& r, const std::string& mode, const Graph& fused,
                 Troubles& troubles) {
  const auto want = fingerprint(fused);
  for (const unsigned order : {1U, 2U + static_cast<unsigned>(r.seed % 1000)}) {
    const FusionResult other = fuse(r.graph, {.mode = mode, .order_seed = order});
    if (fingerprint(other.graph) != want)
      troubles.push_back(fmt::format("rule order {} gives another graph", order));
  }
}

}  // namespace

void Counts::merge(const Counts& o) {
  graphs += o.graphs;
  fused += o.fused;
  instances += o.instances;
  undecided += o.undecided;
  alarms += o.alarms;
  faults += o.faults;
  caught += o.caught;
  for (const auto& [k, v] : o.verdicts) verdicts[k] += v;
  for (const auto& [k, v] : o.fired) fired[k] += v;
  for (const auto& [k, v] : o.declined) declined[k] += v;
  for (const auto& [k, v] : o.by_fault)
    by_fault[k].first += v.first, by_fault[k].second += v.second;
}

std::string to_string(const Counts& c) {
  std::string text = fmt::format("{} graphs, {} rewritten forms, {} certificates:", c.graphs,
                                 c.fused, c.instances);
  for (const auto& [verdict, n] : c.verdicts) text += fmt::format(" {} {}", verdict, n);
  text += fmt::format("\n{} undecided, {} doubted although correct", c.undecided, c.alarms);
  text += "\nrule                                   fired  declined\n";
  for (const Rewrite* rule : all_rewrites()) {
    const auto of = [&](const auto& map) {
      const auto it = map.find(rule->name);
      return it == map.end() ? std::int64_t{0} : it->second;
    };
    text += fmt::format("{:<36}{:>8}{:>10}\n", rule->name, of(c.fired), of(c.declined));
  }
  if (c.faults == 0) return text;
  text += fmt::format("{} faults injected, {} caught\n", c.faults, c.caught);
  for (const auto& [name, n] : c.by_fault)
    text += fmt::format("{:<36}{:>8}{:>10}\n", name, n.first, n.second);
  return text;
}

std::vector<std::string> check(const RandomGraph& r, const std::string& mode, Counts& counts,
                               std::vector<std::string>* doubtful) {
  Troubles troubles;
  try {
    const FusionResult f = fuse(r.graph, {.mode = mode});
    for (const FiredRewrite& one : f.log.fired) ++counts.fired[one.rule];
    for (const DeclinedRewrite& one : f.log.declined) ++counts.declined[one.rule];
    check_order(r, mode, f.graph, troubles);
    if (f.log.fired.empty()) return troubles;
    ++counts.fused;
    check_file(f.graph, r, troubles);
    check_certificates(r, f, counts, troubles, doubtful);
    check_whole(r, f.graph, troubles);
  } catch (const std::exception& e) {
    troubles.push_back(std::string("threw: ") + e.what());
  }
  return troubles;
}

bool in_domain(const RandomGraph& r) {
  std::set<std::string> all;
  for (const NodeId n : r.graph.node_ids()) {
    for (const ValueId v : r.graph.node(n).outputs) {
      if (v.valid()) all.insert(r.graph.name(v));
    }
  }
  for (const Feeds& feeds : r.samples) {
    for (const auto& [name, t] : Executor(r.graph, Precision::cr).run(feeds, nullptr, all)) {
      if (t.dtype() == DType::float64) return false;
      const auto x = to_doubles(t);
      if (!std::all_of(x.begin(), x.end(), [](double v) { return std::isfinite(v); })) return false;
    }
  }
  return true;
}

std::vector<std::string> sets_for(const RandomGraph& r) {
  std::vector<std::string> sets;
  for (const FusionMode& m : fusion_modes()) sets.push_back(m.name);
  const auto rules = all_rewrites();
  Random random(r.seed ^ 0x5EED);
  sets.push_back(random.pick(rules)->name);
  return sets;
}

}  // namespace assay::testing
