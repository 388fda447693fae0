#include "validation/certificate/structure.h"

#include <algorithm>
#include <set>

#include "validation/certificate/operators.h"

namespace assay {
namespace {

class StructureMatcher {
 public:
  StructureMatcher(const Graph& a, const Graph& b) : a_(a), b_(b) {}

  bool same(ValueId x, ValueId y) {
    x = through_identity(a_, x);
    y = through_identity(b_, y);
    if (!x.valid() || !y.valid()) return x.valid() == y.valid();
    const Tensor* s = a_.constant(x);
    const Tensor* t = b_.constant(y);
    if (s != nullptr || t != nullptr) return s != nullptr && t != nullptr && same_bits(*s, *t);
    const Node* p = a_.producer(x);
    const Node* q = b_.producer(y);
    if (p == nullptr || q == nullptr) return p == q && a_.name(x) == b_.name(y);
    if (known_.count({x, y})) return true;
    if (!same_nodes(*p, *q, output_index(*p, x), output_index(*q, y))) return false;
    known_.insert({x, y});
    return true;
  }

 private:
  /// The value behind Identity and products with a single 1, which change no bit of a number.
  static ValueId through_identity(const Graph& g, ValueId v) {
    while (v.valid() && g.producer(v) != nullptr) {
      const Node& n = *g.producer(v);
      if (n.is("Identity")) {
        v = n.inputs[0];
      } else if (n.is("Mul") && is_one(g, n.inputs[1])) {
        v = n.inputs[0];
      } else {
        break;
      }
    }
    return v;
  }

  static bool is_one(const Graph& g, ValueId v) {
    const Tensor* t = g.constant(v);
    return t != nullptr && t->numel() == 1 && t->shape().rank() <= 1 && is_float(t->dtype()) &&
           to_doubles(*t)[0] == 1;
  }

  bool same_nodes(const Node& p, const Node& q, std::size_t i, std::size_t k) {
    if (i != k || !same_operator(p, q)) return false;
    const std::size_t n = std::max(p.inputs.size(), q.inputs.size());
    for (std::size_t j = 0; j < n; ++j) {
      if (clips_nothing(a_, p, j) && clips_nothing(b_, q, j)) continue;
      if (!same(j < p.inputs.size() ? p.inputs[j] : ValueId{},
                j < q.inputs.size() ? q.inputs[j] : ValueId{})) {
        const bool swapped = commutes(p) && commutes(q) && same(p.inputs[0], q.inputs[1]) &&
                             same(p.inputs[1], q.inputs[0]);
        return swapped;
      }
    }
    return true;
  }

  const Graph& a_;
  const Graph& b_;
  std::set<std::pair<ValueId, ValueId>> known_;
};

}  // namespace

bool isomorphic(const Graph& a, const Graph& b) {
  if (a.outputs().size() != b.outputs().size()) return false;
  StructureMatcher m(a, b);
  for (std::size_t i = 0; i < a.outputs().size(); ++i) {
    if (!m.same(a.outputs()[i], b.outputs()[i])) return false;
  }
  return true;
}

namespace {

/// Every node moves elements of the input, or computes with shapes.
bool only_moves(const Graph& g) {
  static const std::set<std::string> moves{"Reshape",   "Flatten",  "Squeeze",
                                           "Unsqueeze", "Slice",    "Dropout",
                                           "Transpose", "Identity", "DepthToSpace"};
  static const std::set<std::string> on_shapes{"Cast",  "Concat",  "Gather",
                                               "Slice", "Squeeze", "Unsqueeze"};
  std::set<ValueId> counts;
  for (const NodeId n : g.topological_order()) {
    const Node& node = g.node(n);
    if (!node.domain.empty()) return false;
    const auto counted = [&](ValueId v) {
      return !v.valid() || g.constant(v) != nullptr || counts.count(v) != 0;
    };
    const bool all = std::all_of(node.inputs.begin(), node.inputs.end(), counted);
    if (node.op_type == "Shape" || (all && on_shapes.count(node.op_type))) {
      counts.insert(node.outputs.begin(), node.outputs.end());
    } else if (!moves.count(node.op_type) || node.inputs.empty() ||
               !std::all_of(node.inputs.begin() + 1, node.inputs.end(), counted)) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool same_moves(const Graph& a, const Graph& b, const Feeds& like) {
  if (like.size() != 1 || !only_moves(a) || !only_moves(b)) return false;
  const auto& [name, t] = *like.begin();
  if (t.dtype() != DType::float32 || t.numel() >= (1 << 24)) return false;
  Tensor numbers(DType::float32, t.shape());
  float next = 0;
  for (float& x : numbers.mutable_data<float>()) x = next++;
  const Feeds feeds{{name, numbers}};
  return same_bits(Executor(a, Precision::cr).run(feeds).at(a.name(a.outputs()[0])),
                   Executor(b, Precision::cr).run(feeds).at(b.name(b.outputs()[0])));
}

std::set<ValueId> shape_values(const Graph& g) {
  std::set<ValueId> known;
  for (const NodeId n : g.topological_order()) {
    const Node& node = g.node(n);
    if (!node.domain.empty() || !node.captures.empty()) continue;
    const bool all = std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) {
      return !v.valid() || g.constant(v) != nullptr || known.count(v) != 0;
    });
    const bool random = node.op_type.rfind("Random", 0) == 0 || node.is("Bernoulli");
    if (node.is("Shape") || node.is("Size") || (all && !random && !node.inputs.empty()))
      known.insert(node.outputs.begin(), node.outputs.end());
  }
  return known;
}

bool only_shapes(const Graph& g) {
  const auto known = shape_values(g);
  return std::all_of(g.outputs().begin(), g.outputs().end(),
                     [&](ValueId v) { return known.count(v) != 0 || g.constant(v) != nullptr; });
}

bool rounds_once(const Graph& fused) {
  for (const NodeId n : fused.node_ids()) {
    if (fused.node(n).attributes.has("rounding") &&
        fused.node(n).attributes.string_or("rounding", "staged") == "single")
      return true;
  }
  return false;
}

namespace {

void add_shapes(const Graph& g, const Feeds& feeds, RegionShapes& run,
                std::map<std::string, Tensor>& counts) {
  std::set<std::string> all;
  for (const NodeId n : g.node_ids()) {
    for (const ValueId v : g.node(n).outputs) {
      if (v.valid()) all.insert(g.name(v));
    }
  }
  const auto values = Executor(g, Precision::f32).run(feeds, nullptr, all);
  for (const auto& [name, t] : values) run.shapes.emplace(name, t.shape());
  for (const auto& [name, t] : feeds) run.shapes.emplace(name, t.shape());
  for (const ValueId v : shape_values(g)) {
    if (v.valid() && values.count(g.name(v))) counts.emplace(g.name(v), values.at(g.name(v)));
  }
}

}  // namespace

RegionShapes value_shapes(const Region& r, const Feeds& feeds) {
  RegionShapes run;
  add_shapes(r.original, feeds, run, run.counts_original);
  add_shapes(r.plain, feeds, run, run.counts_fused);
  return run;
}

}  // namespace assay
