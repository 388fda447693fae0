#include "validation/bench/check.h"

#include <cmath>
#include <set>

#include "validation/certificate/radius.h"

namespace assay::bench {
namespace {

using Values = std::map<std::string, Tensor>;

/// The step's node alone, with the feeds that its free inputs need; nothing when a tap is missing
/// (folded at compile time).
struct Part {
  Graph graph;
  Feeds feeds;
};

std::optional<Part> part_of(const Graph& g, NodeId n, const Values& taps) {
  std::vector<ValueId> inputs, outputs{g.node(n).outputs[0]};
  Part part;
  std::set<ValueId> seen;
  for (const ValueId v : g.node(n).inputs) {
    if (!v.valid() || g.constant(v) != nullptr || !seen.insert(v).second) continue;
    const auto it = taps.find(g.name(v));
    if (it == taps.end()) return std::nullopt;
    inputs.push_back(v);
    part.feeds[g.name(v)] = it->second;
  }
  part.graph = extract(g, inputs, outputs);
  return part;
}

void state_arithmetic(Graph& g, const kernels::IntArithmetic& k) {
  for (const NodeId n : g.node_ids()) {
    if (g.node(n).domain != assay_domain) continue;
    Attributes a = g.node(n).attributes;
    a.set("acc", kernels::to_string(k.acc));
    a.set("s8", kernels::to_string(k.s8));
    a.set("comp", kernels::to_string(k.comp));
    a.set("residual_form", kernels::to_string(k.residual));
    g.set_attributes(n, std::move(a));
  }
}

/// Largest |got - want| / (2 radius); infinity where they differ although the radius is 0.
double share_of_bound(const Tensor& got, const Bounded& want) {
  const auto a = to_doubles(got), b = to_doubles(want.value), r = to_doubles(*want.radius);
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const double share = std::abs(a[i] - b[i]) / (2 * r[i]);
    worst = std::isnan(share) ? INFINITY : std::max(worst, share);
  }
  return worst;
}

class Checker {
 public:
  Checker(const Graph& g, const Values& taps) : g_(g), taps_(taps) {}

  void judge(const kernels::StepInfo& step) {
    const auto n = step.node.empty() ? std::nullopt : g_.find_node(step.node);
    const auto got = taps_.find(step.value);
    if (!n || got == taps_.end() || step.reference()) return;
    auto part = part_of(g_, *n, taps_);
    if (!part) return;
    if (step.arithmetic) state_arithmetic(part->graph, *step.arithmetic);
    const auto reference = Executor(part->graph, Precision::f32).run(part->feeds);
    if (same_bits(got->second, reference.at(step.value))) return count_exact();
    if (step.arithmetic || !is_float(got->second.dtype())) return fail(step, INFINITY);
    judge_float(step, *part, got->second);
  }

  StepCheck found() const { return found_; }

 private:
  void count_exact() {
    ++found_.judged;
    ++found_.exact;
  }

  void fail(const kernels::StepInfo& step, double share) {
    ++found_.judged;
    if (found_.passed) {
      found_.worst = step.node + " (" + step.op + ", " + step.kernel + ")";
      found_.share = share;
    }
    found_.passed = false;
  }

  void judge_float(const kernels::StepInfo& step, const Part& part, const Tensor& got) {
    const Bounded want = evaluate_bounded(part.graph, part.feeds, Precision::f32, true);
    if (!want.radius) {
      ++found_.unjudged;
      return;
    }
    const double share = share_of_bound(got, want);
    if (!(share <= 1)) return fail(step, share);
    ++found_.judged;
    if (!found_.passed || share <= found_.share) return;
    found_.share = share;
    found_.worst = step.node + " (" + step.op + ", " + step.kernel + ")";
  }

  const Graph& g_;
  const Values& taps_;
  StepCheck found_;
};

}  // namespace

StepCheck check_steps(const Graph& g, kernels::Program& program, const Feeds& feeds) {
  std::set<std::string> names;
  for (const ValueId v : g.value_ids()) names.insert(g.name(v));
  Values taps = program.run(feeds, names);
  for (const auto& [name, t] : feeds) taps[name] = t;
  Checker checker(g, taps);
  for (const kernels::StepInfo& step : program.steps()) checker.judge(step);
  return checker.found();
}

}  // namespace assay::bench
