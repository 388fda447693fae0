#include "runtime/op.h"

#include <algorithm>
#include <map>

namespace assay {
namespace {

using Key = std::pair<std::string, std::string>;

std::map<Key, std::vector<OpDef>>& registry() {
  static std::map<Key, std::vector<OpDef>> ops;
  return ops;
}

void add(OpDef def) {
  auto& versions = registry()[{def.domain, def.type}];
  const auto later = std::find_if(versions.begin(), versions.end(),
                                  [&](const OpDef& d) { return d.since > def.since; });
  versions.insert(later, std::move(def));
}

}  // namespace

std::string to_string(Precision p) {
  switch (p) {
    case Precision::cr:
      return "cr";
    case Precision::f32:
      return "f32";
    case Precision::f64:
      return "f64";
    case Precision::dd:
      return "dd";
  }
  return "?";
}

std::optional<Precision> parse_precision(const std::string& name) {
  for (const Precision p : {Precision::cr, Precision::f32, Precision::f64, Precision::dd}) {
    if (to_string(p) == name) return p;
  }
  return std::nullopt;
}

DType widened(DType t, Precision p) {
  if (!is_float(t)) return t;
  if (p == Precision::f64) return t == DType::dd ? t : DType::float64;
  if (p == Precision::dd) return DType::dd;
  return t;
}

bool TensorType::known() const {
  return dtype != DType::undefined && dims &&
         std::all_of(dims->begin(), dims->end(), [](std::int64_t d) { return d >= 0; });
}

Shape TensorType::shape() const {
  ASSAY_ASSERT(known());
  return Shape(*dims);
}

TensorType TensorType::of(const Tensor& t) { return {t.dtype(), t.shape().vec()}; }

std::string to_string(const TensorType& t) {
  std::string text = to_string(t.dtype);
  if (!t.dims) return text + " [?]";
  text += " [";
  for (std::size_t i = 0; i < t.dims->size(); ++i) {
    const std::int64_t d = (*t.dims)[i];
    text += (i ? ", " : "") + (d < 0 ? std::string("?") : std::to_string(d));
  }
  return text + "]";
}

const TensorType& InferContext::input(std::size_t i) const {
  if (!has_input(i))
    throw Error({.what = "input " + std::to_string(i) + " is required but absent"});
  return input_types[i];
}

void InferContext::set_output(std::size_t i, DType dtype, const Shape& shape) {
  set_output(i, {dtype, shape.vec()});
}

void InferContext::set_output(std::size_t i, TensorType type) {
  if (i < outputs.size()) outputs[i] = std::move(type);
}

const Tensor& EvalContext::input(std::size_t i) const {
  if (!has_input(i))
    throw Error({.what = "input " + std::to_string(i) + " is required but absent"});
  return inputs[i];
}

Tensor& EvalContext::allocate(std::size_t i, DType dtype, Shape shape) {
  outputs.at(i) = Tensor(dtype, std::move(shape));
  return outputs[i];
}

RegisterOp::RegisterOp(OpDef def) { add(std::move(def)); }

RegisterOp::RegisterOp(std::vector<OpDef> defs) {
  for (OpDef& def : defs) add(std::move(def));
}

const OpDef* find_op(const std::string& domain, const std::string& type, std::int64_t opset) {
  const auto it = registry().find({domain == "ai.onnx" ? "" : domain, type});
  if (it == registry().end()) return nullptr;
  const auto& versions = it->second;  // ascending by `since`: the latest that has begun counts
  for (auto def = versions.rbegin(); def != versions.rend(); ++def) {
    if (def->since <= opset) return opset <= def->until ? &*def : nullptr;
  }
  return nullptr;
}

const OpDef& require_op(const Node& node, std::int64_t opset) {
  if (const OpDef* def = find_op(node.domain, node.op_type, opset)) return *def;
  const std::string full = node.domain.empty() ? node.op_type : node.domain + "." + node.op_type;
  throw Error({.what = "operator " + full + " is not supported at opset " + std::to_string(opset),
               .where = describe(node),
               .kind = ErrorKind::unsupported});
}

std::vector<const OpDef*> all_ops() {
  std::vector<const OpDef*> ops;
  for (const auto& [key, versions] : registry()) {
    for (const OpDef& def : versions) ops.push_back(&def);
  }
  return ops;
}

}  // namespace assay
