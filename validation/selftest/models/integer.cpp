// INT8: QConv, depthwise QConv and QGemm under every numeric profile; residual, QAdd, pools and
// QConcat under those that define them; and the integer operators of ONNX.
#include "quant/profile.h"
#include "validation/selftest/model.h"
#include "validation/selftest/net_maker.h"

namespace assay::selftest::integer_model {
namespace {

using Ints = std::vector<std::int64_t>;
constexpr std::int64_t uint8 = 2;

/// Codes of the input with scale 0.031 and zero point 116 (inner: the input is no result).
std::string coded(NetMaker& m, const std::string& name, const std::vector<std::int64_t>& dims) {
  return m.inner(name + "_codes", "QuantizeLinear",
                 {m.input(name, dims), m.constant(name + "_scale", Tensor::scalar(0.031F)),
                  m.constant(name + "_zero", Tensor::scalar(std::uint8_t{116}))});
}

Attributes with_y(Attributes a, const std::string& profile, float scale) {
  a.set("profile", profile);
  a.set("y_dtype", uint8);
  a.set("y_scale", scale);
  a.set("y_zero_point", std::int64_t{121});
  return a;
}

Attributes linear(const std::string& profile, float y_scale, std::int64_t channels) {
  std::vector<float> scales;
  for (std::int64_t c = 0; c < channels; ++c)
    scales.push_back(0.0031F * (1.0F + static_cast<float>(c) / 7));
  return with_y({{"x_scale", 0.031F}, {"x_zero_point", std::int64_t{116}}, {"w_scales", scales}},
                profile, y_scale);
}

Graph make(const std::string& profile) {
  NetMaker m("integer");
  const std::string x = coded(m, "x", {20, 7, 9});
  Attributes conv = linear(profile, 0.11F, 18);
  conv.set("pads", Ints{1, 1, 1, 1});
  m.node("conv", "ai.assay:QConv", {x, m.weight_codes("w", {18, 20, 3, 3}), m.weight("b", {18})},
         conv);
  conv.set("activation", std::string("Relu"));
  conv.set("strides", Ints{2, 2});
  m.node("conv_relu", "ai.assay:QConv",
         {x, m.weight_codes("w_relu", {18, 20, 3, 3}), m.weight("b_relu", {18})}, conv);
  Attributes depthwise = linear(profile, 0.037F, 20);
  depthwise.set("group", std::int64_t{20});
  m.node("depthwise", "ai.assay:QConv",
         {x, m.weight_codes("w_depthwise", {20, 1, 3, 3}), m.weight("b_depthwise", {20})},
         depthwise);
  Attributes gemm = linear(profile, 0.13F, 11);
  gemm.set("transB", std::int64_t{1});
  m.node("gemm", "ai.assay:QGemm",
         {coded(m, "rows", {150}), m.weight_codes("w_gemm", {11, 150}), m.weight("b_gemm", {11})},
         gemm);
  return m.take();
}

Attributes of_x(const std::string& profile) {
  return with_y({{"x_scale", 0.031F}, {"x_zero_point", std::int64_t{116}}}, profile, 0.029F);
}

Graph make_joined(const std::string& profile) {
  NetMaker m("integer_joined");
  const std::string x = coded(m, "x", {20, 7, 9}), r = coded(m, "r", {20, 7, 9});
  Attributes conv = linear(profile, 0.12F, 20);
  conv.set("residual_scale", 0.031F);
  conv.set("residual_zero_point", std::int64_t{116});
  m.node("residual", "ai.assay:QConv",
         {x, m.weight_codes("w", {20, 20, 1, 1}), m.weight("b", {20}), r}, conv);
  m.node("sum", "ai.assay:QAdd", {x, r},
         with_y({{"a_scale", 0.031F},
                 {"a_zero_point", std::int64_t{116}},
                 {"b_scale", 0.027F},
                 {"b_zero_point", std::int64_t{109}}},
                profile, 0.043F));
  m.node("global_average", "ai.assay:QGlobalAveragePool", {x}, of_x(profile));
  Attributes window = of_x(profile);
  window.set("kernel_shape", Ints{3, 3});
  m.node("average", "ai.assay:QAveragePool", {x}, window);
  m.node("maximum", "ai.assay:QMaxPool", {x}, window);
  m.node("concat", "ai.assay:QConcat", {x, r},
         with_y({{"x_scales", std::vector<float>{0.031F, 0.027F}},
                 {"x_zero_points", Ints{116, 109}},
                 {"axis", std::int64_t{1}}},
                profile, 0.033F));
  return m.take();
}

Graph make_onnx(const std::string&) {
  NetMaker m("integer_onnx");
  const std::string x = coded(m, "x", {12, 7, 9}), rows = coded(m, "rows", {150});
  const std::string w_scale = m.constant("w_scale", Tensor::scalar(0.0031F));
  const std::string w_zero = m.constant("w_zero", Tensor::scalar(std::int8_t{0}));
  const std::string y_scale = m.constant("y_scale", Tensor::scalar(0.11F));
  const std::string y_zero = m.constant("y_zero", Tensor::scalar(std::uint8_t{121}));
  const std::string w = m.weight_codes("w", {10, 6, 3, 3}),
                    w_rows = m.weight_codes("w_rows", {150, 13});
  m.node("conv_integer", "ConvInteger", {x, w, "x_zero"}, {{"group", std::int64_t{2}}});
  m.node("q_linear_conv", "QLinearConv",
         {x, "x_scale", "x_zero", w, w_scale, w_zero, y_scale, y_zero},
         {{"group", std::int64_t{2}}});
  m.node("mat_mul_integer", "MatMulInteger", {rows, w_rows, "rows_zero"});
  m.node("q_linear_mat_mul", "QLinearMatMul",
         {rows, "rows_scale", "rows_zero", w_rows, w_scale, w_zero, y_scale, y_zero});
  m.node("quantized", "QuantizeLinear", {"x_full", y_scale, y_zero});
  m.node("dequantized", "DequantizeLinear", {x, y_scale, y_zero});
  return m.take();
}

std::vector<std::string> joined_profiles() { return {"onednn-s16pair", "onednn-v3", "onnx-qdq"}; }

std::vector<std::string> only_cr() { return {"cr"}; }

const RegisterModel registered[] = {
    RegisterModel{{.name = "integer", .evaluations = profile_names, .make = make}},
    RegisterModel{{.name = "integer_joined", .evaluations = joined_profiles, .make = make_joined}},
    RegisterModel{{.name = "integer_onnx", .evaluations = only_cr, .make = make_onnx}}};

}  // namespace
}  // namespace assay::selftest::integer_model
