#include "runtime/ops/support/fused_decompose.h"

#include <limits>

#include "runtime/ops/support/fused_eval.h"

namespace assay::ops {
namespace {

class Body {
 public:
  ValueId input(const std::string& name) { return graph_.add_input(name, {}); }
  ValueId constant(const std::string& name, float v) {
    return graph_.add_initializer(name, Tensor::scalar<float>(v));
  }
  /// output = op(inputs) under a name that says what it is.
  ValueId node(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    const ValueId out = graph_.add_value(graph_.fresh_name(op + "_out"));
    Node n;
    n.name = graph_.fresh_node_name(op);
    n.op_type = op;
    n.inputs = std::move(inputs);
    n.outputs = {out};
    n.attributes = std::move(attributes);
    graph_.add_node(n);
    return out;
  }
  Graph finish(ValueId y) {
    graph_.add_output(y);
    return std::move(graph_);
  }

 private:
  Graph graph_;
};

/// x (1 + erf(x / sqrt 2)) / 2, or its tanh form; before opset 20 there is no Gelu operator.
ValueId gelu(Body& body, ValueId x, const std::string& approximate) {
  const ValueId half = body.constant("half", 0.5F), one = body.constant("one", 1.0F);
  ValueId inner;
  if (approximate == "tanh") {
    const ValueId cube = body.node("Mul", {body.node("Mul", {x, x}), x});
    const ValueId sum =
        body.node("Add", {x, body.node("Mul", {cube, body.constant("cubic", 0.044715F)})});
    inner =
        body.node("Tanh", {body.node("Mul", {sum, body.constant("slope", 0.797884560802865F)})});
  } else {
    inner =
        body.node("Erf", {body.node("Mul", {x, body.constant("root_half", 0.707106781186547F)})});
  }
  return body.node("Mul", {body.node("Mul", {x, half}), body.node("Add", {inner, one})});
}

/// Attributes that the written operator calls `alpha` and the fused node `act_alpha` cannot be
/// references by name; the parameter goes in as a constant that can.
ValueId leaky(Body& body, ValueId x, const Attributes& a) {
  const ValueId zero = body.constant("zero", 0.0F);
  const ValueId alpha = body.constant("act_alpha", a.float_or("alpha", 0.01F));
  const ValueId below = body.node("Min", {x, zero}), above = body.node("Max", {x, zero});
  return body.node("Add", {above, body.node("Mul", {below, alpha})});
}

ValueId elu(Body& body, ValueId x, const Attributes& a) {
  const ValueId zero = body.constant("zero", 0.0F), one = body.constant("one", 1.0F);
  const ValueId alpha = body.constant("act_alpha", a.float_or("alpha", 1.0F));
  const ValueId below = body.node("Exp", {body.node("Min", {x, zero})});
  const ValueId scaled = body.node("Mul", {body.node("Sub", {below, one}), alpha});
  return body.node("Add", {body.node("Max", {x, zero}), scaled});
}

ValueId hard_sigmoid(Body& body, ValueId x, ValueId alpha, ValueId beta) {
  const ValueId zero = body.constant("zero", 0.0F), one = body.constant("one", 1.0F);
  const ValueId line = body.node("Add", {body.node("Mul", {x, alpha}), beta});
  return body.node("Max", {body.node("Min", {line, one}), zero});
}

ValueId activate(Body& body, const FusedCall& call, ValueId x) {
  const std::string& name = call.form.activation;
  const Attributes& a = call.activation;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  if (name.empty()) return x;
  if (name == "Clip") {
    const ValueId low = body.constant("min", a.float_or("min", -infinity));
    const ValueId high = body.constant("max", a.float_or("max", infinity));
    return body.node("Min", {body.node("Max", {x, low}), high});
  }
  if (name == "Silu") return body.node("Mul", {x, body.node("Sigmoid", {x})});
  if (name == "Mish") return body.node("Mul", {x, body.node("Tanh", {body.node("Softplus", {x})})});
  if (name == "HardSwish") {
    const ValueId gate =
        hard_sigmoid(body, x, body.constant("sixth", 1.0F / 6.0F), body.constant("half", 0.5F));
    return body.node("Mul", {x, gate});
  }
  if (name == "HardSigmoid")
    return hard_sigmoid(body, x, body.constant("act_alpha", a.float_or("alpha", 0.2F)),
                        body.constant("act_beta", a.float_or("beta", 0.5F)));
  if (name == "LeakyRelu") return leaky(body, x, a);
  if (name == "Elu") return elu(body, x, a);
  if (name == "Gelu") return gelu(body, x, a.string_or("approximate", "none"));
  return body.node(name, {x});
}

}  // namespace

Graph decompose_fused(const Node& node) {
  const FusedCall call = fused_call(node);
  Body body;
  std::vector<ValueId> inputs{body.input("X"), body.input("W")};
  if (call.form.base != "Add") inputs.push_back(body.input("B"));
  ValueId residual;
  if (call.form.add) residual = body.input("R");
  if (call.base_inputs == 2) inputs.resize(2);
  ValueId y = body.node(call.form.base, inputs, call.base.attributes);
  if (call.form.add) y = body.node("Add", {y, residual});
  return body.finish(activate(body, call, y));
}

}  // namespace assay::ops
