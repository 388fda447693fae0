// Elementary functions and activations, on numbers of every sign and of sizes 2^-40 to 2^7.
#include "validation/selftest/model.h"
#include "validation/selftest/net_maker.h"

namespace assay::selftest::elementary_model {
namespace {

/// Powers of two by which the columns of the input are scaled.
Tensor sizes(std::int64_t count) {
  Tensor t(DType::float32, {count});
  float size = 0x1p5F;
  for (float& v : t.mutable_data<float>()) {
    v = size;
    size = size < 0x1p-40F ? 0x1p5F : size / 8;
  }
  return t;
}

Graph make(const std::string&) {
  NetMaker m("elementary");
  const std::string x =
      m.inner("wide", "Mul", {m.input("x", {4, 34}), m.constant("sizes", sizes(34))});
  const std::string positive = m.inner("positive", "Abs", {x});
  const std::string inside =
      m.inner("inside", "Div", {x, m.constant("limit", Tensor::scalar(256.0F))});
  for (const char* op :
       {"Exp", "Sigmoid", "Tanh", "Erf", "HardSigmoid", "HardSwish", "Softplus", "Softsign", "Mish",
        "Elu", "Selu", "Gelu", "Sin", "Cos", "Tan", "Atan", "Sinh", "Cosh", "Asinh"}) {
    m.node(op, op, {x});
  }
  m.node("Celu", "Celu", {x}, {{"alpha", 1.3F}});
  m.node("gelu_tanh", "Gelu", {x}, {{"approximate", std::string("tanh")}});
  for (const char* op : {"Sqrt", "Log", "Reciprocal"}) m.node(op, op, {positive});
  for (const char* op : {"Asin", "Acos", "Atanh"}) m.node(op, op, {inside});
  m.node("Pow", "Pow", {positive, m.constant("exponent", Tensor::scalar(1.7F))});
  m.node("Div", "Div", {x, m.positive("divisor", {34})});
  return m.take();
}

const RegisterModel registered{
    {.name = "elementary", .evaluations = float_evaluations, .make = make}};

}  // namespace
}  // namespace assay::selftest::elementary_model
