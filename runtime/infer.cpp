#include "runtime/infer.h"

#include <algorithm>

namespace assay {
namespace {

constexpr std::int64_t small_constant = 4096;  // elements; shape arithmetic never needs more

TensorType declared(const ValueType& t, Precision p) {
  TensorType type{widened(t.dtype, p), std::nullopt};
  if (!t.dims) return type;
  type.dims.emplace();
  for (const Dim& d : *t.dims) type.dims->push_back(d.size);
  return type;
}

bool is_shape_type(DType t) {
  return t == DType::int64 || t == DType::int32 || t == DType::boolean;
}

class Inference {
 public:
  Inference(const Graph& g, Precision p) : g_(g), precision_(p) {}

  StaticTypes run(const std::map<std::string, Shape>& input_shapes) {
    for (const ValueId v : g_.inputs()) seed_input(v, input_shapes);
    for (const ValueId v : g_.captures()) found_.types[v] = declared(g_.value(v).type, precision_);
    for (const NodeId n : g_.topological_order()) visit(n);
    return std::move(found_);
  }

 private:
  void seed_input(ValueId v, const std::map<std::string, Shape>& input_shapes) {
    TensorType type = declared(g_.value(v).type, precision_);
    if (const auto it = input_shapes.find(g_.name(v)); it != input_shapes.end())
      type.dims = it->second.vec();
    found_.types[v] = std::move(type);
  }

  TensorType type_of(ValueId v) {
    if (!v.valid()) return {};
    if (const Tensor* t = g_.constant(v))
      return {widened(t->dtype(), precision_), t->shape().vec()};
    const auto it = found_.types.find(v);
    return it == found_.types.end() ? TensorType{} : it->second;
  }

  const Tensor* constant_of(ValueId v) {
    if (const Tensor* t = g_.constant(v)) return t;
    const auto it = found_.constants.find(v);
    return it == found_.constants.end() ? nullptr : &it->second;
  }

  void visit(NodeId n) {
    const Node& node = g_.node(n);
    std::vector<TensorType> types;
    std::vector<const Tensor*> constants;
    for (const ValueId v : node.inputs) {
      types.push_back(type_of(v));
      constants.push_back(constant_of(v));
    }
    std::vector<TensorType> out(node.outputs.size());
    if (find_op(node.domain, node.op_type, g_.opset(node.domain)) != nullptr) {
      out = infer_node(g_, n, types, constants, precision_);
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      const ValueId v = node.outputs[i];
      if (!v.valid()) continue;
      if (!out[i].dims) {  // fall back to what the file declares
        TensorType stated = declared(g_.value(v).type, precision_);
        if (out[i].dtype != DType::undefined) stated.dtype = out[i].dtype;
        out[i] = stated;
      }
      found_.types[v] = out[i];
    }
    fold(n, types, constants);
  }

  /// Evaluates shape arithmetic: every input known (Shape needs only the type), small integer
  /// result.
  void fold(NodeId n, const std::vector<TensorType>& types,
            const std::vector<const Tensor*>& constants) {
    const Node& node = g_.node(n);
    if (node.outputs.size() != 1 || !node.outputs[0].valid() || !node.captures.empty()) return;
    const TensorType& out = found_.types[node.outputs[0]];
    if (!out.known() || !is_shape_type(out.dtype) || out.shape().numel() > small_constant) return;
    EvalContext context;
    if (node.is("Shape") || node.is("Size")) {
      if (!types[0].known()) return;
      context.inputs = {
          Tensor(types[0].dtype, types[0].shape(), nullptr)};  // only its shape is read
    } else {
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        if (!node.inputs[i].valid()) {
          context.inputs.emplace_back();
          continue;
        }
        if (constants[i] == nullptr || constants[i]->numel() > small_constant) return;
        context.inputs.push_back(
            convert(*constants[i], widened(constants[i]->dtype(), precision_)));
      }
    }
    const OpDef* def = find_op(node.domain, node.op_type, g_.opset(node.domain));
    if (def == nullptr || def->eval == nullptr) return;
    std::shared_ptr<void> state;
    context.node = &node;
    context.opset = g_.opset(node.domain);
    context.precision = precision_;
    context.state = &state;
    context.outputs = {Tensor(out.dtype, out.shape())};
    def->eval(context);
    found_.constants[node.outputs[0]] = context.outputs[0];
  }

  const Graph& g_;
  Precision precision_;
  StaticTypes found_;
};

}  // namespace

const TensorType& StaticTypes::type(ValueId v) const {
  static const TensorType unknown;
  const auto it = types.find(v);
  return it == types.end() ? unknown : it->second;
}

StaticTypes infer_types(const Graph& g, const std::map<std::string, Shape>& input_shapes,
                        Precision precision) {
  for (const auto& [name, shape] : input_shapes) {
    const auto v = g.find_value(name);
    if (v && g.value(*v).is_input) continue;
    throw Error(
        {.what = "a shape is given for something that is not an input", .got = "'" + name + "'"});
  }
  return Inference(g, precision).run(input_shapes);
}

Shape StaticTypes::shape(const Graph& g, ValueId v) const {
  if (const Tensor* t = g.constant(v)) return t->shape();
  const TensorType& t = type(v);
  if (t.known()) return t.shape();
  throw Error({.what = "shape is not known before running",
               .where = "value '" + g.name(v) + "'",
               .got = to_string(t),
               .advice = "give the sizes of the inputs with --shape NAME=1x3x224x224"});
}

std::string place_of(const Graph& g, NodeId n) {
  constexpr std::size_t shown = 4;
  const Node& node = g.node(n);
  std::string text = describe(node);
  for (std::size_t i = 0; i < node.inputs.size() && i < shown; ++i) {
    if (node.inputs[i].valid()) text += ", input '" + g.name(node.inputs[i]) + "'";
  }
  for (const ValueId v : node.outputs) {
    if (v.valid()) return text + ", output '" + g.name(v) + "'";
  }
  return text;
}

std::vector<TensorType> infer_node(const Graph& g, NodeId n,
                                   const std::vector<TensorType>& input_types,
                                   const std::vector<const Tensor*>& inputs, Precision precision) {
  const Node& node = g.node(n);
  const OpDef& def = require_op(node, g.opset(node.domain));
  InferContext context;
  context.node = &node;
  context.opset = g.opset(node.domain);
  context.precision = precision;
  context.input_types = input_types;
  context.constants = inputs;
  context.outputs.resize(node.outputs.size());
  if (def.infer == nullptr) return context.outputs;
  // A required input of unknown rank leaves the outputs unknown: operators only see what they can
  // work with.
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i].valid() && !input_types[i].dims) return context.outputs;
  }
  try {
    def.infer(context);
  } catch (const Error& e) {
    throw e.at(place_of(g, n));
  }
  return context.outputs;
}

std::int64_t macs_of(const Graph& g, NodeId n, const StaticTypes& types) {
  const Node& node = g.node(n);
  const OpDef* def = find_op(node.domain, node.op_type, g.opset(node.domain));
  if (def == nullptr || def->macs == nullptr) return 0;
  InferContext context;
  context.node = &node;
  context.opset = g.opset(node.domain);
  for (const ValueId v : node.inputs) {
    const Tensor* t = g.constant(v);
    context.input_types.push_back(!v.valid() ? TensorType{}
                                  : t        ? TensorType::of(*t)
                                             : types.type(v));
    context.constants.push_back(t);
    if (v.valid() && !context.input_types.back().known()) return 0;
  }
  for (const ValueId v : node.outputs) {
    context.outputs.push_back(v.valid() ? types.type(v) : TensorType{});
    if (v.valid() && !context.outputs.back().known()) return 0;
  }
  return def->macs(context);
}

}  // namespace assay
