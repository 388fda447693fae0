// Graphs judged by the constraint tables: each constraint of each table has a graph that meets it
// and one that does not.
#include "quant/constraints.h"

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/fusion/net.h"

namespace assay {
namespace {

using testing::f32;
using testing::Net;

using Settings = std::map<std::string, FactValue>;
using Answer = LayerAnswer;

/// A graph, the layer that is asked about (its output is "y"), and what the table says.
struct Case {
  std::string name;
  Graph graph;
  Answer answer;
  std::vector<std::string> failed = {};  ///< "TARGET/ROW/CONSTRAINT", sorted
  std::string product = {};
  Settings settings = {};
  std::string scheme = "uniform";
};

LayerVerdict verdict_of(const std::string& target, const Case& c) {
  const TargetReport r = judge_graph(
      c.graph,
      {.target = target, .product = c.product, .scheme = c.scheme, .settings = c.settings});
  for (const LayerVerdict& v : r.layers) {
    if (v.output == "y") return v;
  }
  throw Error({.what = "no layer writes y"});
}

std::vector<std::string> ids(const LayerVerdict& v) {
  std::vector<std::string> list;
  for (const FailedConstraint& f : v.failed) list.push_back(f.id);
  std::sort(list.begin(), list.end());
  return list;
}

Tensor weight(Shape shape) { return Tensor::zeros(DType::float32, std::move(shape)); }

Graph conv(Shape w, const std::string& attributes = "") {
  std::vector<std::int64_t> x = {1, w[1]};
  for (std::int64_t i = 2; i < w.rank(); ++i) x.push_back(8);
  const std::int64_t group = attributes.find("group=2") == std::string::npos ? 1 : 2;
  x[1] *= group;
  return Net("y = Conv" + attributes + "(x, w)")
      .input("x", x)
      .constant("w", weight(std::move(w)))
      .build();
}
Graph conv_transpose(Shape w, const std::string& attributes = "") {
  std::vector<std::int64_t> x = {1, w[0]};
  for (std::int64_t i = 2; i < w.rank(); ++i) x.push_back(8);
  return Net("y = ConvTranspose" + attributes + "(x, w)")
      .input("x", x)
      .constant("w", weight(std::move(w)))
      .build();
}
/// `op` with a 4-D weight that is given by `lines` and the caller.
Graph fed(const std::string& op, const std::string& attributes = "") {
  return Net("w = Mul(p, k)\ny = " + op + attributes + "(x, w)")
      .input("x", {1, 2, 8, 8})
      .input("p", {2, op == "Conv" && !attributes.empty() ? 1 : 2, 3, 3})
      .constant("k", f32({}, {2}))
      .build();
}
Graph gemm(const std::string& attributes = "", DType dtype = DType::float32) {
  return Net("y = Gemm" + attributes + "(x, w)")
      .input("x", {2, 2}, dtype)
      .constant("w", Tensor::zeros(dtype, {2, 2}))
      .build();
}
Graph fed_gemm() {
  return Net("y = Gemm(x, w)").input("x", {2, 2}).overridable("w", weight({2, 2})).build();
}
Graph matmul(std::vector<std::int64_t> x, Shape w) {
  return Net("y = MatMul(x, w)")
      .input("x", std::move(x))
      .constant("w", weight(std::move(w)))
      .build();
}
Graph two_variables(DType dtype = DType::float32, std::int64_t batch = 2) {
  return Net("y = MatMul(a, b)")
      .input("a", {batch, 3, 4}, dtype)
      .input("b", {batch, 4, 5}, dtype)
      .build();
}
Graph constant_first() {
  return Net("y = MatMul(w, x)").input("x", {2, 3, 4}).constant("w", weight({3, 3})).build();
}
Graph pool(const std::string& op, DType dtype = DType::float32) {
  const bool global = op.rfind("Global", 0) == 0;
  return Net("y = " + op + (global ? "" : "<kernel_shape=[2,2]>") + "(x)")
      .input("x", {1, 2, 4, 4}, dtype)
      .build();
}
Graph elementwise(const std::string& op, DType dtype = DType::float32) {
  return Net("y = " + op + "(a, b)").input("a", {1, 2}, dtype).input("b", {1, 2}, dtype).build();
}
/// A node of another tool's operator, with two inputs, the second a constant.
Graph foreign(const std::string& op_and_attributes) {
  return Net("y = " + op_and_attributes + "(x, w)")
      .input("x", {2, 2})
      .constant("w", weight({2, 2}))
      .build();
}

const Settings symmetric = {{"activation_asymmetric", false}};
const Settings asymmetric = {{"activation_asymmetric", true}};
const Settings shift = {{"shift_n", std::int64_t{3}}};
const Settings no_shift = {{"shift_n", std::int64_t{0}}};
const Settings both_inputs = {{"quantized_inputs", std::int64_t{2}}};
const Settings one_input = {{"quantized_inputs", std::int64_t{1}}};
const Settings per_channel = {{"channel_wise", true}};
const Settings per_tensor = {{"channel_wise", false}, {"weight_asymmetric", false}};
const Settings weight_asymmetric = {{"weight_asymmetric", true}};
const Settings weight_symmetric = {{"weight_asymmetric", false}};

std::vector<Case> onnx_cases() {
  return {
      {"conv", conv({2, 2, 3, 3}), Answer::quantizable},
      {"conv 1-D", conv({2, 2, 3}), Answer::quantizable},
      {"conv dilated in two dimensions", conv({2, 2, 3, 3}, "<dilations=[2,2]>"),
       Answer::quantizable},
      {"conv 3-D", conv({2, 2, 3, 3, 3}, "<dilations=[1,2,2]>"), Answer::quantizable},
      {"conv 3-D, dilated in depth",
       conv({2, 2, 3, 3, 3}, "<dilations=[2,1,1]>"),
       Answer::no,
       {"amct-onnx/Conv/dilation_d"}},
      {"conv, weight computed from a placeholder",
       fed("Conv"),
       Answer::no,
       {"amct-onnx/Conv/weight_static"}},
      {"gemm", gemm("<transB=1>"), Answer::quantizable},
      {"gemm, transA", gemm("<transA=1>"), Answer::no, {"amct-onnx/Gemm/transpose_a"}},
      {"gemm, weight may be overridden", fed_gemm(), Answer::no, {"amct-onnx/Gemm/weight_static"}},
      {"deconvolution", conv_transpose({2, 2, 3, 3}), Answer::quantizable},
      {"deconvolution dilated",
       conv_transpose({2, 2, 3, 3}, "<dilations=[1,2]>"),
       Answer::no,
       {"amct-onnx/ConvTranspose/dilation"}},
      {"deconvolution 3-D",
       conv_transpose({2, 2, 3, 3, 3}),
       Answer::no,
       {"amct-onnx/ConvTranspose/filter_rank"}},
      {"deconvolution 1-D",
       conv_transpose({2, 2, 3}),
       Answer::no,
       {"amct-onnx/ConvTranspose/filter_rank"}},
      {"deconvolution fed",
       fed("ConvTranspose"),
       Answer::no,
       {"amct-onnx/ConvTranspose/weight_static"}},
      {"matmul", matmul({2, 3, 4}, {4, 5}), Answer::quantizable},
      {"matmul with a 3-D constant",
       matmul({2, 3, 4}, {2, 4, 5}),
       Answer::no,
       {"amct-onnx/MatMul/constant_rank"}},
      {"matmul with a constant first",
       constant_first(),
       Answer::no,
       {"amct-onnx/MatMul/weight_static"}},
      {"matmul of two variables", two_variables(), Answer::quantizable, {}, "atlas-a2", symmetric},
      {"matmul of two variables, asymmetric",
       two_variables(),
       Answer::no,
       {"amct-onnx/MatMul/two_variables_symmetric"},
       "Atlas 350",
       asymmetric},
      {"matmul of two variables elsewhere",
       two_variables(),
       Answer::degrades,
       {"amct-onnx/MatMul/two_variables_gain"},
       "atlas-inference"},
      {"matmul of two variables, no product",
       two_variables(),
       Answer::degrades,
       {"amct-onnx/MatMul/two_variables_gain"}},
      {"average pool", pool("AveragePool"), Answer::quantizable, {}, "", no_shift},
      {"global average pool",
       pool("GlobalAveragePool"),
       Answer::no,
       {"amct-onnx/AveragePool/not_global"}},
      {"average pool with shift-N",
       pool("AveragePool"),
       Answer::no,
       {"amct-onnx/AveragePool/no_shift_n"},
       "",
       shift},
      {"max pool", pool("MaxPool"), Answer::tensor_only},
      {"add", elementwise("Add"), Answer::tensor_only, {}, "", one_input},
      {"add, both inputs",
       elementwise("Add"),
       Answer::no,
       {"amct-onnx/Add/one_input"},
       "",
       both_inputs},
      {"float16 average pool",
       pool("AveragePool", DType::float16),
       Answer::no,
       {"amct-onnx/AveragePool/float16_model"}},
      {"float16 max pool",
       pool("MaxPool", DType::float16),
       Answer::no,
       {"amct-onnx/MaxPool/float16_model"}},
      {"float16 add",
       elementwise("Add", DType::float16),
       Answer::no,
       {"amct-onnx/Add/float16_model"}},
      {"float16 gemm", gemm("", DType::float16), Answer::quantizable},
      {"float16 matmul of two variables",
       two_variables(DType::float16),
       Answer::no,
       {"amct-onnx/MatMul/float16_model"},
       "atlas-a3"},
      {"relu", Net("y = Relu(x)").input("x", {2}).build(), Answer::not_listed},
      {"per-channel gemm",
       gemm(),
       Answer::no,
       {"amct-weight-only/MatMulV2/channel_wise"},
       "",
       per_channel},
      {"asymmetric gemm",
       gemm(),
       Answer::no,
       {"amct-weight-only/MatMulV2/asymmetric"},
       "",
       weight_asymmetric},
      {"per-tensor gemm", gemm(), Answer::quantizable, {}, "", per_tensor},
      {"per-channel matmul",
       matmul({2, 3, 4}, {4, 5}),
       Answer::no,
       {"amct-weight-only/BatchMatMulV2/channel_wise"},
       "",
       per_channel},
      {"asymmetric matmul",
       matmul({2, 3, 4}, {4, 5}),
       Answer::no,
       {"amct-weight-only/BatchMatMulV2/asymmetric"},
       "",
       weight_asymmetric},
      {"per-tensor matmul", matmul({2, 3, 4}, {4, 5}), Answer::quantizable, {}, "", per_tensor},
      {"per-channel conv", conv({2, 2, 3, 3}), Answer::quantizable, {}, "", per_channel},
  };
}

std::vector<Case> tf_cases() {
  const auto with = [](const std::string& attribute) {
    return foreign("MatMul<" + attribute + "=1>");
  };
  return {
      {"matmul", gemm(), Answer::quantizable},
      {"matmul of matrices", matmul({3, 4}, {4, 5}), Answer::quantizable},
      {"transpose_a", gemm("<transA=1>"), Answer::no, {"amct-tf/MatMul/transpose_a"}},
      {"transpose_b", gemm("<transB=1>"), Answer::no, {"amct-tf/MatMul/transpose_b"}},
      {"TF's own transpose_b", with("transpose_b"), Answer::no, {"amct-tf/MatMul/transpose_b"}},
      {"adjoint_a", with("adjoint_a"), Answer::no, {"amct-tf/MatMul/adjoint_a"}},
      {"adjoint_b", with("adjoint_b"), Answer::no, {"amct-tf/MatMul/adjoint_b"}},
      {"matmul fed", fed_gemm(), Answer::no, {"amct-tf/MatMul/weight_static"}},
      {"conv", conv({2, 2, 3, 3}), Answer::quantizable},
      {"conv fed", fed("Conv"), Answer::no, {"amct-tf/Conv2D/weight_static"}},
      {"conv 1-D", conv({2, 2, 3}), Answer::not_listed},
      {"depthwise", conv({2, 1, 3, 3}, "<group=2>"), Answer::quantizable},
      {"depthwise fed",
       fed("Conv", "<group=2>"),
       Answer::no,
       {"amct-tf/DepthwiseConv2dNative/weight_static"}},
      {"deconvolution", conv_transpose({2, 2, 3, 3}), Answer::quantizable},
      {"deconvolution dilated",
       conv_transpose({2, 2, 3, 3}, "<dilations=[2,2]>"),
       Answer::no,
       {"amct-tf/Conv2DBackpropInput/dilation"}},
      {"deconvolution fed",
       fed("ConvTranspose"),
       Answer::no,
       {"amct-tf/Conv2DBackpropInput/weight_static"}},
      {"batch matmul", matmul({2, 3, 4}, {4, 5}), Answer::quantizable},
      {"batch matmul, 3-D constant",
       matmul({2, 3, 4}, {2, 4, 5}),
       Answer::no,
       {"amct-tf/BatchMatMulV2/constant_rank"}},
      {"adj_x",
       Net("y = MatMul<adj_x=1>(x, w)").input("x", {2, 3, 4}).constant("w", weight({4, 5})).build(),
       Answer::no,
       {"amct-tf/BatchMatMulV2/adj_x"}},
      {"two variables", two_variables(), Answer::quantizable, {}, "atlas-200i-500-a2", symmetric},
      {"two variables, asymmetric",
       two_variables(),
       Answer::no,
       {"amct-tf/BatchMatMulV2/two_variables_symmetric"},
       "atlas-a2",
       asymmetric},
      {"two variables elsewhere",
       two_variables(),
       Answer::degrades,
       {"amct-tf/BatchMatMulV2/two_variables_gain"},
       "Atlas 推理系列产品"},
      {"average pool", pool("AveragePool"), Answer::quantizable},
      {"average pool with shift-N",
       pool("AveragePool"),
       Answer::no,
       {"amct-tf/AvgPool/no_shift_n"},
       "",
       shift},
      {"global average pool", pool("GlobalAveragePool"), Answer::not_listed},
      {"conv 3-D", conv({2, 2, 3, 3, 3}), Answer::quantizable},
      {"conv 3-D, dilated in depth",
       conv({2, 2, 3, 3, 3}, "<dilations=[3,1,1]>"),
       Answer::no,
       {"amct-tf/Conv3D/dilation_d"}},
      {"max pool", pool("MaxPool"), Answer::tensor_only},
      {"add", elementwise("Add"), Answer::tensor_only},
      {"add, both inputs",
       elementwise("Add"),
       Answer::no,
       {"amct-tf/Add/one_input"},
       "",
       both_inputs},
      {"float16 average pool",
       pool("AveragePool", DType::float16),
       Answer::no,
       {"amct-tf/AvgPool/float16_model"}},
      {"float16 max pool",
       pool("MaxPool", DType::float16),
       Answer::no,
       {"amct-tf/MaxPool/float16_model"}},
      {"float16 add",
       elementwise("Add", DType::float16),
       Answer::no,
       {"amct-tf/Add/float16_model"}},
      {"float16 two variables",
       two_variables(DType::float16),
       Answer::no,
       {"amct-tf/BatchMatMulV2/float16_model"},
       "atlas-a2"},
  };
}

std::vector<Case> caffe_cases() {
  const auto flattened = [](int axis) {
    return Net("f = Flatten<axis=" + std::to_string(axis) + ">(x)\ny = Gemm(f, w)")
        .input("x", {1, 2, 2})
        .constant("w", weight({axis == 1 ? 4 : 2, 3}))
        .build();
  };
  return {
      {"inner product", foreign("InnerProduct<transpose=0, axis=1>"), Answer::quantizable},
      {"inner product, transposed",
       foreign("InnerProduct<transpose=1>"),
       Answer::no,
       {"amct-caffe/InnerProduct/transpose"}},
      {"inner product, axis",
       foreign("InnerProduct<axis=2>"),
       Answer::no,
       {"amct-caffe/InnerProduct/axis"}},
      {"gemm", gemm("<transB=1>"), Answer::quantizable},
      {"gemm, transA", gemm("<transA=1>"), Answer::no, {"amct-caffe/InnerProduct/transpose"}},
      {"gemm behind Flatten", flattened(1), Answer::quantizable},
      {"gemm behind Flatten of axis 2", flattened(2), Answer::no, {"amct-caffe/InnerProduct/axis"}},
      {"matmul of rank 3", matmul({2, 3, 4}, {4, 5}), Answer::no, {"amct-caffe/InnerProduct/axis"}},
      {"conv", conv({2, 2, 3, 3}), Answer::quantizable},
      {"conv 3-D", conv({2, 2, 3, 3, 3}), Answer::no, {"amct-caffe/Convolution/filter_rank"}},
      {"deconvolution", conv_transpose({2, 2, 3, 3}), Answer::quantizable},
      {"deconvolution dilated",
       conv_transpose({2, 2, 3, 3}, "<dilations=[2,1]>"),
       Answer::no,
       {"amct-caffe/Deconvolution/dilation"}},
      {"deconvolution 1-D",
       conv_transpose({2, 2, 3}),
       Answer::no,
       {"amct-caffe/Deconvolution/filter_rank"}},
      {"average pool", pool("AveragePool"), Answer::quantizable},
      {"max pool", pool("MaxPool"), Answer::tensor_only},
      {"max pool with shift-N", pool("MaxPool"), Answer::tensor_only, {}, "", shift},
      {"global max pool", pool("GlobalMaxPool"), Answer::tensor_only},
      {"global average pool",
       pool("GlobalAveragePool"),
       Answer::no,
       {"amct-caffe/Pooling/not_global"}},
      {"average pool with shift-N",
       pool("AveragePool"),
       Answer::no,
       {"amct-caffe/Pooling/no_shift_n"},
       "",
       shift},
      {"stochastic pooling", foreign("Pooling<mode=2>"), Answer::no, {"amct-caffe/Pooling/mode"}},
      {"pooling, mode 1", foreign("Pooling<mode=1>"), Answer::quantizable},
      {"pooling, mode 1, global",
       foreign("Pooling<mode=1, global_pooling=1>"),
       Answer::no,
       {"amct-caffe/Pooling/not_global"}},
      {"eltwise sum", elementwise("Add"), Answer::tensor_only},
      {"eltwise sum, both inputs", elementwise("Add"), Answer::tensor_only, {}, "", both_inputs},
      {"eltwise product", elementwise("Mul"), Answer::no, {"amct-caffe/Eltwise/operation"}},
      {"eltwise maximum", elementwise("Max"), Answer::no, {"amct-caffe/Eltwise/operation"}},
      {"eltwise by number",
       foreign("Eltwise<operation=0>"),
       Answer::no,
       {"amct-caffe/Eltwise/operation"}},
      {"float16 pooling",
       pool("MaxPool", DType::float16),
       Answer::no,
       {"amct-caffe/Pooling/float16_model"}},
      {"float16 eltwise",
       elementwise("Add", DType::float16),
       Answer::no,
       {"amct-caffe/Eltwise/float16_model"}},
      {"on Atlas inference", conv({2, 2, 3, 3}), Answer::quantizable, {}, "atlas-inference"},
      {"on Atlas 200I/500 A2", gemm(), Answer::quantizable, {}, "Atlas 200I/500 A2 推理产品"},
      {"inner product on A2",
       gemm(),
       Answer::no,
       {"amct-caffe/InnerProduct/caffe_products"},
       "atlas-a2"},
      {"conv on A3",
       conv({2, 2, 3, 3}),
       Answer::no,
       {"amct-caffe/Convolution/caffe_products"},
       "atlas-a3"},
      {"deconvolution on 350",
       conv_transpose({2, 2, 3, 3}),
       Answer::no,
       {"amct-caffe/Deconvolution/caffe_products"},
       "atlas-350"},
      {"pooling on A2",
       pool("AveragePool"),
       Answer::no,
       {"amct-caffe/Pooling/caffe_products"},
       "atlas-a2"},
      {"eltwise on A2",
       elementwise("Add"),
       Answer::no,
       {"amct-caffe/Eltwise/caffe_products"},
       "atlas-a2"},
  };
}

/// FFN with its fourteen inputs; `inputs` is the text between the parentheses.
Graph ffn(const std::string& inputs, DType type = DType::float16, const std::string& more = "") {
  return Net("y = FFN(" + inputs + ")" + more)
      .input("x", {2, 2}, DType::float16)
      .input("t", {2}, DType::int64)
      .constant("w1", Tensor::zeros(type, {2, 2}))
      .constant("w2", Tensor::zeros(type, {2, 2}))
      .constant("s", f32({1}, {1}))
      .outputs({"y"})
      .build();
}

std::vector<Case> weight_only_cases() {
  const std::string only = "weight-only";
  const std::string whole = "x, w1, w2, t";
  return {
      {"gemm", gemm(), Answer::quantizable, {}, "atlas-a2", weight_asymmetric, only},
      {"gemm per channel", gemm(), Answer::quantizable, {}, "atlas-inference", per_channel, only},
      {"gemm symmetric",
       gemm(),
       Answer::no,
       {"amct-weight-only/MatMulV2/asymmetric"},
       "atlas-a2",
       weight_symmetric,
       only},
      {"gemm fed",
       fed_gemm(),
       Answer::no,
       {"amct-weight-only/MatMulV2/second_static"},
       "atlas-a2",
       {},
       only},
      {"gemm on A3",
       gemm(),
       Answer::no,
       {"amct-weight-only/MatMulV2/products"},
       "atlas-a3",
       {},
       only},
      {"matmul", matmul({2, 3, 4}, {4, 5}), Answer::quantizable, {}, "atlas-inference", {}, only},
      {"matmul with a 3-D constant",
       matmul({2, 3, 4}, {2, 4, 5}),
       Answer::quantizable,
       {},
       "atlas-a2",
       {},
       only},
      {"matmul symmetric",
       matmul({2, 3, 4}, {4, 5}),
       Answer::no,
       {"amct-weight-only/BatchMatMulV2/asymmetric"},
       "atlas-a2",
       weight_symmetric,
       only},
      {"matmul of two variables",
       two_variables(),
       Answer::no,
       {"amct-weight-only/BatchMatMulV2/second_static"},
       "atlas-a2",
       {},
       only},
      {"matmul on 350",
       matmul({2, 3, 4}, {4, 5}),
       Answer::no,
       {"amct-weight-only/BatchMatMulV2/products"},
       "atlas-350",
       {},
       only},
      {"conv", conv({2, 2, 3, 3}), Answer::not_listed, {}, "atlas-a2", {}, only},
      {"ffn", ffn(whole), Answer::quantizable, {}, "atlas-a2", weight_symmetric, only},
      {"ffn asymmetric", ffn(whole), Answer::quantizable, {}, "atlas-a2", weight_asymmetric, only},
      {"ffn without expert_tokens",
       ffn("x, w1, w2"),
       Answer::no,
       {"amct-weight-only/FFN/expert_tokens"},
       "atlas-a2",
       {},
       only},
      {"ffn in float32",
       ffn(whole, DType::float32),
       Answer::no,
       {"amct-weight-only/FFN/float16_weights"},
       "atlas-a2",
       {},
       only},
      {"ffn with a fed weight",
       ffn("x, w1, x, t"),
       Answer::no,
       {"amct-weight-only/FFN/float16_weights", "amct-weight-only/FFN/not_shared"},
       "atlas-a2",
       {},
       only},
      {"ffn with antiquant_offset2",
       ffn(whole + ", _, _, _, _, _, _, _, _, _, s"),
       Answer::no,
       {"amct-weight-only/FFN/antiquant_empty"},
       "atlas-a2",
       {},
       only},
      {"ffn with antiquant_scale1",
       ffn(whole + ", _, _, _, _, _, _, s"),
       Answer::no,
       {"amct-weight-only/FFN/antiquant_empty"},
       "atlas-a2",
       {},
       only},
      {"ffn with a bias and scales",
       ffn(whole + ", s, s, s, s, s, s"),
       Answer::quantizable,
       {},
       "atlas-a2",
       {},
       only},
      {"ffn sharing a weight",
       ffn("x, w1, w1, t"),
       Answer::no,
       {"amct-weight-only/FFN/not_shared"},
       "atlas-a2",
       {},
       only},
      {"ffn on the inference series",
       ffn(whole),
       Answer::no,
       {"amct-weight-only/FFN/a2_only"},
       "atlas-inference",
       {},
       only},
      {"ffn on A3",
       ffn(whole),
       Answer::no,
       {"amct-weight-only/FFN/a2_only", "amct-weight-only/FFN/products"},
       "atlas-a3",
       {},
       only},
      // Quantizing weights and data together: the table's × columns.
      {"ffn, data too", ffn(whole), Answer::not_listed, {}, "atlas-a2", per_tensor},
      {"ffn, data too, per channel",
       ffn(whole),
       Answer::no,
       {"amct-weight-only/FFN/channel_wise"},
       "atlas-a2",
       per_channel},
      {"ffn, data too, asymmetric",
       ffn(whole),
       Answer::no,
       {"amct-weight-only/FFN/asymmetric"},
       "atlas-a2",
       weight_asymmetric},
  };
}

Graph conv_add_relu(const std::string& last) {
  return Net("c = Conv(x, w)\nb = BatchNormalization(c, g, g, g, g)\na = Add(b, x)\nr = Relu(a)\ny "
             "= " +
             last)
      .input("x", {1, 2, 4, 4})
      .input("z", {1, 2, 4, 4})
      .constant("w", weight({2, 2, 1, 1}))
      .constant("g", f32({2}, {1, 1}))
      .build();
}

std::vector<Case> horizon_cases(bool merged) {
  const std::string t = merged ? "horizon-bn-add-relu" : "horizon-only-bn";
  const Settings same = {{"equal_scales", true}}, different = {{"equal_scales", false}};
  std::vector<Case> cases = {
      {"conv", conv({2, 2, 3, 3}), Answer::quantizable},
      {"batch norm behind conv", conv_add_relu("BatchNormalization(c, g, g, g, g)"),
       Answer::quantizable},
      {"batch norm alone",
       conv_add_relu("BatchNormalization(x, g, g, g, g)"),
       Answer::no,
       {t + "/BatchNorm2d/behind_conv"}},
      {"residual add", conv_add_relu("Add(b, x)"), Answer::quantizable, {}, "", same},
      {"residual add on two scales",
       conv_add_relu("Add(b, x)"),
       Answer::no,
       {t + "/add/equal_scales"},
       "",
       different},
      {"relu behind add", conv_add_relu("Relu(a)"), Answer::quantizable},
      {"sigmoid", conv_add_relu("Sigmoid(a)"), Answer::not_listed},
  };
  if (merged) {
    cases.push_back({"add of two inputs",
                     conv_add_relu("Add(x, z)"),
                     Answer::no,
                     {t + "/add/operand_from_conv"}});
    cases.push_back({"relu of an input", conv_add_relu("Relu(z)"), Answer::not_listed});
    cases.push_back({"relu behind conv", conv_add_relu("Relu(b)"), Answer::quantizable});
  }
  return cases;
}

std::vector<Case> onnxruntime_cases() {
  const Graph old = Net("y = MaxPool<kernel_shape=[2,2]>(x)", 11).input("x", {1, 2, 4, 4}).build();
  return {{"max pool", pool("MaxPool"), Answer::quantizable},
          {"max pool before opset 12", old, Answer::no, {"onnxruntime/MaxPool/opset"}},
          {"conv", conv({2, 2, 3, 3}), Answer::quantizable},
          {"add", elementwise("Add"), Answer::not_listed}};
}

std::vector<Case> openvino_cases() {
  const Settings whole = {{"activation_per_channel", false}},
                 each = {{"activation_per_channel", true}};
  return {{"conv", conv({2, 2, 3, 3}), Answer::quantizable, {}, "", whole},
          {"conv, activations per channel",
           conv({2, 2, 3, 3}),
           Answer::no,
           {"openvino/Convolution-1/per_tensor_activations"},
           "",
           each},
          {"grouped conv", conv({2, 1, 3, 3}, "<group=2>"), Answer::quantizable},
          {"global average pool", pool("GlobalAveragePool"), Answer::quantizable},
          {"sigmoid", Net("y = Sigmoid(x)").input("x", {2}).build(), Answer::not_listed}};
}

/// Runs the cases and checks that every constraint of `table` that checks something was met by one
/// layer of its row and failed by another.
void expect_cases(const std::string& target, const std::vector<Case>& cases,
                  const std::string& table = "") {
  std::map<std::string, std::pair<int, int>> seen;  // constraint: met, failed
  for (const Case& c : cases) {
    SCOPED_TRACE(target + ": " + c.name);
    const LayerVerdict v = verdict_of(target, c);
    EXPECT_EQ(v.answer, c.answer) << v.reason();
    EXPECT_EQ(ids(v), c.failed);
    const bool listed = v.answer != Answer::not_listed;
    EXPECT_EQ(listed, v.remark.empty());
    for (const FailedConstraint& f : v.failed) {
      EXPECT_FALSE(f.value.empty() || f.expected.empty() || f.edit.empty()) << f.id;
      ++seen[f.id].second;
    }
    for (const std::string& id : ids(v)) seen.try_emplace(id);
    if (v.failed.empty()) ++seen["met " + v.row].first;
  }
  const Target& t = find_target(table.empty() ? target : table);
  for (const TargetRow& row : t.rows) {
    for (const Constraint& c : row.constraints) {
      if (!c.check) continue;
      EXPECT_GT(seen[t.name + "/" + row.type + "/" + c.id].second, 0)
          << row.type << " " << c.id << " never failed";
      EXPECT_GT(seen["met " + row.type].first, 0) << row.type << " never met";
    }
    for (const TargetRule& rule : t.rules) {
      for (const TargetRule::Type& type : rule.types) {
        const bool concerned = type.type == "*" || type.type == row.type ||
                               std::find(row.ir.begin(), row.ir.end(), type.type) != row.ir.end();
        if (!concerned) continue;
        EXPECT_GT(seen[t.name + "/" + row.type + "/" + rule.constraint.id].second, 0)
            << row.type << " " << rule.constraint.id << " never failed";
      }
    }
  }
}

TEST(Constraints, AmctOnnx) { expect_cases("amct-onnx", onnx_cases()); }
TEST(Constraints, AmctTensorFlow) { expect_cases("amct-tf", tf_cases()); }
TEST(Constraints, AmctCaffe) { expect_cases("amct-caffe", caffe_cases()); }
TEST(Constraints, AmctWeightOnly) {
  expect_cases("amct-onnx", weight_only_cases(), "amct-weight-only");
}
TEST(Constraints, HorizonOnlyBn) { expect_cases("horizon-only-bn", horizon_cases(false)); }
TEST(Constraints, HorizonBnAddRelu) { expect_cases("horizon-bn-add-relu", horizon_cases(true)); }
TEST(Constraints, OnnxRuntime) { expect_cases("onnxruntime", onnxruntime_cases()); }
TEST(Constraints, OpenVino) { expect_cases("openvino", openvino_cases()); }

TEST(Constraints, TheWeightIsFollowedThroughAnyNumberOfNodes) {
  const std::string chain = "a = Transpose(p)\nb = Reshape(a, s)\nw = Add(b, k)\ny = Conv(x, w)";
  const auto net = [&](bool caller) {
    Net n(chain);
    n.input("x", {1, 2, 4, 4})
        .constant("s", testing::i64({2, 2, 1, 1}))
        .constant("k", f32({}, {1}));
    if (caller)
      n.input("p", {2, 2});
    else
      n.constant("p", f32({2, 2}, {1, 2, 3, 4}));
    return n.build();
  };
  EXPECT_EQ(verdict_of("amct-onnx", {"", net(false), Answer::quantizable}).answer,
            Answer::quantizable);
  const LayerVerdict v = verdict_of("amct-onnx", {"", net(true), Answer::no});
  EXPECT_EQ(ids(v), std::vector<std::string>{"amct-onnx/Conv/weight_static"});
  EXPECT_EQ(v.failed[0].value, "weight 'w' is fed by 'p'");
  EXPECT_EQ(v.edit(), "make the weight an initializer that no caller overrides");
}

TEST(Constraints, ANodeThatMakesRandomNumbersIsNoConstant) {
  const Graph g =
      Net("w = RandomNormal<shape=[2,2,1,1]>()\ny = Conv(x, w)").input("x", {1, 2, 4, 4}).build();
  EXPECT_EQ(verdict_of("amct-onnx", {"", g, Answer::no}).answer, Answer::no);
}

/// A second input that a caller may override beside a constant one is a weight, not a variable.
TEST(Constraints, AnOverridableSecondInputIsAWeight) {
  const Graph g =
      Net("y = MatMul(x, w)").input("x", {2, 3, 4}).overridable("w", weight({4, 5})).build();
  const LayerVerdict v = verdict_of("amct-onnx", {"", g, Answer::no});
  EXPECT_EQ(ids(v), std::vector<std::string>{"amct-onnx/MatMul/weight_static"});
  EXPECT_EQ(v.failed[0].value, "weight 'w' is fed by 'w', which the caller may override");
}

TEST(Constraints, MixedFloat16ClosesTheSameOperators) {
  const Graph g = Net("h = Cast<to=10>(x)\nc = Mul(h, k)\ny = MaxPool<kernel_shape=[2,2]>(x)")
                      .input("x", {1, 2, 4, 4})
                      .constant("k", Tensor::zeros(DType::float16, {1}))
                      .outputs({"y", "c"})
                      .build();
  const LayerVerdict v = verdict_of("amct-onnx", {"", g, Answer::no});
  EXPECT_EQ(ids(v), std::vector<std::string>{"amct-onnx/MaxPool/float16_model"});
  EXPECT_EQ(v.failed[0].value, "weight 'k' is float16");
}

TEST(Constraints, AnOpenProductIsListedWhenItForbids) {
  const LayerVerdict v = verdict_of("amct-caffe", {"", conv({2, 2, 3, 3}), Answer::quantizable});
  ASSERT_EQ(v.open.size(), 1U);
  EXPECT_NE(v.open[0].find("do not support Caffe"), std::string::npos);
}

TEST(Constraints, FreeSettingsTakeTheTablesValue) {
  const LayerVerdict v = verdict_of("amct-onnx", {"", gemm(), Answer::quantizable});
  EXPECT_EQ(v.settings, (Settings{{"channel_wise", false}, {"weight_asymmetric", false}}));
  const LayerVerdict only =
      verdict_of("amct-onnx", {"", gemm(), Answer::quantizable, {}, "", {}, "weight-only"});
  EXPECT_EQ(only.settings, (Settings{{"weight_asymmetric", true}}));
}

TEST(Constraints, TheErrorCellsSaySo) {
  const LayerVerdict v = verdict_of("amct-onnx", {"", gemm(), Answer::no, {}, "", per_channel});
  ASSERT_EQ(v.failed.size(), 1U);
  EXPECT_TRUE(v.failed[0].error);
  EXPECT_EQ(v.reason().rfind("error, ", 0), 0U);
}

TEST(Constraints, NodesOfConstantsAndSubgraphsAreSaid) {
  const Graph g = Net("w = Add(k, k)\ny = Conv(x, w)")
                      .input("x", {1, 2, 4, 4})
                      .constant("k", weight({2, 2, 1, 1}))
                      .build();
  const TargetReport r = judge_graph(g, {.target = "amct-onnx"});
  ASSERT_EQ(r.layers.size(), 2U);
  EXPECT_EQ(r.layers[0].answer, Answer::not_listed);
  EXPECT_EQ(r.layers[0].remark, "computes a constant");
  EXPECT_EQ(r.layers[1].answer, Answer::quantizable);
}

TEST(Constraints, StrictFailsOnWhatIsListedOnly) {
  const auto fails = [](const Graph& g, const std::string& product = "",
                        const std::string& scheme = "uniform") {
    return judge_graph(g, {.target = "amct-onnx", .product = product, .scheme = scheme})
        .fails_strict();
  };
  EXPECT_FALSE(fails(conv({2, 2, 3, 3})));
  EXPECT_FALSE(fails(pool("MaxPool")));
  EXPECT_FALSE(fails(Net("y = Relu(x)").input("x", {2}).build()));
  EXPECT_TRUE(fails(pool("GlobalAveragePool")));
  EXPECT_TRUE(fails(two_variables(), "atlas-inference"));
  EXPECT_FALSE(fails(two_variables(), "atlas-a3"));
  EXPECT_TRUE(fails(gemm(), "atlas-a2", "weight-only"));  // "this version does not support" it
}

TEST(Constraints, BadRequestsAreErrors) {
  const Graph g = gemm();
  EXPECT_THROW(judge_graph(g, {.target = "amct"}), Error);
  EXPECT_THROW(judge_graph(g, {.target = "amct-onnx", .product = "atlas"}), Error);
  EXPECT_THROW(judge_graph(g, {.target = "amct-onnx", .scheme = "int4"}), Error);
  EXPECT_THROW(judge_graph(g, {.target = "openvino", .scheme = "weight-only"}), Error);
  EXPECT_THROW(judge_graph(g, {.target = "amct-onnx", .settings = {{"shift", true}}}), Error);
  EXPECT_THROW(parse_setting("shift_n"), Error);
  EXPECT_THROW(parse_setting("shift_n=true"), Error);
  EXPECT_THROW(parse_setting("channel_wise=1"), Error);
  EXPECT_EQ(parse_setting("shift_n=4").second, FactValue(std::int64_t{4}));
  EXPECT_EQ(parse_setting("channel_wise=true").second, FactValue(true));
}

}  // namespace
}  // namespace assay
