#include "validation/certificate/radius.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "runtime/numeric/dd.h"

namespace assay {
namespace {

struct Unit {
  double unit, tiny;
};

Unit unit_of(Precision p) {
  switch (p) {
    case Precision::f64:
      return {0x1p-53, 0x1p-1074};
    case Precision::dd:
      return {dd_unit(), 0x1p-1074};
    default:
      return {0x1p-24, 0x1p-149};
  }
}

class BoundPass {
 public:
  BoundPass(const Graph& g, const std::map<std::string, Tensor>& values,
            const std::map<std::string, Tensor>& radii, Precision p, bool any_order)
      : g_(g), values_(values), radii_(radii), unit_(unit_of(p)), any_order_(any_order) {}

  /// nullopt when some operator has no bound; its name is left in `missing`.
  std::optional<Tensor> run(std::string& missing) {
    for (const NodeId n : g_.topological_order()) {
      const Node& node = g_.node(n);
      const OpDef& def = require_op(node, g_.opset(node.domain));
      if (counts_only(node)) continue;
      if (from_counts(node)) {
        rounded_once(node);
        continue;
      }
      if (def.bound == nullptr || !step(node, def)) {
        missing = describe(node);
        return std::nullopt;
      }
    }
    const std::string& out = g_.name(g_.outputs()[0]);
    if (const auto r = radii_.find(out); r != radii_.end()) return r->second;
    return Tensor::zeros(DType::float64, values_.at(out).shape());
  }

 private:
  Tensor wide(ValueId v) const {
    if (const Tensor& t = g_.value(v).initializer; t.defined())
      return is_float(t.dtype()) ? convert(t, DType::float64) : t;
    const Tensor& t = values_.at(g_.name(v));
    return is_float(t.dtype()) ? convert(t, DType::float64) : t;
  }

  bool floats(ValueId v) const { return v.valid() && is_float(wide(v).dtype()); }

  bool reads_radius(const Node& node) const {
    for (const ValueId v : node.inputs) {
      if (v.valid() && radii_.count(g_.name(v))) return true;
    }
    return false;
  }

  /// Integers computed from exact values (shapes, indices) are exact.
  bool counts_only(const Node& node) const {
    if (reads_radius(node)) return false;
    for (const ValueId v : node.outputs) {
      if (v.valid() && (!values_.count(g_.name(v)) || floats(v))) return false;
    }
    return true;
  }

  /// An integer turned into a float is rounded once.
  bool from_counts(const Node& node) const {
    return node.is("Cast") && !floats(node.inputs[0]) && floats(node.outputs[0]);
  }

  void rounded_once(const Node& node) {
    Tensor r = wide(node.outputs[0]).clone();
    for (double& x : r.mutable_data<double>()) x = std::fabs(x) * unit_.unit;
    radii_[g_.name(node.outputs[0])] = r;
  }

  /// False when the operator gives no radius for these inputs.
  bool step(const Node& node, const OpDef& def) {
    BoundContext c{.node = &node,
                   .opset = g_.opset(node.domain),
                   .unit = unit_.unit,
                   .tiny = unit_.tiny,
                   .any_order = any_order_};
    for (const ValueId v : node.inputs) {
      c.inputs.push_back(v.valid() ? wide(v) : Tensor());
      const auto r = v.valid() ? radii_.find(g_.name(v)) : radii_.end();
      c.radii.push_back(r == radii_.end() ? Tensor() : r->second);
    }
    for (const ValueId v : node.outputs)
      c.outputs.push_back(v.valid() && values_.count(g_.name(v)) ? wide(v) : Tensor());
    c.result.resize(node.outputs.size());
    def.bound(c);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (!node.has_output(i) || !c.outputs[i].defined()) continue;
      if (!c.result[i].defined()) {
        if (floats(node.outputs[i])) return false;
      } else if (!all_zero(c.result[i])) {
        radii_[g_.name(node.outputs[i])] = c.result[i];
      }
    }
    return true;
  }

  /// An exact value is one without a radius: some operators ask for that of their parameters.
  static bool all_zero(const Tensor& t) {
    const auto r = t.data<double>();
    return std::all_of(r.begin(), r.end(), [](double x) { return x == 0; });
  }

  const Graph& g_;
  const std::map<std::string, Tensor>& values_;
  std::map<std::string, Tensor> radii_;
  Unit unit_;
  bool any_order_;
};

bool all_finite(const Tensor& t) {
  if (!is_float(t.dtype())) return true;
  const auto values = to_doubles(t);
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

}  // namespace

Bounded evaluate_bounded(const Graph& g, const Feeds& feeds, Precision p, bool any_order,
                         const std::map<std::string, Tensor>& constant_radii) {
  std::set<std::string> all;
  for (const NodeId n : g.node_ids()) {
    for (const ValueId v : g.node(n).outputs) {
      if (v.valid()) all.insert(g.name(v));
    }
  }
  auto values = Executor(g, p).run(feeds, nullptr, all);
  Bounded b;
  for (const auto& [name, t] : values) b.finite = b.finite && all_finite(t);
  for (const auto& [name, t] : feeds) values.emplace(name, t);
  const Tensor& out = values.at(g.name(g.outputs()[0]));
  b.value = out.dtype() == DType::dd ? out : convert(out, DType::float64);
  b.radius = BoundPass(g, values, constant_radii, p, any_order).run(b.missing);
  return b;
}

}  // namespace assay
