// Rule recognize_batch_norm: the four Keras variants and the other spellings (S-11).
#include "tests/fusion/net.h"

namespace assay::recognize_batch_norm_test {
namespace {

using namespace testing;

constexpr const char* rule = "recognize_batch_norm";

/// Conv output 5 in channel 0 and 7 in channel 1; mean 3, var 3.999 + eps 1e-3 close to 4.
Net net_of(const std::string& lines, std::int64_t opset = 13) {
  Net net("c = Conv(x, W)\n" + lines, opset);
  net.input("x", {1, 1, 1, 1})
      .constant("W", f32({2, 1, 1, 1}, {5, 7}))
      .constant("var", f32({2, 1, 1}, {3.75F, 0.75F}));
  net.constant("eps", f32({}, {0.25F}))
      .constant("gamma", f32({2, 1, 1}, {2, 3}))
      .constant("beta", f32({2, 1, 1}, {0.5F, -1}));
  net.constant("mean", f32({2, 1, 1}, {3, 3}))
      .constant("one", f32({}, {1}))
      .constant("half", f32({}, {-0.5F}));
  return net;
}
const Feeds x1 = {{"x", f32({1, 1, 1, 1}, {1})}};

/// √(v+ε) = [2, 1], so every spelling is exact: (c−3)/[2, 1] = [1, 4].
void expect_recognized(const std::string& lines, std::vector<float> want,
                       const std::string& mode = "recognize_batch_norm,fold_bn_conv") {
  const Graph g = net_of(lines).build();
  const FusionResult r = fuse(g, {.mode = mode});
  EXPECT_EQ(ops_of(r.graph), "Conv") << lines << explain(r.log);
  EXPECT_EQ(floats(run_cr(r.graph, x1).at("y")), want) << lines;
  expect_same_bits(g, r.graph, x1);
}

const std::string inverse[] = {"s = Add(var, eps)\nq = Sqrt(s)\nr = Reciprocal(q)\n",
                               "s = Add(eps, var)\nq = Sqrt(s)\nr = Div(one, q)\n",
                               "s = Add(var, eps)\nr = Pow(s, half)\n"};

TEST(RecognizeBatchNorm, KerasVariants) {
  for (const std::string& r : inverse) {
    expect_recognized(
        r + "i = Mul(r, gamma)\na = Mul(c, i)\nn = Mul(mean, i)\nt = Sub(beta, n)\ny = Add(a, t)",
        {2.5F, 11});
    expect_recognized(r + "i = Mul(gamma, r)\na = Mul(i, c)\nn = Mul(i, mean)\nu = Neg(n)\nt = "
                          "Add(u, beta)\ny = Add(t, a)",
                      {2.5F, 11});
    expect_recognized(r + "a = Mul(c, r)\nn = Mul(mean, r)\nt = Sub(beta, n)\ny = Add(a, t)",
                      {1.5F, 3});
    expect_recognized(
        r + "i = Mul(r, gamma)\na = Mul(c, i)\nn = Mul(mean, i)\nt = Neg(n)\ny = Add(a, t)",
        {2, 12});
    expect_recognized(r + "a = Mul(c, r)\nu = Neg(mean)\nt = Mul(u, r)\ny = Add(a, t)", {1, 4});
    expect_recognized(r + "a = Mul(c, r)\nn = Mul(mean, r)\ny = Sub(a, n)", {1, 4});
  }
}

TEST(RecognizeBatchNorm, TextbookSpellings) {
  for (const std::string center : {"d = Sub(c, mean)\n", "u = Neg(mean)\nd = Add(u, c)\n"}) {
    for (const std::string& r : inverse) {
      expect_recognized(center + r + "y = Mul(d, r)", {1, 4});
      expect_recognized(center + r + "a = Mul(r, d)\ny = Add(beta, a)", {1.5F, 3});
      expect_recognized(center + r + "i = Mul(r, gamma)\na = Mul(d, i)\ny = Add(a, beta)",
                        {2.5F, 11});
    }
    const std::string root = "s = Add(var, eps)\nq = Sqrt(s)\n";
    expect_recognized(center + root + "y = Div(d, q)", {1, 4});
    expect_recognized(center + root + "a = Div(d, q)\ne = Mul(a, gamma)\ny = Add(e, beta)",
                      {2.5F, 11});
    expect_recognized(center + root + "i = Div(gamma, q)\na = Mul(d, i)\ny = Add(a, beta)",
                      {2.5F, 11});
  }
}

TEST(RecognizeBatchNorm, BehindABiasAddition) {
  Net net(
      "c = Conv(x, W)\nb = Add(c, bias)\ns = Add(var, eps)\nq = Sqrt(s)\nr = Reciprocal(q)\ni = "
      "Mul(r, gamma)\na = Mul(b, i)\n"
      "n = Mul(mean, i)\nt = Sub(beta, n)\ny = Add(a, t)");
  net.input("x", {1, 1, 1, 1})
      .constant("W", f32({1, 1, 1, 1}, {5}))
      .constant("bias", f32({1, 1, 1}, {2}))
      .constant("var", f32({1, 1, 1}, {3.75F}));
  net.constant("eps", f32({}, {0.25F}))
      .constant("gamma", f32({1, 1, 1}, {2}))
      .constant("beta", f32({1, 1, 1}, {1}))
      .constant("mean", f32({1, 1, 1}, {3}));
  const Graph g = net.build();
  for (const std::string mode : {"amct-tf", "amct-onnx", "all"}) {
    const FusionResult r = fuse(g, {.mode = mode});
    EXPECT_EQ(r.log.count(rule), 1) << mode;
    EXPECT_EQ(floats(run_cr(r.graph, x1).at("y")), std::vector<float>{5}) << mode;  // (7−3)·2/2 + 1
  }
}

const std::string full =
    inverse[0] +
    "i = Mul(r, gamma)\na = Mul(c, i)\nn = Mul(mean, i)\nt = Sub(beta, n)\ny = Add(a, t)";

TEST(RecognizeBatchNorm, Declines) {
  expect_declined(net_of(full).outputs({"y", "a"}).build(), rule,
                  "inner value 'a' is a graph output");
  Net fed("c = Conv(x, W)\n" + full);
  fed.input("x", {1, 1, 1, 1})
      .constant("W", f32({1, 1, 1, 1}, {5}))
      .overridable("var", f32({}, {3}))
      .constant("eps", f32({}, {1}));
  fed.constant("gamma", f32({}, {1})).constant("beta", f32({}, {1})).constant("mean", f32({}, {1}));
  expect_declined(fed.build(), rule, "'var' is a graph input with a default");
  Net last("c = Conv(x, W)\n" + full);
  last.input("x", {1, 1, 1, 2})
      .constant("W", f32({2, 1, 1, 1}, {5, 6}))
      .constant("var", f32({2}, {3, 3}))
      .constant("eps", f32({}, {1}));
  last.constant("gamma", f32({}, {1}))
      .constant("beta", f32({}, {1}))
      .constant("mean", f32({}, {1}));
  expect_declined(last.build(), rule, "var: the constant has shape [2]: aligned from the right");
  expect_declined(net_of(full, 6).build(), rule, "opset 6 is below 7");
}

TEST(RecognizeBatchNorm, AmctWantsConvInFrontAndFourDimensions) {
  Net net("c = Relu(x)\n" + full);
  net.input("x", {1, 1, 1, 1});
  for (const char* name : {"var", "eps", "gamma", "beta", "mean"}) net.constant(name, f32({}, {1}));
  const Graph g = net.build();
  EXPECT_EQ(fuse(g, {.mode = "all"}).log.count(rule), 1);
  EXPECT_NE(reason(fuse(g, {.mode = "amct-tf"}).log, rule).find("wants Conv"), std::string::npos);
}

}  // namespace
}  // namespace assay::recognize_batch_norm_test
