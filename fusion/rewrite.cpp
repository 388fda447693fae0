#include "fusion/rewrite.h"

#include <algorithm>

namespace assay {
namespace {

std::map<std::string, Rewrite>& registry() {
  static std::map<std::string, Rewrite> rules;
  return rules;
}

/// Sizes for the unknown axes of graph inputs, by symbol: batch-like small ones on axis 0,
/// image-like ones elsewhere. Distinct symbols get distinct sizes, so that two axes that merely may
/// be equal do not look equal.
class Filling {
 public:
  explicit Filling(std::int64_t variant) : variant_(variant) {}

  std::map<std::string, Shape> shapes(const Graph& g) {
    std::map<std::string, Shape> result;
    for (const ValueId v : g.inputs()) {
      const auto& dims = g.value(v).type.dims;
      if (!dims) continue;
      std::vector<std::int64_t> sizes;
      for (std::size_t i = 0; i < dims->size(); ++i) sizes.push_back(size((*dims)[i], i));
      result[g.name(v)] = Shape(std::move(sizes));
    }
    return result;
  }

 private:
  std::int64_t size(const Dim& d, std::size_t axis) {
    if (d.size >= 0) return d.size;
    const std::string key = d.symbol.empty() ? "?" + std::to_string(anonymous_++) : d.symbol;
    const auto index =
        static_cast<std::int64_t>(symbols_.emplace(key, symbols_.size()).first->second);
    return axis == 0 ? 2 + 3 * variant_ + index : (2 + variant_ + index) * (32 + 32 * variant_);
  }

  std::int64_t variant_;
  std::int64_t anonymous_ = 0;
  std::map<std::string, std::size_t> symbols_;
};

bool known_equal(const TensorType& a, const TensorType& b) {
  return a.known() && b.known() && a.shape() == b.shape();
}

}  // namespace

std::string to_string(Stage s) {
  switch (s) {
    case Stage::clean:
      return "clean";
    case Stage::merge:
      return "merge";
    case Stage::fold:
      return "fold";
    case Stage::forward:
      return "forward";
    case Stage::quantized:
      return "quantized";
    case Stage::fuse:
      return "fuse";
    case Stage::finish:
      return "finish";
  }
  return "?";
}

RuleContext::RuleContext(Graph& g, std::string mode) : g_(g), mode_(std::move(mode)) { infer(); }

void RuleContext::infer() {
  const auto types_under = [&](const std::map<std::string, Shape>& shapes) -> StaticTypes {
    try {
      return infer_types(g_, shapes);
    } catch (const Error&) {
      return {};  // the run reports what is wrong; rules that need shapes decline
    }
  };
  types_ = types_under({});
  for (const std::int64_t variant : {0, 1})
    probes_.push_back(types_under(Filling(variant).shapes(g_)));
}

TensorType RuleContext::type(ValueId v) const {
  if (!v.valid()) return {};
  if (const Tensor* t = g_.constant(v)) return TensorType::of(*t);
  const TensorType& t = types_.type(v);
  if (t.dims || t.dtype != DType::undefined) return t;
  TensorType declared{g_.value(v).type.dtype, std::nullopt};
  if (const auto& dims = g_.value(v).type.dims) {
    declared.dims.emplace();
    for (const Dim& d : *dims) declared.dims->push_back(d.size);
  }
  return declared;
}

std::int64_t RuleContext::rank(ValueId v) const {
  const TensorType t = type(v);
  return t.dims ? static_cast<std::int64_t>(t.dims->size()) : -1;
}

bool RuleContext::same_shape(ValueId a, ValueId b) const {
  const TensorType ta = type(a);
  const TensorType tb = type(b);
  if (known_equal(ta, tb)) return true;
  if (!ta.dims || !tb.dims || ta.dims->size() != tb.dims->size()) return false;
  for (std::size_t i = 0; i < ta.dims->size(); ++i) {
    const std::int64_t da = (*ta.dims)[i];
    const std::int64_t db = (*tb.dims)[i];
    if (da >= 0 && db >= 0 && da != db) return false;
  }
  return std::all_of(probes_.begin(), probes_.end(),
                     [&](const StaticTypes& p) { return known_equal(p.type(a), p.type(b)); });
}

std::vector<Shape> RuleContext::known_shapes(ValueId v) const {
  if (type(v).known()) return {type(v).shape()};
  std::vector<Shape> shapes;
  for (const StaticTypes& p : probes_) {
    if (!p.type(v).known()) return {};
    shapes.push_back(p.type(v).shape());
  }
  return shapes;
}

const FoldOrigin* RuleContext::origin(ValueId v) const {
  const auto it = origins_.find(v);
  return it == origins_.end() ? nullptr : &it->second;
}

NodeId RuleContext::add(Node node) {
  if (node.domain == assay_domain) g_.info.opsets[assay_domain] = 1;
  return g_.add_node(std::move(node));
}

ValueId RuleContext::make_constant(const std::string& stem, Tensor t) {
  const ValueId v = g_.add_initializer(g_.fresh_name(stem), std::move(t));
  made.push_back(v);
  return v;
}

ValueId RuleContext::make_value(const std::string& stem, const TensorType& type) {
  ValueType declared{type.dtype, std::nullopt};
  if (type.dims) {
    declared.dims.emplace();
    for (const std::int64_t d : *type.dims) declared.dims->push_back({.size = d});
  }
  const ValueId v = g_.add_value(g_.fresh_name(stem), declared);
  types_.types[v] = type;
  return v;
}

int Rewrite::size() const {
  int largest = 0;
  for (const Pattern& p : patterns) largest = std::max(largest, pattern_size(p));
  return largest;
}

RegisterRewrite::RegisterRewrite(Rewrite rewrite) {
  std::stable_sort(
      rewrite.patterns.begin(), rewrite.patterns.end(),
      [](const Pattern& a, const Pattern& b) { return pattern_size(a) > pattern_size(b); });
  const std::string name = rewrite.name;
  ASSAY_ASSERT(registry().emplace(name, std::move(rewrite)).second);
}

std::vector<const Rewrite*> all_rewrites() {
  std::vector<const Rewrite*> rules;
  for (const auto& [name, rule] : registry()) rules.push_back(&rule);
  return rules;
}

const Rewrite* find_rewrite(const std::string& name) {
  const auto it = registry().find(name);
  return it == registry().end() ? nullptr : &it->second;
}

}  // namespace assay
