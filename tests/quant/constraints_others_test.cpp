// The tables of Horizon, ONNX Runtime and OpenVINO on graphs, constraint by constraint.
#include "tests/quant/layer_case.h"

namespace assay::constraints_others_test {
namespace {

using namespace layer_case;

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

TEST(Constraints, HorizonOnlyBn) { expect_cases("horizon-only-bn", horizon_cases(false)); }
TEST(Constraints, HorizonBnAddRelu) { expect_cases("horizon-bn-add-relu", horizon_cases(true)); }
TEST(Constraints, OnnxRuntime) { expect_cases("onnxruntime", onnxruntime_cases()); }
TEST(Constraints, OpenVino) { expect_cases("openvino", openvino_cases()); }

}  // namespace
}  // namespace assay::constraints_others_test
