#include "quant/quantize.h"

#include <gtest/gtest.h>

#include "tests/support/quant_graphs.h"

namespace assay::quantize_test {
namespace {

using test::f32;
using test::GraphMaker;

/// Conv - Relu, then a residual block Conv - Add - Relu, pooling and Gemm.
GraphMaker residual_net() {
  GraphMaker m;
  const Tensor eye = f32({2, 2, 1, 1}, {1, 0.5F, -0.5F, 1});
  m.input("x", DType::float32, {1, 2, 4, 4})
      .constant("w0", eye)
      .constant("b0", f32({2}, {0.1F, 0.2F}))
      .constant("w1", eye);
  m.constant("w2", f32({3, 2}, {1, 2, 3, 4, 5, 6})).constant("b2", f32({3}, {1, 2, 3}));
  m.node("Conv", {"x", "w0", "b0"}, {"c0"})
      .node("Relu", {"c0"}, {"r0"})
      .node("Conv", {"r0", "w1"}, {"c1"});
  m.node("Add", {"c1", "r0"}, {"a"})
      .node("Relu", {"a"}, {"r1"})
      .node("GlobalAveragePool", {"r1"}, {"g"});
  m.node("Flatten", {"g"}, {"f"})
      .node("Gemm", {"f", "w2", "b2"}, {"y"}, {{"transB", std::int64_t{1}}})
      .output("y");
  return m;
}

CalibrationTable table_for(const Graph& g, Range range = {-1, 4}) {
  CalibrationTable t{.algorithm = "min-max"};
  for (const ValueId v : g.value_ids())
    t.ranges[g.name(v)] = {.chosen = range, .seen = range, .count = 1};
  return t;
}

std::set<std::string> quantized_values(const QuantReport& r) {
  std::set<std::string> names;
  for (const auto& v : r.values) names.insert(v.value);
  return names;
}

const Node& producer(const Graph& g, const std::string& name) {
  return *g.producer(g.find_value(name).value());
}

TEST(Quantize, PlacesQuantizersWhereIntegersAreRead) {
  const GraphMaker m = residual_net();
  const auto q = quantize(m.graph, table_for(m.graph));
  EXPECT_EQ(quantized_values(q.report), (std::set<std::string>{"x", "r0", "c1", "r1", "g", "f"}));
  EXPECT_EQ(producer(q.graph, "y").op_type, "Gemm");  // the graph's output stays float
  EXPECT_EQ(producer(q.graph, "c1_quantized").op_type, "QuantizeLinear");
  // Relu reads the float value, the quantizer stands behind it.
  EXPECT_EQ(q.graph.name(producer(q.graph, "r0").inputs[0]), "c0");
  EXPECT_EQ(q.graph.name(producer(q.graph, "a").inputs[1]), "r0_dequantized");
  // Gemm's bias carries the scale of its operands.
  const Node& bias = producer(q.graph, "b2_dequantized");
  EXPECT_EQ(q.graph.constant(bias.inputs[0])->dtype(), DType::int32);
}

TEST(Quantize, CopiesShareTheirScale) {
  const GraphMaker m = residual_net();
  const auto q = quantize(m.graph, table_for(m.graph));
  const auto params = [&](const std::string& name) {
    for (const auto& v : q.report.values) {
      if (v.value == name) return v.params;
    }
    throw Error({.what = name});
  };
  EXPECT_EQ(params("g"), params("f"));
}

TEST(Quantize, MidRoundingDropped) {
  const GraphMaker m = residual_net();
  const auto q = quantize(m.graph, table_for(m.graph), {.keep_mid_rounding = false});
  EXPECT_EQ(quantized_values(q.report), (std::set<std::string>{"x", "r0", "r1", "g", "f"}));
  EXPECT_EQ(q.report.dropped_mid_rounding, std::vector<std::string>{"c1"});
}

TEST(Quantize, AlignedResidual) {
  const GraphMaker m = residual_net();
  auto table = table_for(m.graph);
  table.ranges["c1"].chosen = {-2, 1};
  const auto q = quantize(m.graph, table, {.align_residual = true});
  std::map<std::string, QuantParams> params;
  for (const auto& v : q.report.values) params[v.value] = v.params;
  EXPECT_EQ(params["c1"], params["r0"]);
  EXPECT_EQ(params["c1"], activation_params({-2, 4}, ActivationScheme::u8));
}

TEST(Quantize, EveryFloatNodeHasAReason) {
  const GraphMaker m = residual_net();
  const auto q = quantize(m.graph, table_for(m.graph), {.skip = {"c1_node"}});
  for (const NodeVerdict& n : q.report.nodes) {
    EXPECT_EQ(n.quantized, n.reason.empty()) << n.node;
    if (n.node == "c1_node") {
      EXPECT_FALSE(n.quantized);
    }
    if (n.op_type == "Relu") {
      EXPECT_FALSE(n.quantized);
    }
  }
  EXPECT_THROW(quantize(m.graph, table_for(m.graph), {.skip = {"nothing_like_it"}}), Error);
}

TEST(Quantize, UncalibratedValueKeepsItsReaderInFloat) {
  const GraphMaker m = residual_net();
  auto table = table_for(m.graph);
  table.ranges.erase("r0");
  const auto q = quantize(m.graph, table);
  for (const NodeVerdict& n : q.report.nodes) {
    if (n.node == "c1_node") {
      EXPECT_EQ(n.reason, "input 'r0' was not calibrated");
    }
  }
}

TEST(Quantize, ReasonsOfRefusedOperators) {
  GraphMaker m;
  m.input("x", DType::float32, {1, 2})
      .input("w", DType::float32, {2, 2})
      .constant("v", f32({2, 2}, {1, 2, 3, 4}));
  m.node("MatMul", {"x", "w"}, {"a"})
      .node("Gemm", {"a", "v"}, {"b"}, {{"alpha", 2.0F}})
      .node("Softmax", {"b"}, {"c"})
      .output("c");
  const auto q = quantize(m.graph, table_for(m.graph));
  ASSERT_EQ(q.report.nodes.size(), 3U);
  EXPECT_EQ(q.report.nodes[0].reason, "weight 'w' is not constant");
  EXPECT_EQ(q.report.nodes[1].reason, "Gemm has alpha or beta other than 1");
  EXPECT_EQ(q.report.nodes[2].reason, "Softmax has no integer form");
}

TEST(Quantize, FusedOperatorsAreWrittenOut) {
  GraphMaker m;
  const Tensor w = f32({1, 1, 1, 1}, {2});
  m.input("x", DType::float32, {1, 1, 2, 2})
      .input("r", DType::float32, {1, 1, 2, 2})
      .constant("w", w);
  m.node("ai.assay:ConvAddClip", {"x", "w", "", "r"}, {"y"},
         {{"min", 0.0F}, {"max", 6.0F}, {"rounding", std::string("staged")}});
  m.node("ai.assay:ConvRelu", {"y", "w"}, {"z"}, {{"rounding", std::string("staged")}}).output("z");
  auto table = table_for(m.graph);
  table.ranges["y_linear"] = {.chosen = {-1, 1}, .seen = {-1, 1}, .count = 1};
  const auto q = quantize(m.graph, table);
  EXPECT_EQ(producer(q.graph, "z").op_type, "Relu");
  EXPECT_EQ(producer(q.graph, "y").op_type, "Clip");
  EXPECT_EQ(producer(q.graph, "y").inputs.size(), 3U);
  EXPECT_EQ(quantized_values(q.report), (std::set<std::string>{"x", "r", "y", "y_linear"}));
  for (const NodeId n : q.graph.node_ids()) EXPECT_NE(q.graph.node(n).domain, "ai.assay");
}

TEST(Quantize, ConfigSurvivesItsText) {
  const std::string text =
      R"({"schema": "assay-quant-config/1", "scheme": "mixed", "mid_rounding": "drop", "skip": ["a*"],
    "layers": {"c": {"scheme": "s8", "range": [-1, 2.5]}}})";
  const QuantConfig c = parse_quant_config(text, "c.json");
  EXPECT_EQ(c.scheme, ActivationScheme::mixed);
  EXPECT_FALSE(c.keep_mid_rounding);
  EXPECT_EQ(c.layers.at("c").range->high, 2.5F);
  EXPECT_EQ(parse_quant_config(c.to_json(), "again").to_json(), c.to_json());
  for (const std::string bad :
       {"{}", "[]", R"({"schema": "assay-quant-config/1", "colour": 1})",
        R"({"schema": "assay-quant-config/1", "scheme": "u9"})",
        R"({"schema": "assay-quant-config/1", "layers": {"c": {"range": [2, 1]}}})"}) {
    EXPECT_THROW(parse_quant_config(bad, "c.json"), Error) << bad;
  }
}

TEST(Quantize, LayerOverrides) {
  const GraphMaker m = residual_net();
  QuantConfig c;
  c.layers["r0"] = {.scheme = ActivationScheme::s8, .range = Range{-2, 2}};
  c.layers["c1_node"].per_channel = false;
  const auto q = quantize(m.graph, table_for(m.graph), c);
  for (const auto& v : q.report.values) {
    if (v.value == "r0") {
      EXPECT_EQ(v.params, (QuantParams{DType::int8, 2.0F / 127, 0}));
    }
  }
  EXPECT_EQ(q.graph.constant(*q.graph.find_value("w1_scale"))->shape().rank(), 0);
  EXPECT_EQ(q.graph.constant(*q.graph.find_value("w0_scale"))->shape().rank(), 1);
}

}  // namespace
}  // namespace assay::quantize_test
