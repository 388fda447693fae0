// Constants that nodes compute have two readings, and each rule its own.
#include "validation/certificate/reading.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/fusion/net.h"
#include "validation/certificate/certify.h"

namespace assay::reading_test {
namespace {

using namespace testing;

Tensor between(Shape shape, unsigned seed, float low, float high) {
  Tensor t = grid(std::move(shape), seed);
  std::uint64_t state = seed * 77U + 5;
  for (float& v : t.mutable_data<float>()) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    v = low + (high - low) * static_cast<float>(state >> 40) * 0x1p-24F;
  }
  return t;
}

constexpr std::int64_t channels = 16;

/// Constants of a normalization spelled in small operators, one number per channel.
Net spelled(const std::string& lines, std::int64_t wide) {
  Net net("a = Add(v, eps)\nr = Sqrt(a)\ni = Div(one, r)\nf = Mul(i, g)\n" + lines);
  net.input("x", {1, 2, 3, 3}).constant("eps", Tensor::scalar(1e-3F));
  net.constant("one", Tensor::scalar(1.0F));
  net.constant("W", between({wide, 2, 1, 1}, 1, -1, 1));
  const Shape per{channels, 1, 1};
  net.constant("v", between(per, 2, 0.3F, 2)).constant("g", between(per, 3, 0.5F, 1.5F));
  net.constant("m", between(per, 4, -1, 1)).constant("k", between(per, 5, -1, 1));
  return net;
}

std::vector<FusionCertificate> judged(const Graph& o, const FusionResult& r) {
  return certify(o, r.graph, &r.log,
                 {.samples = {{{"x", between({1, 2, 3, 3}, 9, -2, 2)}}}, .kernels = false})
      .fusions;
}

// This set refuses a Sub in front of the whole spelling, so (c - k) f is taken for a normalization,
// by the formula of f; the product f m behind it is an addend as stored.
constexpr const char* both_readings =
    "c = Conv(x, W)\nd = Sub(c, k)\ne = Mul(d, f)\np = Mul(f, m)\ny = Sub(e, p)";

TEST(Reading, OneChainMayMixFormulasAndStoredNumbers) {
  Net net = spelled(both_readings, channels);
  const Graph o = net.build();
  const FusionResult r = fuse(o, {.mode = "amct-onnx"});
  ASSERT_EQ(ops_of(r.graph), "Conv") << explain(r.log);
  const auto list = judged(o, r);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].verdict, "E2") << list[0].reason;
  EXPECT_EQ(list[0].proof["refold"]["precision"], "float64") << list[0].proof.dump();
}

TEST(Reading, KeepsFormulasThatARuleTookAndStoresTheRest) {
  Net net = spelled(both_readings, channels);
  const Graph o = net.build();
  const FusionResult r = fuse(o, {.mode = "amct-onnx"});
  const Graph read = as_rules_read(o, r.log);
  const auto reader = [&](const char* name) {
    return read.node(read.value(*read.find_value(name)).producer);
  };
  // e = d f: f is still computed; y = e - p: p is a number, the float32 product of the nodes.
  EXPECT_TRUE(read.producer(reader("e").inputs[1]) != nullptr);
  const Tensor* p = read.constant(reader("y").inputs[1]);
  ASSERT_NE(p, nullptr);
  const auto want = Executor(o, Precision::cr).run({{"x", grid({1, 2, 3, 3}, 1)}}, nullptr, {"p"});
  EXPECT_TRUE(same_bits(*p, want.at("p")));
}

TEST(Reading, AFormulaOverTheBranchesOfAConcat) {
  Net net = spelled(
      "s, t = Split<axis=1>(x, halves)\nc = Conv(s, U)\nd = Conv(t, U2)\n"
      "n = Concat<axis=1>(c, d)\nh = Sub(n, m)\ny = Mul(h, f)",
      channels);
  net.constant("halves", i64({1, 1})).constant("U", between({channels / 2, 1, 1, 1}, 6, -1, 1));
  net.constant("U2", between({channels / 2, 1, 1, 1}, 7, -1, 1));
  const Graph o = net.build();
  const FusionResult r = fuse(o, {.mode = "recognize_batch_norm,fold_bn_branches"});
  ASSERT_EQ(r.log.count("fold_bn_branches"), 1) << explain(r.log);
  const auto list = judged(o, r);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].verdict, "E2") << list[0].reason;
}

TEST(Reading, ANormalizationThatStaysIsRunAgainInFloat64) {
  // Without the shape of its input the rule would not fire on the region alone.
  Net net = spelled(
      "z = Relu(x)\nc = Conv(z, W)\nq = Relu(c)\nh = Sub(q, m)\ne = Mul(h, f)\n"
      "y = Add(e, k)\nu = Mul(y, g)",
      channels);
  const Graph o = net.build();
  const FusionResult r = fuse(o, {.mode = "recognize_batch_norm,fold_bn_mul"});
  ASSERT_EQ(r.log.count("fold_bn_mul"), 1) << explain(r.log);
  const auto list = judged(o, r);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].verdict, "E2") << list[0].reason;
  EXPECT_EQ(list[0].proof["refold"]["precision"], "float64") << list[0].proof.dump();
}

}  // namespace
}  // namespace assay::reading_test
