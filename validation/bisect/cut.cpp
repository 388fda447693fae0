#include "validation/bisect/cut.h"

#include <algorithm>
#include <cmath>

#include "validation/bisect/partial_run.h"
#include "validation/certificate/difference.h"

namespace assay {
namespace {

double distance(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return INFINITY;
  if (a.dtype() != DType::float32) return same_bits(a, b) ? 0.0 : INFINITY;
  return relative_distance(a, b);
}

struct Pair {
  std::string original, fused;
};

/// Names of what nodes compute, the graph output left out.
std::vector<std::string> inner_values(const Graph& g) {
  std::vector<std::string> names;
  for (const NodeId n : g.topological_order()) {
    for (const ValueId v : g.node(n).outputs) {
      if (v.valid() && !g.is_output(v)) names.push_back(g.name(v));
    }
  }
  return names;
}

std::vector<Pair> pairs(const FailingCase& c, const Values& original, const Values& fused) {
  const std::string& out = c.original.name(c.original.outputs()[0]);
  const std::string& fused_out = c.fused.name(c.fused.outputs()[0]);
  const double whole = distance(fused.at(fused_out), original.at(out));
  const double limit = std::isfinite(whole) ? std::max(2 * whole, 1e-5) : 1e-5;
  std::vector<Pair> list;
  for (const std::string& y : inner_values(c.fused)) {
    Pair best;
    double nearest = INFINITY;
    for (const std::string& x : inner_values(c.original)) {
      const double d = distance(fused.at(y), original.at(x));
      if (d > limit || d >= nearest) continue;
      nearest = d;
      best = {x, y};
    }
    if (!best.original.empty()) list.push_back(best);
  }
  return list;
}

/// `g` between its inputs, 'from' if there is one, and `to`. Both get the names that the other
/// graph has for them.
Graph between(const Graph& g, const std::string& from, const std::string& to,
              const std::map<std::string, std::string>& names) {
  Graph renamed = g;
  for (const auto& [now, name] : names) {
    if (now == name) continue;
    const ValueId v = *renamed.find_value(now);
    if (const auto taken = renamed.find_value(name))
      renamed.rename(*taken, renamed.fresh_name(name + "_inner"));
    renamed.rename(v, name);
  }
  const auto now = [&](const std::string& name) {
    const auto it = names.find(name);
    return *renamed.find_value(it == names.end() ? name : it->second);
  };
  std::vector<ValueId> inputs = renamed.inputs();
  if (!from.empty()) inputs.push_back(now(from));
  return extract(renamed, inputs, {now(to)});
}

}  // namespace

std::vector<FailingCase> cuts(const FailingCase& c) {
  if (c.original.outputs().size() != 1 || c.fused.outputs().size() != 1) return {};
  const Values original = all_values(c.original, c.feeds, run_canonical());
  const Values fused = all_values(c.fused, c.feeds, run_canonical());
  const std::string& out = c.original.name(c.original.outputs()[0]);
  const std::string& fused_out = c.fused.name(c.fused.outputs()[0]);
  std::vector<FailingCase> list;
  for (const Pair& p : pairs(c, original, fused)) {
    FailingCase end = c;
    end.original = between(c.original, "", p.original, {});
    end.fused = between(c.fused, "", p.fused, {{p.fused, p.original}});
    list.push_back(std::move(end));
    FailingCase begin = c;
    begin.original = between(c.original, p.original, out, {});
    begin.fused = between(c.fused, p.fused, fused_out, {{p.fused, p.original}, {fused_out, out}});
    begin.feeds[p.original] = original.at(p.original);
    list.push_back(std::move(begin));
  }
  std::stable_sort(list.begin(), list.end(), [](const FailingCase& a, const FailingCase& b) {
    return node_count(a) < node_count(b);
  });
  return list;
}

}  // namespace assay
