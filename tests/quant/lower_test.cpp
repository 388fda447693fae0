#include "quant/lower.h"

#include <gtest/gtest.h>

#include <random>

#include "quant/quantize.h"
#include "runtime/integer_stats.h"
#include "tests/support/quant_graphs.h"

namespace assay::lower_test {
namespace {

using test::codes;
using test::f32;
using test::GraphMaker;
using test::i32;
using test::i8;
using test::u8;
using Ints = std::vector<std::int64_t>;

std::map<std::string, std::string> ops_by_node(const Graph& g) {
  std::map<std::string, std::string> ops;
  for (const NodeId n : g.node_ids()) ops[g.node(n).name] = g.node(n).op_type;
  return ops;
}

/// Codes of `name` in the QDQ graph, run node by node correctly rounded, and in the lowered graph.
std::pair<Ints, Ints> both(const Graph& qdq, const Feeds& feeds, const std::string& name,
                           const std::string& profile = "onnx-qdq") {
  const auto low = lower(qdq, {profile});
  const auto a = Executor(qdq, Precision::cr).run(feeds, nullptr, {name});
  const auto b = Executor(low.graph, Precision::cr).run(feeds, nullptr, {name});
  return {codes(a.at(name)), codes(b.at(name))};
}

GraphMaker& dq(GraphMaker& m, const std::string& codes, const std::string& out, float scale,
               Tensor zero, Attributes a = {}) {
  m.constant(out + "_s", f32({}, {scale})).constant(out + "_z", std::move(zero));
  return m.node("DequantizeLinear", {codes, out + "_s", out + "_z"}, {out}, std::move(a));
}

GraphMaker& quant(GraphMaker& m, const std::string& value, const std::string& out, float scale,
                  Tensor zero) {
  m.constant(out + "_s", f32({}, {scale})).constant(out + "_z", std::move(zero));
  return m.node("QuantizeLinear", {value, out + "_s", out + "_z"}, {out});
}

TEST(Lower, S18_BiasMeansWhatItsNodesSay) {
  GraphMaker m;
  m.input("x", DType::uint8, {1, 1, 1, 1})
      .constant("wq", i8({1, 1, 1, 1}, {5}))
      .constant("bq", i32({1}, {100}));
  dq(m, "x", "xf", 0.1F, u8({}, {0}));
  dq(m, "wq", "wf", 0.2F, i8({}, {0}));
  m.constant("bs", f32({}, {0.5F})).node("DequantizeLinear", {"bq", "bs"}, {"bf"});
  m.node("Conv", {"xf", "wf", "bf"}, {"c"});
  quant(m, "c", "y", 0.25F, u8({}, {0})).output("y");
  const auto low = lower(m.graph);
  EXPECT_EQ(ops_by_node(low.graph).at("c_node"), "QConv");
  const auto [a, b] = both(m.graph, {{"x", u8({1, 1, 1, 1}, {10})}}, "y");
  EXPECT_EQ(a, Ints{204});
  EXPECT_EQ(b, Ints{204});
  EXPECT_EQ(both(m.graph, {{"x", u8({1, 1, 1, 1}, {10})}}, "y", "onednn-v3").second, Ints{204});
}

/// Conv (weight 1), activation, quantizer: the graphs of S-21.
GraphMaker clipped(const std::string& activation, float scale, const Tensor& zero) {
  GraphMaker m;
  m.input("x", DType::float32, {1, 1, 1, 2}).constant("wq", i8({1, 1, 1, 1}, {127}));
  const float in = 1.0F / 16;
  quant(m, "x", "xq", in, u8({}, {128}));
  dq(m, "xq", "xf", in, u8({}, {128}));
  dq(m, "wq", "wf", 1.0F / 127, i8({}, {0}));
  m.node("Conv", {"xf", "wf"}, {"c"});
  if (activation == "Clip")
    m.constant("lo", f32({}, {0}))
        .constant("hi", f32({}, {6}))
        .node("Clip", {"c", "lo", "hi"}, {"r"});
  else
    m.node(activation, {"c"}, {"r"});
  quant(m, "r", "y", scale, zero).output("y");
  return m;
}

TEST(Lower, S21_ActivationStaysWhereTheClampDiffers) {
  const auto check = [](const std::string& op, float scale, Tensor zero, std::vector<float> x,
                        const Ints& right) {
    const GraphMaker m = clipped(op, scale, zero);
    EXPECT_EQ(lower(m.graph).graph.node_count(), 2);  // QuantizeLinear, QConv
    for (const std::string profile : {"onnx-qdq", "onednn-v3"}) {
      const auto [a, b] = both(m.graph, {{"x", f32({1, 1, 1, 2}, x)}}, "y", profile);
      EXPECT_EQ(a, right);
      EXPECT_EQ(b, right) << profile;
    }
  };
  check("Relu", 2.0F / 127, i8({}, {0}), {-1, 2}, {0, 127});
  check("Relu", 0.1F, u8({}, {20}), {-1, 2}, {20, 40});
  check("Relu", 2.0F / 255, u8({}, {0}), {-1, 2}, {0, 255});
  check("Clip", 2.0F / 127, i8({}, {0}), {-1, 2}, {0, 127});
  check("Clip", 0.1F, u8({}, {0}), {-1, 7}, {0, 60});
}

TEST(Lower, S27_ExplicitPadStaysAndImplicitPadIsZero) {
  GraphMaker m;
  m.input("x", DType::uint8, {1, 1, 1, 3}).constant("wq", i8({1, 1, 1, 3}, {1, 1, 1}));
  dq(m, "x", "xf", 1, u8({}, {128}));
  dq(m, "wq", "wf", 1, i8({}, {0}));
  m.node("Conv", {"xf", "wf"}, {"c"}, {{"pads", Ints{0, 1, 0, 1}}});
  quant(m, "c", "y", 1, u8({}, {128})).output("y");
  const auto [a, b] = both(m.graph, {{"x", u8({1, 1, 1, 3}, {129, 130, 131})}}, "y");
  EXPECT_EQ(a, (Ints{131, 134, 133}));
  EXPECT_EQ(b, a);
}

Tensor random_floats(std::mt19937& random, Shape shape, float scale) {
  Tensor t(DType::float32, std::move(shape));
  for (float& v : t.mutable_data<float>())
    v = (static_cast<float>(random() % 2001) - 1000) / 1000 * scale;
  return t;
}

/// Stem, two residual blocks (one with a projection), depthwise and clipped, pools, concatenation
/// and Gemm.
GraphMaker small_net(std::mt19937& random) {
  GraphMaker m(14);  // HardSwish
  m.input("x", DType::float32, {2, 3, 8, 8});
  const auto conv = [&](const std::string& in, const std::string& out, std::int64_t i,
                        std::int64_t o, Attributes a, std::int64_t k = 3, std::int64_t group = 1) {
    m.constant(out + "_w", random_floats(random, {o, i / group, k, k}, 0.4F))
        .constant(out + "_b", random_floats(random, {o}, 0.5F));
    a.set("group", group);
    if (k == 3) a.set("pads", Ints{1, 1, 1, 1});
    m.node("Conv", {in, out + "_w", out + "_b"}, {out}, a);
  };
  conv("x", "c0", 3, 8, {});
  m.node("Relu", {"c0"}, {"r0"});
  conv("r0", "c1", 8, 8, {});
  m.node("Relu", {"c1"}, {"r1"});
  conv("r1", "c2", 8, 8, {});
  m.node("Add", {"c2", "r0"}, {"a2"}).node("Relu", {"a2"}, {"r2"});
  conv("r2", "c3", 8, 12, {{"strides", Ints{2, 2}}});
  conv("r2", "c4", 8, 12, {{"strides", Ints{2, 2}}}, 1);
  m.node("Add", {"c3", "c4"}, {"a3"}).node("Relu", {"a3"}, {"r3"});
  conv("r3", "c5", 12, 12, {}, 3, 12);
  m.constant("lo", f32({}, {0}))
      .constant("hi", f32({}, {6}))
      .node("Clip", {"c5", "lo", "hi"}, {"r5"});
  m.node("MaxPool", {"r5"}, {"m5"}, {{"kernel_shape", Ints{2, 2}}});
  m.node("AveragePool", {"r3"}, {"p3"}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{1, 1}}});
  m.node("Concat", {"m5", "p3"}, {"cat"}, {{"axis", std::int64_t{1}}});
  conv("cat", "c6", 24, 10, {}, 1);
  m.node("HardSwish", {"c6"}, {"h6"})
      .node("GlobalAveragePool", {"h6"}, {"g"})
      .node("Flatten", {"g"}, {"f"});
  m.constant("fw", random_floats(random, {5, 10}, 0.5F))
      .constant("fb", random_floats(random, {5}, 1));
  m.node("Gemm", {"f", "fw", "fb"}, {"y"}, {{"transB", std::int64_t{1}}}).output("y");
  return m;
}

CalibrationTable calibrate(const Graph& g, const Feeds& feeds) {
  Calibrator c(CalibrationOptions{.algorithm = "min-max"});
  const Executor e(g, Precision::f32);
  c.feed(feeds, run_on(e));
  return c.finish();
}

/// Every value of codes that both graphs have must agree, code by code; so must the float result.
void expect_same_codes(const Graph& qdq, const Feeds& feeds, int least) {
  const auto low = lower(qdq);
  std::set<std::string> names;
  for (const CodeValue& v : low.codes) {
    if (low.graph.find_value(v.codes)) names.insert(v.codes);
  }
  EXPECT_GE(static_cast<int>(names.size()), least);
  const auto a = Executor(qdq, Precision::cr).run(feeds, nullptr, names);
  const auto b = Executor(low.graph, Precision::cr).run(feeds, nullptr, names);
  for (const auto& [name, t] : a) EXPECT_TRUE(same_bits(t, b.at(name))) << name;
}

TEST(Lower, EqualsTheGraphNodeByNode) {
  std::mt19937 random(11);
  for (const auto scheme : {ActivationScheme::u8, ActivationScheme::s8, ActivationScheme::mixed}) {
    for (const bool keep : {true, false}) {
      const GraphMaker m = small_net(random);
      const Feeds feeds{{"x", random_floats(random, {2, 3, 8, 8}, 2)}};
      const auto q = quantize(m.graph, calibrate(m.graph, feeds),
                              {.scheme = scheme, .keep_mid_rounding = keep});
      expect_same_codes(q.graph, feeds, 8);
    }
  }
}

TEST(Lower, EverythingInTheSmallNetIsLowered) {
  std::mt19937 random(3);
  const GraphMaker m = small_net(random);
  const Feeds feeds{{"x", random_floats(random, {2, 3, 8, 8}, 2)}};
  const auto q = quantize(m.graph, calibrate(m.graph, feeds));
  const auto low = lower(q.graph);
  for (const LoweredNode& n : low.nodes) EXPECT_TRUE(n.lowered) << n.node << ": " << n.reason;
  EXPECT_EQ(q.report.macs, q.report.macs_int8);
  const auto ops = ops_by_node(low.graph);
  EXPECT_EQ(ops.count("a2_node"), 0U);  // both residual Adds are inside convolutions
  EXPECT_EQ(ops.count("a3_node"), 0U);
  EXPECT_EQ(ops.at("c2_node"), "QConv");
  EXPECT_EQ(ops.at("y_node"), "QGemm");
  EXPECT_EQ(ops.at("m5_node"), "QMaxPool");
  EXPECT_EQ(ops.at("p3_node"), "QAveragePool");
  EXPECT_EQ(ops.at("cat_node"), "QConcat");
  EXPECT_EQ(ops.at("g_node"), "QGlobalAveragePool");
  const Node& c2 = low.graph.node(*low.graph.find_node("c2_node"));
  EXPECT_TRUE(c2.attributes.has("mid_scale"));
  EXPECT_EQ(c2.attributes.string_or("activation", ""), "Relu");
  // Without the mid rounding the attribute is gone.
  const auto dropped =
      lower(quantize(m.graph, calibrate(m.graph, feeds), {.keep_mid_rounding = false}).graph);
  EXPECT_FALSE(dropped.graph.node(*dropped.graph.find_node("c2_node")).attributes.has("mid_scale"));
}

TEST(Lower, OnednnProfileStaysWithinOneCodeOfTheGraph) {
  std::mt19937 random(5);
  const GraphMaker m = small_net(random);
  const Feeds feeds{{"x", random_floats(random, {2, 3, 8, 8}, 2)}};
  const auto q = quantize(m.graph, calibrate(m.graph, feeds));
  const auto [a, b] = both(q.graph, feeds, "r0_quantized", "onednn-v3");
  int differing = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_LE(std::abs(a[i] - b[i]), 1);
    differing += a[i] != b[i];
  }
  EXPECT_LE(differing, static_cast<int>(a.size()) / 100);  // only values beside a tie may move
}

TEST(Lower, DeclinesWithReasons) {
  GraphMaker m;
  m.input("x", DType::uint8, {1, 2}).input("z", DType::float32, {1, 2});
  m.constant("wq", u8({2, 2}, {1, 2, 3, 4}));
  dq(m, "x", "xf", 1, u8({}, {0}));
  dq(m, "wq", "wf", 1, u8({}, {3}));
  m.node("Gemm", {"xf", "wf"}, {"a"})
      .node("Gemm", {"z", "wf"}, {"b"})
      .node("Softmax", {"b"}, {"s"})
      .output("a")
      .output("s");
  const auto low = lower(m.graph);
  ASSERT_EQ(low.nodes.size(), 3U);
  EXPECT_EQ(low.nodes[0].reason, "weight zero point is 3");
  EXPECT_EQ(low.nodes[1].reason, "'z' is not dequantized codes");
  EXPECT_EQ(low.nodes[2].reason, "Softmax has no integer form");
  EXPECT_EQ(low.graph.node_count(), m.graph.node_count());
}

TEST(Lower, ForeignFormsOfWeights) {
  // uint8 weights with zero point 128 are int8 ones; weights may be quantized in the graph.
  GraphMaker m;
  m.input("x", DType::uint8, {1, 2})
      .constant("wq", u8({2, 2}, {129, 126, 131, 132}))
      .constant("w", f32({2, 2}, {0.6F, 1, -1, 0.5F}));
  dq(m, "x", "xf", 1, u8({}, {0}));
  dq(m, "wq", "wf", 1, u8({}, {128}));
  m.node("Gemm", {"xf", "wf"}, {"a"}).output("a");
  quant(m, "w", "w8", 0.5F, i8({}, {0}));
  dq(m, "w8", "w8f", 0.5F, i8({}, {0}));
  m.node("MatMul", {"xf", "w8f"}, {"b"}).output("b");
  const auto low = lower(m.graph);
  for (const LoweredNode& n : low.nodes) EXPECT_TRUE(n.lowered) << n.reason;
  const Feeds feeds{{"x", u8({1, 2}, {2, 3})}};
  const auto found = Executor(low.graph, Precision::cr).run(feeds);
  EXPECT_EQ(test::floats(found.at("a")), (std::vector<float>{2 * 1 + 3 * 3, 2 * -2 + 3 * 4}));
  EXPECT_EQ(test::floats(found.at("b")), (std::vector<float>{2 * 0.5F - 3, 2 * 1 + 3 * 0.5F}));
}

}  // namespace
}  // namespace assay::lower_test
