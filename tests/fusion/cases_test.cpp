// Public bug reports about folding, cut down to the smallest graphs (S-01 to S-12, S-21): every set
// keeps the right values, and folds only where it may. The betraying value is what the fault gives.
#include <algorithm>
#include <limits>

#include "tests/fusion/net.h"
#include "validation/certificate/certify.h"

namespace assay {
namespace {

using namespace testing;

using Values = std::map<std::string, std::vector<float>>;

/// Unfused, and under every set, the outputs are `right`.
void expect_right(const Graph& g, const Feeds& feeds, const Values& right) {
  std::vector<Graph> graphs = {g};
  for (const FusionMode& m : fusion_modes()) graphs.push_back(fuse(g, {.mode = m.name}).graph);
  for (const Graph& one : graphs) {
    const auto got = run_cr(one, feeds);
    for (const auto& [name, values] : right) {
      ASSERT_TRUE(got.count(name)) << name << ": " << ops_of(one);
      EXPECT_EQ(floats(got.at(name)), values) << name << ": " << ops_of(one);
    }
  }
}

std::string fused_ops(const Graph& g, const std::string& mode = "bn") {
  return ops_of(fuse(g, {.mode = mode}).graph);
}

const std::string bn = " = BatchNormalization<epsilon=0.0>(c, g, b, m, v)";

Net& parameters(Net& net, std::vector<float> gamma, std::vector<float> beta = {},
                std::vector<float> mean = {}, std::vector<float> var = {}) {
  const auto n = static_cast<std::int64_t>(gamma.size());
  beta.resize(gamma.size(), 0);
  mean.resize(gamma.size(), 0);
  if (var.empty()) var.assign(gamma.size(), 1);
  net.constant("g", f32({n}, std::move(gamma))).constant("b", f32({n}, std::move(beta)));
  return net.constant("m", f32({n}, std::move(mean))).constant("v", f32({n}, std::move(var)));
}

// ---- S-01: the value folded away is still needed (betrayed by r = [7, 0])

Net s01(const std::string& more) {
  Net net("c = Conv(x, W)\ny" + bn + "\n" + more);
  net.input("x", {1, 1, 1, 2}).constant("W", f32({1, 1, 1, 1}, {2}));
  parameters(net, {3}, {1});
  return net;
}
const Feeds s01_x = {{"x", f32({1, 1, 1, 2}, {1, -2})}};

TEST(Cases, S01_SecondReader) {
  const Graph g = s01("r = Relu(c)").outputs({"y", "r"}).build();
  expect_right(g, s01_x, {{"y", {7, -11}}, {"r", {2, 0}}});
  EXPECT_EQ(fused_ops(g), "Conv, BatchNormalization, Relu");
}

TEST(Cases, S01_InnerGraphOutput) {
  expect_right(s01("r = Relu(c)").outputs({"y", "r", "c"}).build(), s01_x,
               {{"y", {7, -11}}, {"r", {2, 0}}, {"c", {2, -4}}});
  const Graph alone = s01("").outputs({"y", "c"}).build();
  expect_right(alone, s01_x, {{"y", {7, -11}}, {"c", {2, -4}}});
  EXPECT_EQ(fused_ops(alone), "Conv, BatchNormalization");
}

TEST(Cases, S01_ReaderInsideABranch) {
  Graph g = s01("").build();
  const auto body = [](const char* op) {
    Graph branch;
    const ValueId in = branch.add_capture("c");
    const ValueId out = branch.add_value(std::string(op) + "_inside");
    branch.add_node({.name = op, .op_type = op, .inputs = {in}, .outputs = {out}});
    branch.add_output(out);
    return std::make_shared<const Graph>(std::move(branch));
  };
  Node node{.name = "if", .op_type = "If"};
  node.inputs = {g.add_input("cond", {DType::boolean, std::vector<Dim>{}})};
  node.attributes.set("then_branch", GraphPtr(body("Relu")));
  node.attributes.set("else_branch", GraphPtr(body("Neg")));
  node.captures = {*g.find_value("c")};
  node.outputs = {g.add_value("r")};
  g.add_output(node.outputs[0]);
  g.add_node(std::move(node));
  Feeds feeds = s01_x;
  feeds["cond"] = Tensor::scalar<bool>(true);
  expect_right(g, feeds, {{"y", {7, -11}}, {"r", {2, 0}}});
}

// ---- S-02: ConvTranspose scales axis 1 (betrayed by [620, 920])

TEST(Cases, S02_ConvTransposeAxis) {
  for (const std::int64_t in : {2, 3}) {
    Net net("c = ConvTranspose(x, W, B)\ny" + bn);
    std::vector<float> w, x;
    for (std::int64_t i = 0; i < 2 * in; ++i) w.push_back(static_cast<float>(i + 1));
    for (std::int64_t i = 0; i < in; ++i) x.push_back(static_cast<float>(i + 1));
    net.input("x", {1, in, 1, 1}).constant("W", f32({in, 2, 1, 1}, w));
    parameters(net.constant("B", f32({2}, {1, 1})), {10, 100});
    const Graph g = net.build();
    expect_right(g, {{"x", f32({1, in, 1, 1}, x)}},
                 {{"y", in == 2 ? std::vector<float>{80, 1100} : std::vector<float>{230, 2900}}});
    EXPECT_EQ(fused_ops(g), "ConvTranspose");
  }
}

// ---- S-03: the bias in front (betrayed by [6, -1] and [2, 6])

TEST(Cases, S03_BiasInFront) {
  for (const std::string bias : {", B", "", ", _"}) {
    Net net("c = Conv<group=2>(x, W" + bias + ")\ny" + bn);
    net.input("x", {1, 2, 1, 1}).constant("W", f32({2, 1, 1, 1}, {1, 1}));
    parameters(net.constant("B", f32({2}, {5, -5})), {2, 3}, {1, 1}, {1, 1});
    const Graph g = net.build();
    expect_right(g, {{"x", f32({1, 2, 1, 1}, {1, 2})}},
                 {{"y", bias == ", B" ? std::vector<float>{11, -11} : std::vector<float>{1, 4}}});
    EXPECT_EQ(fused_ops(g), "Conv");
  }
  Net gemm("c = Gemm(x, W, B)\ny" + bn);
  gemm.input("x", {1, 2}).constant("W", f32({2, 2}, {1, 0, 0, 1}));
  parameters(gemm.constant("B", f32({2}, {5, -5})), {2, 3}, {1, 1}, {1, 1});
  expect_right(gemm.build(), {{"x", f32({1, 2}, {1, 2})}}, {{"y", {11, -11}}});
}

// ---- S-04: gamma 0 or negative, epsilon, variance 0 (betrayed by +5, and by 9.5346259)

TEST(Cases, S04_UnusualParameters) {
  Net net("c = Conv(x, W)\ny = BatchNormalization<epsilon=1e-5>(c, g, b, m, v)");
  net.input("x", {1, 3, 1, 1}).constant("W", f32({3, 3, 1, 1}, {1, 0, 0, 0, 1, 0, 0, 0, 1}));
  parameters(net, {0, -2, 1}, {0.5F, 1, 0}, {1, 1, 0}, {4, 1, 0});
  const Graph g = net.build();
  const Feeds x = {{"x", f32({1, 3, 1, 1}, {3, 3, 0.001F})}};
  const float right[] = {0.5F, -2.99998F, 0.3162278F};
  for (const Graph& one : {g, fuse(g, {.mode = "bn"}).graph}) {
    const auto y = floats(run_cr(one, x).at("y"));
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(y[i], right[i], 1e-6 * std::fabs(right[i]));
  }
  EXPECT_EQ(fused_ops(g), "Conv");
}

TEST(Cases, S04_EpsilonIsTheGraphs) {
  Net net("c = Conv(x, W)\ny = BatchNormalization<epsilon=1e-3>(c, g, b, m, v)");
  net.input("x", {1, 1, 1, 1}).constant("W", f32({1, 1, 1, 1}, {1}));
  parameters(net, {1}, {}, {}, {1e-4F});
  const Graph g = fuse(net.build(), {.mode = "bn"}).graph;
  EXPECT_EQ(ops_of(g), "Conv");
  EXPECT_NEAR(floats(run_cr(g, {{"x", f32({1, 1, 1, 1}, {0.1F})}}).at("y"))[0], 3.0151134F, 3e-6F);
}

TEST(Cases, S04_VarianceThatCannotBeFolded) {
  for (const float var : {0.0F, -1.0F}) {
    Net net("c = Conv(x, W)\ny" + bn);
    net.input("x", {1, 2, 1, 1}).constant("W", f32({2, 2, 1, 1}, {1, 0, 0, 1}));
    parameters(net, {1, 1}, {}, {}, {1, var});
    const FusionResult r = fuse(net.build(), {.mode = "bn"});
    EXPECT_EQ(ops_of(r.graph), "Conv, BatchNormalization");
    EXPECT_NE(reason(r.log, "fold_bn_conv").find("'n_y' (BatchNormalization): channel 1"),
              std::string::npos);
  }
}

// ---- S-05: an addend that is not one value per channel

TEST(Cases, S05_AddendPerChannelOnly) {
  struct Form {
    Tensor k;
    std::vector<float> right;
    bool bias;
  };
  const Form forms[] = {{f32({1, 2, 1, 2}, {10, 20, 30, 40}), {11, 22, 33, 44}, false},
                        {f32({2, 1, 1}, {10, 20}), {11, 12, 23, 24}, true},
                        {f32({2}, {10, 20}), {11, 22, 13, 24}, false},
                        {f32({1}, {10}), {11, 12, 13, 14}, true},
                        {f32({1, 2, 1, 1}, {10, 20}), {11, 12, 23, 24}, true}};
  for (const Form& form : forms) {
    Net net("c = Conv<group=2>(x, W)\ny = Add(c, k)");
    net.input("x", {1, 2, 1, 2}).constant("W", f32({2, 1, 1, 1}, {1, 1})).constant("k", form.k);
    const Graph g = net.build();
    expect_right(g, {{"x", f32({1, 2, 1, 2}, {1, 2, 3, 4})}}, {{"y", form.right}});
    EXPECT_EQ(fused_ops(g, "fold_linear_add"), form.bias ? "Conv" : "Conv, Add");
  }
}

TEST(Cases, S05_BroadcastAttributesOfOpset6) {
  // axis = 1 puts [2] on the channels of an image and axis = 0 on the rows of a matrix.
  Net image("c = Conv(x, W)\ny = Add<broadcast=1, axis=1>(c, k)", 6);
  image.input("x", {1, 2, 1, 2}).constant("W", f32({2, 2, 1, 1}, {1, 0, 0, 1}));
  const Graph channels = image.constant("k", f32({2}, {10, 20})).build();
  expect_right(channels, {{"x", f32({1, 2, 1, 2}, {1, 2, 3, 4})}}, {{"y", {11, 12, 23, 24}}});
  EXPECT_EQ(fused_ops(channels, "fold_linear_add"), "Conv");
  Net matrix("c = MatMul(x, W)\ny = Add<broadcast=1, axis=0>(c, k)", 6);
  matrix.input("x", {2, 2}).constant("W", f32({2, 2}, {1, 0, 0, 1}));
  const Graph rows = matrix.constant("k", f32({2}, {10, 20})).build();
  expect_right(rows, {{"x", f32({2, 2}, {1, 2, 3, 4})}}, {{"y", {11, 12, 23, 24}}});
  EXPECT_EQ(fused_ops(rows, "fold_linear_add"), "MatMul, Add");
}

// ---- S-06: Clip with one bound missing (betrayed by the smallest positive float)

TEST(Cases, S06_ClipBounds) {
  const Feeds x = {{"x", f32({4}, {-3, -1, 0.5F, 7})}};
  const auto net = [](const std::string& lines, std::int64_t opset = 13) {
    Net n(lines, opset);
    return n.input("x", {4}).constant("lo", f32({}, {0})).constant("hi", f32({}, {6})).build();
  };
  expect_right(net("y = Clip(x, _, hi)"), x, {{"y", {-3, -1, 0.5F, 6}}});
  expect_right(net("y = Clip(x, lo)"), x, {{"y", {0, 0, 0.5F, 7}}});
  expect_right(net("r = Relu(x)\ny = Clip(r, _, hi)"), x, {{"y", {0, 0, 0.5F, 6}}});
  expect_right(net("y = Clip<max=6.0>(x)", 6), x, {{"y", {-3, -1, 0.5F, 6}}});
  Net empty("y = Clip(x, lower, hi)");
  empty.input("x", {4}).constant("lower", f32({0}, {})).constant("hi", f32({}, {6}));
  EXPECT_THROW(run_cr(empty.build(), x), Error);
  Net wide("y = Clip(x, _, hi)");
  wide.input("x", {4}, DType::float64).constant("hi", f64({}, {6}));
  const Tensor y = run_cr(wide.build(), {{"x", f64({4}, {-3, -1, 0.5, 7})}}).at("y");
  EXPECT_EQ(to_doubles(y), (std::vector<double>{-3, -1, 0.5, 6}));
}

TEST(Cases, S06_ClipBoundsInsideAFusedOperator) {
  for (const std::string clip : {"Clip(c, _, hi)", "Clip(c, lo)"}) {
    Net net("c = Conv(x, W)\ny = " + clip);
    net.input("x", {1, 1, 1, 4}).constant("W", f32({1, 1, 1, 1}, {1}));
    net.constant("lo", f32({}, {0})).constant("hi", f32({}, {6}));
    const Graph g = net.build();
    expect_right(g, {{"x", f32({1, 1, 1, 4}, {-3, -1, 0.5F, 7})}},
                 {{"y", clip == "Clip(c, lo)" ? std::vector<float>{0, 0, 0.5F, 7}
                                              : std::vector<float>{-3, -1, 0.5F, 6}}});
    EXPECT_EQ(fused_ops(g, "all"), "ai.assay.ConvClip");
  }
}

// ---- S-07: padding absorbed by the next node

TEST(Cases, S07_PadsThatMayNotMove) {
  const std::vector<std::int64_t> around = {0, 0, 1, 1, 0, 0, 1, 1};
  for (const auto& [pool, right] :
       {std::pair<std::string, float>{"MaxPool", 0.0F}, {"AveragePool", -0.25F}}) {
    Net net("p = Pad(x, pads)\ny = " + pool + "<kernel_shape=[2,2], strides=[2,2]>(p)");
    net.input("x", {1, 1, 2, 2}).constant("pads", i64(around));
    expect_right(net.build(), {{"x", f32({1, 1, 2, 2}, {-1, -1, -1, -1})}},
                 {{"y", std::vector<float>(4, right)}});
  }
  Net crop("p = Pad(x, pads, zero)\ny = Conv(p, W)");
  crop.input("x", {1, 1, 1, 4}).constant("W", f32({1, 1, 1, 2}, {1, 1}));
  crop.constant("pads", i64({0, 0, 0, -1, 0, 0, 0, 0})).constant("zero", f32({}, {0}));
  expect_right(crop.build(), {{"x", f32({1, 1, 1, 4}, {1, 2, 3, 4})}}, {{"y", {5, 7}}});
  Net ones("p = Pad(x, pads, one)\ny = Conv(p, W)");
  ones.input("x", {1, 1, 1, 1}).constant("W", f32({1, 1, 1, 3}, {1, 1, 1}));
  ones.constant("pads", i64({0, 0, 0, 1, 0, 0, 0, 1})).constant("one", f32({}, {1}));
  expect_right(ones.build(), {{"x", f32({1, 1, 1, 1}, {2})}}, {{"y", {4}}});
}

TEST(Cases, S07_DivisorOfOneSidedPads) {
  Net net("y = AveragePool<kernel_shape=[2,2], pads=[0,0,1,1], count_include_pad=1>(x)");
  net.input("x", {1, 1, 2, 2});
  expect_right(net.build(), {{"x", f32({1, 1, 2, 2}, {1, 1, 1, 1})}},
               {{"y", {1, 0.5F, 0.5F, 0.25F}}});
}

// ---- S-08: a weight that the caller may override (betrayed by 60 when 5 was fed)

TEST(Cases, S08_OverridableWeight) {
  Net net("c = Conv(x, W)\ny" + bn);
  net.input("x", {1, 1, 1, 1}).overridable("W", f32({1, 1, 1, 1}, {2}));
  parameters(net, {10});
  const Graph g = net.build();
  Feeds feeds = {{"x", f32({1, 1, 1, 1}, {3})}};
  expect_right(g, feeds, {{"y", {60}}});
  feeds["W"] = f32({1, 1, 1, 1}, {5});
  expect_right(g, feeds, {{"y", {150}}});
  const FusionResult r = fuse(g, {.mode = "bn"});
  EXPECT_TRUE(r.log.fired.empty());  // and says so, instead of a comparison of a graph with itself
  EXPECT_EQ(r.log.declined.size(), 1U);
}

// ---- S-09: training mode, or extra outputs (betrayed by [1, 3, 5, 7])

TEST(Cases, S09_TrainingMode) {
  const Feeds x = {{"x", f32({2, 1, 1, 2}, {1, 3, 5, 7})}};
  const std::pair<std::string, std::int64_t> forms[] = {
      {"y, rm, rv = BatchNormalization<epsilon=0.0, momentum=0.9, training_mode=1>(c, g, b, m, v)",
       15},
      {"y, rm, rv, sm, sv = BatchNormalization<epsilon=0.0, momentum=0.9>(c, g, b, m, v)", 9}};
  for (const auto& [line, opset] : forms) {
    Net net("c = Conv(x, W)\n" + line, opset);
    net.input("x", {2, 1, 1, 2}).constant("W", f32({1, 1, 1, 1}, {1}));
    const Graph g = parameters(net, {1}).outputs({"y"}).build();
    for (const FusionMode& m : fusion_modes()) {
      const FusionResult r = fuse(g, {.mode = m.name});
      EXPECT_EQ(ops_of(r.graph), "Conv, BatchNormalization") << m.name;
    }
    const auto y = floats(run_cr(g, x).at("y"));
    const float right[] = {-1.3416408F, -0.4472136F, 0.4472136F, 1.3416408F};
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(y[i], right[i], 1e-6F);
  }
}

// ---- S-10: a correct fold is equal within rounding, with its bound; a wrong epsilon is not

TEST(Cases, S10_CorrectFoldIsNoMismatch) {
  Net net("c = Conv(x, W)\ny = BatchNormalization<epsilon=1e-5>(c, g, b, m, v)");
  net.input("x", {1, 3, 1, 1}).constant("W", f32({1, 3, 1, 1}, {0.1F, 0.2F, 0.3F}));
  parameters(net, {1.7F}, {0.3F}, {0.2F}, {0.6F});
  const Graph g = net.build();
  const Feeds x = {{"x", f32({1, 3, 1, 1}, {0.7F, 1.1F, 1.3F})}};
  const FusionResult r = fuse(g, {.mode = "bn"});
  EXPECT_NEAR(floats(run_cr(r.graph, x).at("y"))[0], 1.3534427255F, 8.8e-7F);
  const auto list = certify(g, r.graph, &r.log, {.samples = {x}, .kernels = false}).fusions;
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].verdict, "E2");
  Graph wrong = r.graph;
  const ValueId bias = *wrong.find_value(r.log.fired[0].constants.back());
  wrong.set_initializer(bias, f32({1}, {-0.13891F}));
  const auto bad = certify(g, wrong, &r.log, {.samples = {x}, .kernels = false}).fusions;
  EXPECT_EQ(bad.at(0).verdict, "E5");
}

// ---- S-11: Mul and Add for a normalization, parts left out

TEST(Cases, S11_WrittenOutNormalization) {
  struct Form {
    const char* lines;
    float right;
  };
  const Form forms[] = {{"c = Conv(x, W)\nd = Sub(c, k3)\ny = Mul(d, k05)", 1},
                        {"c = Conv(x, W)\nd = Sub(c, k3)\ne = Mul(d, k05)\ny = Add(e, k05)", 1.5F},
                        {"c = Conv(x, W)\nd = Mul(c, k05)\ny = Add(d, km1)", 1.5F},
                        {"c = Conv(x, W, B)\nd = Mul(c, k2)\ny = Add(d, k3)", 15},
                        {"c = Conv(x, W, B)\nd = Mul(k2, c)\ny = Add(k3, d)", 15},
                        {"c = Conv(x, W)\nd = Mul(c, k2)\ny = Add(d, k3)", 13},
                        {"c = Conv(x, W)\nd = Add(c, k3)\ny = Mul(d, k2)", 16}};
  for (const Form& form : forms) {
    Net net(form.lines);
    net.input("x", {1, 1, 1, 1}).constant("W", f32({1, 1, 1, 1}, {1})).constant("B", f32({1}, {1}));
    const std::pair<const char*, float> constants[] = {
        {"k3", 3}, {"k2", 2}, {"k05", 0.5F}, {"km1", -1}};
    for (const auto& [name, v] : constants) net.constant(name, f32({1, 1, 1, 1}, {v}));
    const Graph g = net.build();
    expect_right(g, {{"x", f32({1, 1, 1, 1}, {5})}}, {{"y", {form.right}}});
    EXPECT_EQ(fused_ops(g, "all"), "Conv") << form.lines;
  }
}

// ---- S-12: groups as one node and in pieces (betrayed by [1, 4, 30, 80])

TEST(Cases, S12_GroupsAsOneNode) {
  Net net("c = Conv<group=2>(x, W)\ny" + bn);
  net.input("x", {1, 2, 1, 1}).constant("W", f32({4, 1, 1, 1}, {1, 2, 3, 4}));
  const Graph g = parameters(net, {1, 2, 3, 4}).build();
  expect_right(g, {{"x", f32({1, 2, 1, 1}, {1, 10})}}, {{"y", {1, 4, 90, 160}}});
  EXPECT_EQ(fused_ops(g), "Conv");
}

TEST(Cases, S12_GroupsInPieces) {
  for (const std::string order : {"p, q", "q, p"}) {
    Net net("s, t = Split<axis=1>(x, sizes)\np = Conv(s, V)\nq = Conv(t, W)\nc = Concat<axis=1>(" +
            order + ")\ny" + bn);
    net.input("x", {1, 2, 1, 1}).constant("sizes", i64({1, 1}));
    net.constant("V", f32({2, 1, 1, 1}, {1, 2})).constant("W", f32({2, 1, 1, 1}, {3, 4}));
    const Graph g = parameters(net, {1, 2, 3, 4}).build();
    expect_right(g, {{"x", f32({1, 2, 1, 1}, {1, 10})}},
                 {{"y", order == "p, q" ? std::vector<float>{1, 4, 90, 160}
                                        : std::vector<float>{30, 80, 3, 8}}});
    EXPECT_EQ(fused_ops(g, "fold_bn_branches"), "Split, Conv, Conv, Concat");
  }
  Net unequal(
      "s, t = Split<axis=1>(x, sizes)\np = Conv(s, V)\nq = Conv(t, W)\nc = Concat<axis=1>(p, "
      "q)\ny" +
      bn);
  unequal.input("x", {1, 3, 1, 1}).constant("sizes", i64({1, 2}));
  unequal.constant("V", f32({2, 1, 1, 1}, {1, 2})).constant("W", f32({1, 2, 1, 1}, {3, 4}));
  expect_right(parameters(unequal, {1, 2, 3}).build(), {{"x", f32({1, 3, 1, 1}, {1, 10, 100})}},
               {{"y", {1, 4, 1290}}});
}

// ---- S-21: the ReLU in front of a quantizer (betrayed by [-64, 127] and [10, 40])

template <class T>
void expect_codes(const std::string& act, float scale, T zero, std::vector<int> right,
                  const std::string& ops) {
  Net net("r = " + act + "\nq = QuantizeLinear(r, s, z)");
  net.input("x", {2}).constant("s", f32({}, {scale})).constant("z", Tensor::scalar<T>(zero));
  const Graph g =
      net.constant("zero", f32({}, {0})).constant("six", f32({}, {6})).outputs({"q"}).build();
  for (const FusionMode& m : fusion_modes()) {
    const Graph fused = fuse(g, {.mode = m.name}).graph;
    const Tensor q = run_cr(fused, {{"x", f32({2}, {-1, 2})}}).at("q");
    const auto codes = q.data<T>();
    EXPECT_EQ(std::vector<int>(codes.begin(), codes.end()), right) << m.name;
  }
  EXPECT_EQ(fused_ops(g, "drop_activation_before_quantizer"), ops);
}

TEST(Cases, S21_ReluInFrontOfAQuantizer) {
  using I8 = std::int8_t;
  using U8 = std::uint8_t;
  expect_codes<I8>("Relu(x)", 2.0F / 127, 0, {0, 127}, "Relu, QuantizeLinear");
  expect_codes<U8>("Relu(x)", 0.1F, 20, {20, 40}, "Relu, QuantizeLinear");
  expect_codes<U8>("Relu(x)", 2.0F / 255, 0, {0, 255}, "QuantizeLinear");
  expect_codes<I8>("Clip(x, zero, six)", 2.0F / 127, 0, {0, 127}, "Relu, QuantizeLinear");
}

}  // namespace
}  // namespace assay
