// What Assay's own rules make of a graph is judged at the verdict that the rule claims, or better.
#include <gtest/gtest.h>

#include "tests/fusion/net.h"
#include "validation/certificate/certify.h"

namespace assay::own_rules_test {
namespace {

using namespace testing;

struct Instance {
  std::string rule;  ///< must fire
  std::string lines;
  std::vector<std::int64_t> x;
  std::string verdict;  ///< the worst of all regions
  std::string mode = "all";
};

Tensor random_like(Shape shape, unsigned seed, float low, float high) {
  Tensor t(DType::float32, std::move(shape));
  std::uint64_t state = seed * 2654435761U + 99;
  for (float& v : t.mutable_data<float>()) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    v = low + (high - low) * static_cast<float>(state >> 40) * 0x1p-24F;
  }
  return t;
}

Graph net_of(const Instance& i) {
  const std::int64_t channels = i.x[1];
  Net net(i.lines, 14);
  net.input("x", i.x);
  const auto constant = [&](const std::string& name, const Tensor& t) {
    const auto reads = [&](const char* end) {
      return i.lines.find(name + end) != std::string::npos;
    };
    if (reads(",") || reads(")")) net.constant(name, t);
  };
  constant("W", random_like({channels, channels, 1, 1}, 1, -1, 1));
  constant("W3", random_like({channels, channels, 3, 3}, 1, -1, 1));
  constant("H1", random_like({2, channels / 2, 1, 1}, 1, -1, 1));
  constant("H2", random_like({2, channels / 2, 1, 1}, 2, -1, 1));
  constant("M", random_like({channels, 5}, 1, -1, 1));
  for (const auto& [suffix, n] :
       {std::pair("", channels), std::pair("1", std::int64_t{1}), std::pair("2", std::int64_t{2}),
        std::pair("4", std::int64_t{4}), std::pair("5", std::int64_t{5})}) {
    constant(std::string("g") + suffix, random_like({n}, 3, 0.5F, 1.5F));
    constant(std::string("b") + suffix, random_like({n}, 4, -0.45F, 0.55F));
    constant(std::string("m") + suffix, random_like({n}, 5, -0.5F, 0.5F));
    constant(std::string("v") + suffix, random_like({n}, 6, 0.3F, 2));
  }
  constant("k", random_like({1, channels, 1, 1}, 7, 0.5F, 1.5F));
  constant("a", random_like({1, channels, 1, 1}, 8, 3.1F, 7.7F));
  constant("vc", random_like({1, channels, 1, 1}, 6, 0.3F, 2));
  constant("eps", Tensor::scalar(1e-3F));
  constant("three", Tensor::scalar(3.0F));
  constant("zero", Tensor::scalar(0.0F));
  constant("six", Tensor::scalar(6.0F));
  constant("sixth", Tensor::scalar(1.0F / 6.0F));
  constant("halves", i64({channels / 2, channels / 2}));
  constant("pads", i64({0, 0, 1, 1, 0, 0, 1, 1}));
  constant("step", Tensor::scalar(0.1F));
  constant("z", Tensor::scalar<std::int8_t>(3));
  return net.build();
}

std::vector<Instance> instances() {
  const std::vector<std::int64_t> image{1, 4, 5, 6};
  return {
      {"fold_bn_conv", "c = Conv(x, W)\ny = BatchNormalization(c, g, b, m, v)", image, "E2"},
      {"fold_bn_conv_transpose", "c = ConvTranspose(x, W)\ny = BatchNormalization(c, g, b, m, v)",
       image, "E2"},
      {"fold_bn_gemm", "c = Gemm(x, M)\ny = BatchNormalization(c, g5, b5, m5, v5)", {3, 4}, "E2"},
      {"fold_bn_matmul",
       "c = MatMul(x, M)\ny = BatchNormalization(c, g5, b5, m5, v5)",
       {3, 4},
       "E2"},
      {"fold_bn_mul", "c = Relu(x)\nn = BatchNormalization(c, g, b, m, v)\ny = Mul(n, k)", image,
       "E2"},
      {"fold_bn_add", "c = Relu(x)\nn = BatchNormalization(c, g, b, m, v)\ny = Add(n, a)", image,
       "E2"},
      {"fold_bn_forward", "c = Relu(x)\nn = BatchNormalization(c, g, b, m, v)\ny = Conv(n, W)",
       image, "E2"},
      {"fold_bn_branches",
       "p, q = Split<axis=1>(x, halves)\nc = Conv(p, H1)\nd = Conv(q, H2)\ne = Concat<axis=1>(c, "
       "d)\ny "
       "= BatchNormalization(e, g4, b4, m4, v4)",
       image, "E2"},
      {"merge_split_conv",
       "p, q = Split<axis=1>(x, halves)\nc = Conv(p, H1)\nd = Conv(q, H2)\ny = Concat<axis=1>(c, "
       "d)",
       image, "E0"},
      // A zero in the place of the missing bias: -0 becomes +0.
      {"merge_split_conv",
       "p, q = Split<axis=1>(x, halves)\nc = Conv(p, H1, b2)\nd = Conv(q, H2)\ny = "
       "Concat<axis=1>(c, d)",
       image, "E1"},
      {"move_bn_before_layout",
       "c = Conv(x, W)\nd = DepthToSpace<blocksize=2>(c)\ny = BatchNormalization(d, g1, b1, m1, "
       "v1)",
       image, "E0", "move_bn_before_layout"},
      {"move_bn_before_layout",
       "c = Conv(x, W)\nd = DepthToSpace<blocksize=2>(c)\ny = BatchNormalization(d, g1, b1, m1, "
       "v1)",
       image, "E2"},
      {"move_bn_before_layout",
       "c = Conv(x, W)\nd = DepthToSpace<blocksize=2>(c)\nn = BatchNormalization(d, g1, b1, m1, "
       "v1)\ne = Add(n, three)\ny = Mul(e, six)",
       image, "E2"},
      {"move_bn_before_layout",
       "c = Conv(x, W)\nd = DepthToSpace<blocksize=2>(c)\ni = Identity(d)\nn = "
       "BatchNormalization(i, g1, b1, m1, v1)\ne = Dropout(n)\ny = BatchNormalization(e, g1, b1, "
       "m1, v1)",
       image, "E2"},
      {"merge_quantizers",
       "q = QuantizeLinear(x, step, z)\np = QuantizeLinear(x, step, z)\nd = DequantizeLinear(q, "
       "step, z)\ne = DequantizeLinear(p, step, z)\nr = Relu(d)\ny = Add(r, e)",
       image, "E0"},
      {"fold_linear_mul", "c = Conv(x, W)\ny = Mul(c, k)", image, "E2"},
      {"fold_linear_add", "c = Conv(x, W)\ny = Add(c, a)", image, "E1"},
      {"fold_pad", "p = Pad(x, pads)\ny = Conv(p, W3)", image, "E1"},
      {"fold_pad", "p = Pad(x, pads)\ny = AveragePool<kernel_shape=[3,3]>(p)", image, "E1"},
      {"fold_pad", "p = Pad(x, pads)\nq = Pad(p, pads)\ny = AveragePool<kernel_shape=[3,3]>(q)",
       image, "E1"},
      {"fuse_add_activation", "c = Add(x, x)\ny = Relu(c)", image, "E0"},
      {"fuse_linear_activation", "c = Conv(x, W)\ny = Sigmoid(c)", image, "E0"},
      {"fuse_linear_add", "c = Conv(x, W)\ny = Add(c, x)", image, "E0"},
      {"fuse_linear_silu", "c = Conv(x, W)\ns = Sigmoid(c)\ny = Mul(c, s)", image, "E0"},
      {"fuse_linear_silu",
       "d = Conv(x, W)\nc = BatchNormalization(d, g, b, m, v)\ns = Sigmoid(c)\ny = Mul(c, s)",
       image, "E2"},
      {"recognize_hard_swish",
       "p = Add(x, three)\nc = Clip(p, zero, six)\nq = Mul(x, c)\ny = Div(q, six)", image, "E1"},
      {"recognize_hard_swish",
       "p = Add(x, three)\nc = Clip(p, zero, six)\nq = Div(c, six)\ny = Mul(q, x)", image, "E1"},
      {"recognize_hard_swish",
       "p = Add(x, three)\nc = Clip(p, zero, six)\nq = Mul(x, c)\ny = Mul(q, sixth)", image, "E2"},
      {"recognize_hard_swish",
       "p = Add(x, three)\nc = Clip(p, zero, six)\nq = Mul(sixth, c)\ny = Mul(x, q)", image, "E2"},
      {"recognize_hard_swish", "h = HardSigmoid<alpha=0.16666667>(x)\ny = Mul(x, h)", image, "E2"},
      {"recognize_batch_norm",
       "t = Add(vc, eps)\nr = Sqrt(t)\nu = Div(k, r)\nd = Sub(x, a)\ne = Mul(d, u)\ny = Add(e, a)",
       image, "E1"},
      {"drop_identity", "c = Identity(x)\ny = Relu(c)", image, "E0"},
      {"drop_requantize",
       "q = QuantizeLinear(x, step, z)\nd = DequantizeLinear(q, step, z)\nr = QuantizeLinear(d, "
       "step, z)\ny "
       "= "
       "DequantizeLinear(r, step, z)",
       image, "E0"},
  };
}

TEST(OwnRules, AreJudgedAtTheVerdictThatTheyClaim) {
  for (const Instance& i : instances()) {
    SCOPED_TRACE(i.rule + ": " + i.lines);
    Instance used = i;
    const Graph o = net_of(used);
    const FusionResult r = fuse(o, {.mode = i.mode});
    EXPECT_GT(r.log.count(i.rule), 0) << explain(r.log);
    const CertifyResult c =
        certify(o, r.graph, &r.log,
                {.samples = {{{"x", random_like(Shape(i.x), 11, -2, 2)}}}, .kernels = false});
    std::string worst = "none";
    std::string all;
    for (const FusionCertificate& f : c.fusions) {
      worst = worst == "none" ? f.verdict : std::max(worst, f.verdict);
      all += to_json(f).dump() + "\n";
    }
    EXPECT_EQ(worst, i.verdict) << all;
    EXPECT_TRUE(c.coverage["unaligned"].empty()) << c.coverage.dump();
  }
}

}  // namespace
}  // namespace assay::own_rules_test
