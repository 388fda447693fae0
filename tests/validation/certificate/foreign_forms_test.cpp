// Graphs of other tools: their own operators, what the algebra cannot follow, what depends on
// shapes.
#include "tests/validation/certificate/fold_pair.h"

namespace assay::foreign_forms_test {
namespace {

using namespace testing;

Tensor ramp(Shape shape, float step, float first) {
  Tensor t(DType::float32, std::move(shape));
  float next = first;
  for (float& v : t.mutable_data<float>()) {
    v = next;
    next = next > 1 ? first : next + step;
  }
  return t;
}

CertifyResult judged(const Graph& o, const Graph& f, const Feeds& feeds) {
  return certify(o, f, nullptr, {.samples = {feeds}, .kernels = false});
}

/// Inputs of a region may depend on each other: `a` holds a float32 rounding of Relu(Conv(x)).
TEST(ForeignForms, ValuesThatAreComputedTwiceAreNoWitness) {
  const auto net = [](const std::string& lines) {
    Net n(lines);
    n.input("x", {1, 3, 1, 1}).constant("W", f32({1, 3, 1, 1}, {0.1F, 0.2F, 0.3F}));
    return n.build();
  };
  const Graph o =
      net("c = Conv(x, W)\na = Sigmoid(c)\nd = Conv(x, W)\nb = Sigmoid(d)\ny = Add(a, b)");
  const Graph f = net("c = Conv(x, W)\na = Sigmoid(c)\ny = Add(a, a)");
  for (const auto& c : judged(o, f, s10_input()).fusions)
    EXPECT_NE(c.verdict, "E5") << to_json(c).dump();
  // A real difference is still seen.
  const Graph wrong = net("c = Conv(x, W)\na = Sigmoid(c)\ny = Sub(a, a)");
  EXPECT_EQ(worst_verdict(judged(o, wrong, s10_input()).fusions), "E5");
}

/// Normalization behind `between`, folded into the Conv in front of it: right for means and for
/// moves of elements. The algebra looks through moves, not through means.
Graph behind(const std::string& between, std::int64_t channels) {
  Net n("c = Conv(x, W)\nq = " + between + "(c)\ny = BatchNormalization(q, g, b, m, v)");
  n.input("x", {1, 2, 3, 3}).constant("W", ramp({4, 2, 1, 1}, 0.13F, -0.5F));
  const auto all = [&](float x) {
    return f32({channels}, std::vector<float>(static_cast<std::size_t>(channels), x));
  };
  n.constant("g", all(1.3F)).constant("b", all(0.2F)).constant("m", all(0.1F));
  return n.constant("v", all(0.7F)).build();
}

Graph folded_before(const std::string& between, float factor) {
  const float s = 1.3F / std::sqrt(0.7F + 1e-5F) * factor;
  Tensor w = ramp({4, 2, 1, 1}, 0.13F, -0.5F).clone();
  for (float& x : w.mutable_data<float>()) x *= s;
  Net n("k = Conv(x, W, B)\ny = " + between + "(k)");
  n.input("x", {1, 2, 3, 3}).constant("W", w);
  n.constant("B", f32({4}, std::vector<float>(4, (0.0F - 0.1F) * s + 0.2F)));
  return n.build();
}

const std::string mean = "GlobalAveragePool";
const std::string depth = "DepthToSpace<blocksize=2>";

TEST(ForeignForms, AFoldBeforeAMoveOfElementsIsProved) {
  const Feeds x{{"x", ramp({1, 2, 3, 3}, 0.3F, -1)}};
  const CertifyResult r = judged(behind(depth, 1), folded_before(depth, 1), x);
  ASSERT_EQ(r.fusions.size(), 1U);
  EXPECT_EQ(r.fusions[0].verdict, "E2") << r.fusions[0].reason;
  const CertifyResult wrong = judged(behind(depth, 1), folded_before(depth, 1.01F), x);
  EXPECT_EQ(wrong.fusions.at(0).verdict, "E5");
}

TEST(ForeignForms, RoundedConstantsWithoutProofAreUndecidedAndDoNotCountAsJudged) {
  const Feeds x{{"x", ramp({1, 2, 3, 3}, 0.3F, -1)}};
  const CertifyResult r = judged(behind(mean, 4), folded_before(mean, 1), x);
  ASSERT_EQ(r.fusions.size(), 1U);
  EXPECT_EQ(r.fusions[0].verdict, "U") << r.fusions[0].reason;
  EXPECT_EQ(r.coverage["share_judged"], 0.0);
  EXPECT_EQ(r.coverage["nodes_undecided"], 2);
}

TEST(ForeignForms, WrongConstantsWithoutProofAreShownByAWitness) {
  const Feeds x{{"x", ramp({1, 2, 3, 3}, 0.3F, -1)}};
  const CertifyResult r = judged(behind(mean, 4), folded_before(mean, 1.01F), x);
  ASSERT_EQ(r.fusions.size(), 1U);
  EXPECT_EQ(r.fusions[0].verdict, "E5");
  EXPECT_EQ(r.fusions[0].witness["tensor"], "y");
}

TEST(ForeignForms, LayerNormalizationForItsPartsIsRealEquivalent) {
  const auto finish = [](Net n) {
    n.input("x", {2, 6}).constant("s", ramp({6}, 0.1F, 0.5F)).constant("t", ramp({6}, 0.1F, -0.2F));
    return n;
  };
  Net parts(
      "a = ReduceMean<axes=[-1], keepdims=1>(x)\nd = Sub(x, a)\nq = Pow(d, two)\nv = "
      "ReduceMean<axes=[1], keepdims=1>(q)\ne = Add(v, eps)\nr = Sqrt(e)\nn = Div(d, r)\nm = "
      "Mul(n, "
      "s)\ny = Add(m, t)",
      17);
  parts.constant("two", Tensor::scalar(2.0F)).constant("eps", Tensor::scalar(1e-5F));
  const auto fused = [&](const std::string& epsilon) {
    return finish(Net("y = LayerNormalization<epsilon=" + epsilon + ">(x, s, t)", 17)).build();
  };
  const Feeds x{{"x", ramp({2, 6}, 0.37F, -1)}};
  const Graph o = finish(parts).build();
  EXPECT_EQ(worst_verdict(judged(o, fused("1e-5"), x).fusions), "E1");
  EXPECT_EQ(worst_verdict(judged(o, fused("1e-3"), x).fusions), "E5");
}

/// A Reshape whose target one side computes from shapes and the other holds as a constant.
TEST(ForeignForms, WhatDependsOnShapesIsTakenAsItCameOut) {
  const auto finish = [](Net n, const Tensor& target) {
    n.input("x", {2, 3, 2}).constant("zero", i64({0})).constant("one", i64({1}));
    n.constant("minus", i64({-1})).constant("target", target);
    return n.build();
  };
  const Graph o = finish(
      Net("h = Relu(x)\ns = Shape(h)\nf = Slice(s, zero, one)\nr = Concat<axis=0>(f, minus)\ny = "
          "Reshape(h, r)"),
      i64({0}));
  const auto f = [&](std::vector<std::int64_t> target) {
    return finish(Net("h = Relu(x)\ny = Reshape(h, target)"), i64(std::move(target)));
  };
  const Feeds x{{"x", ramp({2, 3, 2}, 0.3F, -1)}};
  const std::string right = worst_verdict(judged(o, f({2, 6}), x).fusions);
  EXPECT_TRUE(right == "E0" || right == "E1") << right;
}

Node call(const std::string& domain, const std::string& op, std::vector<ValueId> in, ValueId out,
          Attributes a = {}) {
  return {.name = op + "_" + std::to_string(out.index),
          .op_type = op,
          .domain = domain,
          .inputs = std::move(in),
          .outputs = {out},
          .attributes = std::move(a)};
}

TEST(ForeignForms, FusedMatMulIsTransposeAndMatMul) {
  Net net("t = Transpose<perm=[0,2,1]>(x)\ny = MatMul(t, W)");
  net.input("x", {1, 3, 2}).constant("W", ramp({3, 2}, 0.2F, -0.5F));
  const auto fused = [](float alpha) {
    Graph f;
    f.info.opsets = {{"", 13}, {"com.microsoft", 1}};
    const ValueId x = f.add_input("x", type_of(DType::float32, {1, 3, 2}));
    const ValueId y = f.add_value("y");
    Attributes a;
    a.set("transA", std::int64_t{1});
    a.set("alpha", alpha);
    f.add_node(call("com.microsoft", "FusedMatMul",
                    {x, f.add_initializer("W", ramp({3, 2}, 0.2F, -0.5F))}, y, a));
    f.add_output(y);
    return f;
  };
  const Feeds feeds{{"x", ramp({1, 3, 2}, 0.3F, -1)}};
  const Graph o = net.build();
  // Written out it is the original, node by node.
  const CertifyResult same = judged(o, fused(1), feeds);
  EXPECT_TRUE(same.fusions.empty());
  EXPECT_EQ(same.coverage["nodes_unchanged"], 2) << same.coverage.dump();
  EXPECT_EQ(worst_verdict(judged(o, fused(0.5F), feeds).fusions), "E5");
}

/// Blocked values between Reshapes to [N, C/b, H, W, b] and back, as ONNX Runtime writes them
/// around elementwise operators. Eight channels are one block: the filter is stored
/// [input][output].
TEST(ForeignForms, BlockedElementwiseIsWrittenOut) {
  const Tensor w = ramp({8, 8, 1, 1}, 0.07F, -0.6F);
  Tensor blocked(DType::float32, Shape{8, 8, 1, 1});
  for (std::size_t o = 0; o < 8; ++o) {
    for (std::size_t i = 0; i < 8; ++i)
      blocked.mutable_data<float>()[i * 8 + o] = w.data<float>()[o * 8 + i];
  }
  Net net("c = Conv(x, W)\na = Sigmoid(c)\ny = Add(c, a)");
  net.input("x", {1, 8, 2, 2}).constant("W", w);

  Graph f;
  f.info.opsets = {{"", 13}, {"com.microsoft.nchwc", 1}};
  const ValueId x = f.add_input("x", type_of(DType::float32, {1, 8, 2, 2}));
  const auto value = [&](const std::string& name) { return f.add_value(name); };
  const ValueId in = value("in"), c = value("cb"), s = value("sb"), c5 = value("c5"),
                s5 = value("s5"), sum5 = value("sum5"), sum = value("sum"), y = value("y");
  const std::string nchwc = "com.microsoft.nchwc";
  Attributes eight;  // the block that the file was made for
  eight.set("block_size", std::int64_t{8});
  f.add_node(call(nchwc, "ReorderInput", {x}, in, eight));
  f.add_node(call(nchwc, "Conv", {in, f.add_initializer("WB", blocked)}, c, eight));
  f.add_node(call("", "Sigmoid", {c}, s));
  const ValueId five = f.add_initializer("five", i64({0, 1, 0, 0, 8}));
  f.add_node(call("", "Reshape", {c, five}, c5));
  f.add_node(call("", "Reshape", {s, five}, s5));
  f.add_node(call("", "Add", {c5, s5}, sum5));
  f.add_node(call("", "Reshape", {sum5, f.add_initializer("four", i64({0, 8, 0, 0}))}, sum));
  eight.set("channels", std::int64_t{8});
  f.add_node(call(nchwc, "ReorderOutput", {sum}, y, eight));
  f.add_output(y);
  const Feeds feeds{{"x", ramp({1, 8, 2, 2}, 0.3F, -1)}};
  const CertifyResult r = judged(net.build(), f, feeds);
  EXPECT_EQ(r.coverage["share_judged"], 1.0) << r.coverage.dump();
  EXPECT_EQ(worst_verdict(r.fusions), "E0");
}

}  // namespace
}  // namespace assay::foreign_forms_test
