#include "validation/bench/check.h"

#include <algorithm>
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

/// Collects what `v` is computed from: taps and feeds end the search, constants come along by
/// themselves.
bool collect_leaves(const Graph& g, ValueId v, const Values& taps, std::set<ValueId>& seen,
                    Part& part, std::vector<ValueId>& leaves) {
  if (!v.valid() || g.constant(v) != nullptr || !seen.insert(v).second) return true;
  if (const auto it = taps.find(g.name(v)); it != taps.end()) {
    leaves.push_back(v);
    part.feeds[g.name(v)] = it->second;
    return true;
  }
  const Node* producer = g.producer(v);
  if (producer == nullptr) return false;
  return std::all_of(producer->inputs.begin(), producer->inputs.end(),
                     [&](ValueId in) { return collect_leaves(g, in, taps, seen, part, leaves); });
}

/// The node alone; a step of several nodes (a chain) comes with those whose values have no tap.
std::optional<Part> part_of(const Graph& g, NodeId n, const Values& taps) {
  Part part;
  std::set<ValueId> seen;
  std::vector<ValueId> leaves;
  for (const ValueId v : g.node(n).inputs) {
    if (!collect_leaves(g, v, taps, seen, part, leaves)) return std::nullopt;
  }
  part.graph = extract(g, leaves, {g.node(n).outputs[0]});
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

/// Elementary functions of kernels have an error of their own that no rounding bound covers.
/// tests/kernels/families_test.cpp measures oneDNN's over the float32 range: at most this many
/// units of 2^-24, relative to values above 1 and absolute below.
constexpr double elementary_units = 8;

bool is_elementary(const std::string& op) {
  static const char* const names[] = {"Sigmoid", "Tanh", "HardSwish", "Silu",
                                      "Gelu",    "Elu",  "Softmax",   "Exp"};
  return std::any_of(std::begin(names), std::end(names),
                     [&](const char* name) { return op.find(name) != std::string::npos; });
}

/// Largest |got - want| / allowed; infinity where they differ although nothing is allowed.
double share_of_bound(const Tensor& got, const Bounded& want, bool elementary) {
  const auto a = to_doubles(got), b = to_doubles(want.value), r = to_doubles(*want.radius);
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    double allowed = 2 * r[i];
    if (elementary) allowed += elementary_units * 0x1p-24 * std::max(1.0, std::abs(b[i]));
    const double share = std::abs(a[i] - b[i]) / allowed;
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
    const double share = share_of_bound(got, want, is_elementary(step.op));
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
