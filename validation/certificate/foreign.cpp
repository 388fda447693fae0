#include "validation/certificate/foreign.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "fusion/pipeline.h"
#include "runtime/error.h"
#include "validation/certificate/difference.h"
#include "validation/certificate/standardize.h"

namespace assay {
namespace {

using Values = std::map<std::string, Tensor>;

std::set<std::string> computed(const Graph& g) {
  std::set<std::string> names;
  for (const NodeId n : g.node_ids()) {
    for (const ValueId v : g.node(n).outputs) {
      if (v.valid()) names.insert(g.name(v));
    }
  }
  return names;
}

Values run_all(const Graph& g, const Feeds& feeds) {
  Values values = Executor(g, Precision::f32).run(feeds, nullptr, computed(g));
  for (const auto& [name, t] : feeds) values.emplace(name, t);
  return values;
}

/// The sample backwards and at three quarters: a second input when there is only one.
Feeds another(const Feeds& feeds) {
  Feeds other = feeds;
  for (auto& [name, t] : other) {
    if (t.dtype() != DType::float32) continue;
    t = t.clone();
    auto data = t.mutable_data<float>();
    std::reverse(data.begin(), data.end());
    for (float& x : data) x *= 0.75F;
  }
  return other;
}

std::vector<Feeds> two_probes(const std::vector<Feeds>& samples) {
  if (samples.size() > 1) return {samples[0], samples[1]};
  return {samples[0], another(samples[0])};
}

std::map<std::string, Shape> needed_shapes(const Graph& f, const Feeds& feeds) {
  std::map<std::string, Shape> shapes;
  const auto wanted = shapes_needed(f);
  if (wanted.empty()) return shapes;
  for (const auto& [name, t] : Executor(f, Precision::f32).run(feeds, nullptr, wanted))
    shapes[name] = t.shape();
  for (const auto& [name, shape] : shapes_of(feeds)) shapes[name] = shape;
  return shapes;
}

bool comparable(const Tensor& a, const Tensor& b) {
  return a.dtype() == DType::float32 && b.dtype() == DType::float32 && a.shape() == b.shape();
}

class Matcher {
 public:
  Matcher(const Graph& o, const Graph& f, const std::vector<Feeds>& probes,
          const std::map<std::string, std::string>& map)
      : o_(o), f_(f), map_(map) {
    for (const auto& [other, original] : map) claimed_.insert(original);
    // Graph outputs always align with each other: no inner value may take their place.
    for (const ValueId v : f.outputs()) {
      if (!map.count(f.name(v)) && o.find_value(f.name(v))) outputs_.insert(f.name(v));
    }
    for (const Feeds& feeds : probes) {
      golden_.push_back(run_all(o, feeds));
      local_.push_back(feeds);
    }
    for (const NodeId n : o.topological_order()) {
      for (const ValueId v : o.node(n).outputs) {
        if (v.valid()) order_.push_back(o.name(v));
      }
    }
  }

  /// Name in the original of each aligned value of the fused graph.
  std::map<std::string, std::string> run(Comparable& result) {
    for (const NodeId n : f_.topological_order()) {
      try {
        evaluate(n);
      } catch (const Error& e) {
        result.notes.push_back(describe(f_.node(n)) + ": " + e.what());
        continue;
      }
      for (const ValueId v : f_.node(n).outputs) {
        if (v.valid() && !f_.name(v).empty()) assign(v, result);
      }
    }
    return std::move(pairs_);
  }

 private:
  /// One node on the original's tensors where its inputs are aligned.
  void evaluate(NodeId n) {
    const Node& node = f_.node(n);
    std::vector<ValueId> in;
    std::vector<ValueId> out;
    for (const ValueId v : node.inputs) {
      if (v.valid() && f_.constant(v) == nullptr && std::find(in.begin(), in.end(), v) == in.end())
        in.push_back(v);
    }
    for (const ValueId v : node.captures) {
      if (f_.constant(v) == nullptr && std::find(in.begin(), in.end(), v) == in.end())
        in.push_back(v);
    }
    for (const ValueId v : node.outputs) {
      if (v.valid()) out.push_back(v);
    }
    const Executor executor(extract(f_, in, out), Precision::f32);
    for (Values& values : local_) {
      Feeds feeds;
      for (const ValueId v : in) {
        const auto at = values.find(f_.name(v));
        if (at == values.end())
          throw Error({.what = "an input was not computed", .where = f_.name(v)});
        feeds[f_.name(v)] = at->second;
      }
      for (auto& [name, t] : executor.run(feeds)) values[name] = t;
    }
  }

  double worst_distance(const std::string& mine, const std::string& theirs) const {
    double worst = 0;
    for (std::size_t p = 0; p < golden_.size(); ++p) {
      const auto b = golden_[p].find(theirs);
      if (b == golden_[p].end()) return INFINITY;
      const Tensor& a = local_[p].at(mine);
      if (!comparable(a, b->second)) {
        if (a.dtype() == b->second.dtype() && a.shape() == b->second.shape() &&
            same_bits(a, b->second))
          continue;
        return INFINITY;
      }
      worst = std::max(worst, relative_distance(a, b->second));
    }
    return worst;
  }

  bool same_values(const std::string& a, const std::string& b) const {
    for (const Values& g : golden_) {
      if (!same_bits(g.at(a), g.at(b))) return false;
    }
    return true;
  }

  struct Best {
    std::string name;
    double distance = INFINITY;
    bool unique = false;
  };

  Best search(const std::string& mine) const {
    Best best;
    std::vector<std::pair<std::string, double>> close;
    for (const std::string& name : order_) {
      const double d = worst_distance(mine, name);
      if (d > 1e-3) continue;
      close.emplace_back(name, d);
      if (d < best.distance && !claimed_.count(name) && !outputs_.count(name))
        best = {name, d, true};
    }
    if (best.name.empty()) return best;
    for (const auto& [name, d] : close) {
      if (name != best.name && d <= 100 * std::max(best.distance, 1e-7) &&
          !same_values(name, best.name))
        best.unique = false;
    }
    return best;
  }

  void assign(ValueId v, Comparable& result) {
    const std::string mine = f_.name(v);
    if (const auto pair = map_.find(mine); pair != map_.end())
      return align(mine, pair->second, result);
    const auto named = o_.find_value(mine);
    const bool has_name = named && o_.producer(*named) != nullptr && !claimed_.count(mine);
    if (has_name && f_.is_output(v)) return align(mine, mine, result);
    const double under_name = has_name ? worst_distance(mine, mine) : INFINITY;
    if (has_name && under_name <= 1e-5) return align(mine, mine, result);
    const Best best = search(mine);
    if (has_name && under_name <= 100 * best.distance && under_name <= 0.5)
      return align(mine, mine, result);
    if (best.unique) return align(mine, best.name, result);
    // Nothing contradicts the name: a changed constant or operator must be judged where it is.
    if (has_name && !std::isfinite(best.distance)) align(mine, mine, result);
  }

  void align(const std::string& mine, const std::string& theirs, Comparable& result) {
    pairs_[mine] = theirs;
    claimed_.insert(theirs);
    ++(map_.count(mine) ? result.by_map : mine == theirs ? result.by_name : result.by_cut);
    for (std::size_t p = 0; p < golden_.size(); ++p) {
      const Tensor& t = golden_[p].at(theirs);
      if (t.shape() == local_[p].at(mine).shape()) local_[p][mine] = t;
    }
  }

  const Graph& o_;
  const Graph& f_;
  const std::map<std::string, std::string>& map_;
  std::vector<Values> golden_, local_;
  std::vector<std::string> order_;
  std::set<std::string> claimed_, outputs_;
  std::map<std::string, std::string> pairs_;
};

/// Every value under the original's name where it is aligned, else under a name that the original
/// does not have.
void rename_all(Graph& f, const Graph& o, const std::map<std::string, std::string>& pairs) {
  std::map<ValueId, std::string> target;
  for (const ValueId v : f.value_ids()) {
    if (f.value(v).is_input) continue;
    const auto pair = pairs.find(f.name(v));
    if (pair != pairs.end()) target[v] = pair->second;
    std::string own = "fused:" + f.name(v);
    while (o.find_value(own)) own += "'";
    f.rename(v, f.fresh_name(own));
  }
  for (const auto& [v, name] : target) f.rename(v, name);
}

Graph fold(const Graph& g) { return fuse(g, {.mode = "fold_constants"}).graph; }

void check_names(const Graph& original, const Graph& fused,
                 const std::map<std::string, std::string>& map) {
  for (const auto& [other, name] : map) {
    const bool missing = !original.find_value(name);
    if (!missing && fused.find_value(other)) continue;
    throw Error({.what = "the map names a value that the graph does not have",
                 .where = missing ? "original" : "other",
                 .got = "'" + (missing ? name : other) + "'"});
  }
}

}  // namespace

Comparable make_comparable(const Graph& original, const Graph& fused,
                           const std::vector<Feeds>& samples,
                           const std::map<std::string, std::string>& map) {
  check_names(original, fused, map);
  Comparable c{.original = fold(original), .fused = {}};
  if (samples.empty())
    throw Error({.what = "another tool's graph cannot be judged without inputs"});
  c.fused = fold(standardize(fused, needed_shapes(fused, samples[0])));
  const auto pairs = Matcher(c.original, c.fused, two_probes(samples), map).run(c);
  rename_all(c.fused, c.original, pairs);
  return c;
}

}  // namespace assay
