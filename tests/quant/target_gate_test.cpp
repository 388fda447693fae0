// Quantizing under a constraint table: what it does not allow stays in float, with the reason.
#include "quant/target_gate.h"

#include <gtest/gtest.h>

#include "quant/lower.h"
#include "quant/quantize.h"
#include "runtime/error.h"
#include "tests/support/quant_graphs.h"

namespace assay::target_gate_test {
namespace {

using test::f32;
using test::GraphMaker;

/// Conv - Add with the input - MaxPool - Conv dilated in nothing - GlobalAveragePool - Flatten -
/// Gemm.
Graph net() {
  GraphMaker m;
  m.input("x", DType::float32, {1, 2, 4, 4}).constant("w0", f32({2, 2, 1, 1}, {1, 0.5F, -0.5F, 1}));
  m.constant("w1", f32({2, 2, 1, 1}, {1, 2, 3, 4}))
      .constant("w2", f32({3, 2}, {1, 2, 3, 4, 5, 60}));
  m.node("Conv", {"x", "w0"}, {"c"}).node("Add", {"c", "x"}, {"a"});
  m.node("MaxPool", {"a"}, {"p"}, {{"kernel_shape", std::vector<std::int64_t>{2, 2}}});
  m.node("Conv", {"p", "w1"}, {"d"})
      .node("GlobalAveragePool", {"d"}, {"g"})
      .node("Flatten", {"g"}, {"f"});
  m.node("Gemm", {"f", "w2"}, {"y"}, {{"transB", std::int64_t{1}}}).output("y");
  return m.graph;
}

QuantReport quantized(const Graph& g, const QuantConfig& config) {
  CalibrationTable t{.algorithm = "min-max"};
  for (const ValueId v : g.value_ids())
    t.ranges[g.name(v)] = {.chosen = {-1, 4}, .seen = {-1, 4}, .count = 1};
  return quantize(g, t, config).report;
}

const NodeVerdict& of(const QuantReport& r, const std::string& output) {
  for (const NodeVerdict& n : r.nodes) {
    if (n.output == output) return n;
  }
  throw Error({.what = output});
}

TEST(TargetGate, WithoutTargetEverythingIsAllowed) {
  const QuantReport r = quantized(net(), {});
  for (const NodeVerdict& n : r.nodes) EXPECT_TRUE(n.quantized && !n.by_target) << n.output;
}

TEST(TargetGate, AmctOnnxLeavesAddAndGlobalPoolingInFloat) {
  const QuantReport r = quantized(net(), {.target = "amct-onnx"});
  for (const char* output : {"c", "p", "d", "y"}) EXPECT_TRUE(of(r, output).quantized) << output;
  const NodeVerdict& add = of(r, "a");
  EXPECT_FALSE(add.quantized);
  EXPECT_TRUE(add.by_target);
  EXPECT_EQ(
      add.reason,
      "target amct-onnx does not quantize it: only one input is quantized: quantized_inputs = 2");
  EXPECT_EQ(add.edit, "quantize one input and leave the other in float");
  EXPECT_NE(of(r, "g").reason.find("global_pooling is false"), std::string::npos);
  EXPECT_NE(of(r, "f").reason.find("amct-onnx has no row for Flatten"), std::string::npos);
}

/// x is quantized for the convolution; the Add that AMCT refuses still reads x itself, so that it
/// is not made an integer operator afterwards.
TEST(TargetGate, ARefusedLayerReadsFloat) {
  const Graph g = net();
  CalibrationTable t{.algorithm = "min-max"};
  for (const ValueId v : g.value_ids())
    t.ranges[g.name(v)] = {.chosen = {-1, 4}, .seen = {-1, 4}, .count = 1};
  const auto addend = [&](const QuantConfig& config) {
    const Graph q = quantize(g, t, config).graph;
    return q.name(q.producer(q.find_value("a").value())->inputs[1]);
  };
  EXPECT_EQ(addend({}), "x_dequantized");
  EXPECT_EQ(addend({.target = "amct-onnx"}), "x");
  for (const LoweredNode& n : lower(quantize(g, t, {.target = "amct-onnx"}).graph).nodes)
    EXPECT_EQ(n.lowered, n.op_type == "Conv" || n.op_type == "MaxPool" || n.op_type == "Gemm")
        << n.node;
}

TEST(TargetGate, CaffesSumMayHaveBothInputsQuantized) {
  EXPECT_TRUE(of(quantized(net(), {.target = "amct-caffe"}), "a").quantized);
  const QuantReport a2 = quantized(net(), {.target = "amct-caffe", .product = "atlas-a2"});
  for (const NodeVerdict& n : a2.nodes) EXPECT_FALSE(n.quantized) << n.output;
}

/// Huawei's × cells: a product has one weight scale. The default gives way, a wish for the layer
/// does not.
TEST(TargetGate, ProductsGetOneWeightScale) {
  const Graph g = net();
  CalibrationTable t{.algorithm = "min-max"};
  for (const ValueId v : g.value_ids())
    t.ranges[g.name(v)] = {.chosen = {-1, 4}, .seen = {-1, 4}, .count = 1};
  const auto scales = [&](const QuantConfig& config, const std::string& name) {
    const Graph q = quantize(g, t, config).graph;
    return q.constant(q.find_value(name).value())->numel();
  };
  EXPECT_EQ(scales({}, "w2_scale"), 3);
  EXPECT_EQ(scales({.target = "amct-onnx"}, "w2_scale"), 1);
  EXPECT_EQ(scales({.target = "amct-onnx"}, "w1_scale"), 2);
  QuantConfig wish{.target = "amct-onnx"};
  wish.layers["y"].per_channel = true;
  try {
    quantize(g, t, wish);
    FAIL() << "an × cell is an error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("channel_wise=true is an error"), std::string::npos)
        << e.what();
  }
  wish.layers["y"].per_channel = false;
  EXPECT_NO_THROW(quantize(g, t, wish));
}

TEST(TargetGate, HorizonWantsAlignedScales) {
  EXPECT_FALSE(of(quantized(net(), {.target = "horizon-bn-add-relu"}), "a").quantized);
  EXPECT_TRUE(of(quantized(net(), {.align_residual = true, .target = "horizon-bn-add-relu"}), "a")
                  .quantized);
}

TEST(TargetGate, BadNamesAreErrors) {
  EXPECT_THROW(quantized(net(), {.target = "amct"}), Error);
  EXPECT_THROW(quantized(net(), {.target = "amct-onnx", .product = "atlas-9"}), Error);
  EXPECT_THROW(quantized(net(), {.product = "atlas-a2"}), Error);
}

TEST(TargetGate, TheConfigurationFileNamesTheTarget) {
  const QuantConfig c = parse_quant_config(
      R"({"schema": "assay-quant-config/1", "target": "amct-onnx", "product": "atlas-a3"})",
      "c.json");
  EXPECT_EQ(c.target, "amct-onnx");
  EXPECT_EQ(c.product, "atlas-a3");
  EXPECT_EQ(parse_quant_config(c.to_json(), "again").product, "atlas-a3");
  EXPECT_EQ(QuantConfig{}.to_json().find("target"), std::string::npos);
}

}  // namespace
}  // namespace assay::target_gate_test
