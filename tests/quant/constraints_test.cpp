// How the constraint tables are applied: followed weights, settings, products, strictness.
#include "quant/constraints.h"

#include <gtest/gtest.h>

#include "tests/quant/layer_case.h"

namespace assay::constraints_test {
namespace {

using namespace layer_case;

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
}  // namespace assay::constraints_test
