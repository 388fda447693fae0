#include "validation/certificate/structure.h"

#include <algorithm>
#include <set>

namespace assay {
namespace {

class Matcher {
 public:
  Matcher(const Graph& a, const Graph& b) : a_(a), b_(b) {}

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
    return same_nodes(*p, *q, output_index(*p, x), output_index(*q, y));
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

  static std::size_t output_index(const Node& n, ValueId v) {
    std::size_t i = 0;
    while (n.outputs[i] != v) ++i;
    return i;
  }

  static void erase_resize_defaults(Attributes& a) {
    const std::pair<const char*, const char*> texts[] = {
        {"coordinate_transformation_mode", "half_pixel"},
        {"mode", "nearest"},
        {"nearest_mode", "round_prefer_floor"},
        {"keep_aspect_ratio_policy", "stretch"}};
    for (const auto& [name, text] : texts) {
      if (a.string_or(name, text) == text) a.erase(name);
    }
    if (a.float_or("cubic_coeff_a", -0.75F) == -0.75F) a.erase("cubic_coeff_a");
    if (a.float_or("extrapolation_value", 0) == 0) a.erase("extrapolation_value");
    for (const char* name : {"exclude_outside", "antialias"}) {
      if (a.int_or(name, 0) == 0) a.erase(name);
    }
  }

  /// Conv's kernel_shape only repeats the weights' shape, and attributes at their default change
  /// nothing.
  static Attributes essential(const Node& n) {
    Attributes a = n.attributes;
    a.erase("kernel_shape");
    if (a.int_or("group", 1) == 1) a.erase("group");
    for (const char* name : {"ceil_mode", "storage_order", "count_include_pad"}) {
      if (a.int_or(name, 0) == 0) a.erase(name);
    }
    if (n.op_type == "Resize") erase_resize_defaults(a);
    if (n.op_type.rfind("Reduce", 0) == 0 && a.int_or("keepdims", 1) == 1) a.erase("keepdims");
    if (a.int_or("noop_with_empty_axes", 0) == 0) a.erase("noop_with_empty_axes");
    if (a.string_or("auto_pad", "NOTSET") == "NOTSET") a.erase("auto_pad");
    for (const char* name : {"strides", "dilations"}) {
      bool ones = true;
      for (const std::int64_t x : a.ints_or(name, {})) ones = ones && x == 1;
      if (ones) a.erase(name);
    }
    bool zeros = true;
    for (const std::int64_t x : a.ints_or("pads", {})) zeros = zeros && x == 0;
    if (zeros) a.erase("pads");
    return a;
  }

  /// Clip's bounds as numbers, whether they are attributes or inputs.
  bool same_nodes(const Node& p, const Node& q, std::size_t i, std::size_t k) {
    if (p.op_type != q.op_type || p.domain != q.domain || i != k) return false;
    if (!assay::same(essential(p), essential(q))) return false;
    const std::size_t n = std::max(p.inputs.size(), q.inputs.size());
    for (std::size_t j = 0; j < n; ++j) {
      if (!same(j < p.inputs.size() ? p.inputs[j] : ValueId{},
                j < q.inputs.size() ? q.inputs[j] : ValueId{})) {
        // Add and Mul are commutative and correctly rounded: the order changes no bit.
        const bool swapped = (p.op_type == "Add" || p.op_type == "Mul") && n == 2 &&
                             same(p.inputs[0], q.inputs[1]) && same(p.inputs[1], q.inputs[0]);
        return swapped;
      }
    }
    return true;
  }

  const Graph& a_;
  const Graph& b_;
};

void add_shapes(const Graph& g, const Feeds& feeds, std::map<std::string, Shape>& shapes) {
  std::set<std::string> all;
  for (const NodeId n : g.node_ids()) {
    for (const ValueId v : g.node(n).outputs) {
      if (v.valid()) all.insert(g.name(v));
    }
  }
  for (const auto& [name, t] : Executor(g, Precision::f32).run(feeds, nullptr, all))
    shapes.emplace(name, t.shape());
  for (const auto& [name, t] : feeds) shapes.emplace(name, t.shape());
}

}  // namespace

bool isomorphic(const Graph& a, const Graph& b) {
  if (a.outputs().size() != b.outputs().size()) return false;
  Matcher m(a, b);
  for (std::size_t i = 0; i < a.outputs().size(); ++i) {
    if (!m.same(a.outputs()[i], b.outputs()[i])) return false;
  }
  return true;
}

namespace {

/// Every node moves elements of the input, or computes with shapes.
bool only_moves(const Graph& g) {
  static const std::set<std::string> moves{"Reshape", "Flatten", "Squeeze",   "Unsqueeze",
                                           "Slice",   "Dropout", "Transpose", "Identity"};
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

bool rounds_once(const Graph& fused) {
  for (const NodeId n : fused.node_ids()) {
    if (fused.node(n).attributes.has("rounding") &&
        fused.node(n).attributes.string_or("rounding", "staged") == "single")
      return true;
  }
  return false;
}

std::map<std::string, Shape> value_shapes(const Region& r, const Feeds& feeds) {
  std::map<std::string, Shape> shapes;
  add_shapes(r.original, feeds, shapes);
  add_shapes(r.plain, feeds, shapes);
  return shapes;
}

std::optional<Graph> with_exact_constants(const Graph& plain, const NormalForm& original) {
  if (original.linear.size() != 1) return std::nullopt;
  const LinearTerm& t = original.linear[0];
  Graph g = plain;
  NodeId linear;
  for (const NodeId n : g.node_ids()) {
    const std::string& op = g.node(n).op_type;
    if (op != "Conv" && op != "ConvTranspose" && op != "Gemm" && op != "MatMul") continue;
    if (linear.valid()) return std::nullopt;
    linear = n;
  }
  if (!linear.valid() || g.constant(g.node(linear).inputs[1]) == nullptr) return std::nullopt;
  if (g.constant(g.node(linear).inputs[1])->shape() != t.weights.shape() ||
      g.node(linear).attributes.int_or("transB", 0) != 0)
    return std::nullopt;
  Tensor w(DType::float64, t.weights.shape());
  const auto stored = to_doubles(t.weights);
  auto exact = w.mutable_data<double>();
  for (std::int64_t c = 0; c < static_cast<std::int64_t>(t.coeff.size()); ++c) {
    for (std::int64_t i = 0; i < weights_per_channel(t); ++i) {
      const auto at = static_cast<std::size_t>(weight_index(t, c, i));
      exact[at] = (t.coeff[static_cast<std::size_t>(c)] * Real(stored[at])).to_double();
    }
  }
  g.set_input(linear, 1, g.add_initializer(g.fresh_name("exact_weights"), w));
  if (!g.node(linear).has_input(2)) return g;
  Tensor b(DType::float64, Shape{static_cast<std::int64_t>(original.shift.size())});
  auto shift = b.mutable_data<double>();
  for (std::size_t c = 0; c < shift.size(); ++c) shift[c] = original.shift[c].to_double();
  g.set_input(linear, 2, g.add_initializer(g.fresh_name("exact_bias"), b));
  return g;
}

}  // namespace assay
