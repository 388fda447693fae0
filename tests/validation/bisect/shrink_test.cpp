// Failing cases made small: what has to stay, what has to go.
#include "validation/bisect/shrink.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/validation/bisect/three_folds.h"

namespace assay::shrink_test {
namespace {

using namespace testing;

/// Conv (8 -> 8, 3x3), BN, Relu, Sigmoid, and its fold; gamma / sqrt(v + e) is 0.5.
FailingCase folded_conv(const std::function<void(Tensor&)>& change_weights) {
  Net o(
      "c = Conv<pads=[1,1,1,1]>(x, W)\nn = BatchNormalization<epsilon=0.25>(c, g, b, m, v)\n"
      "r = Relu(n)\ny = Sigmoid(r)");
  o.input("x", {2, 8, 12, 12}).constant("W", grid({8, 8, 3, 3}, 1));
  for (const auto& [name, x] :
       {std::pair("g", 0.5F), std::pair("b", 0.25F), std::pair("m", 0.5F), std::pair("v", 0.75F)})
    o.constant(name, f32({8}, std::vector<float>(8, x)));
  Tensor w = grid({8, 8, 3, 3}, 1).clone();
  for (float& x : w.mutable_data<float>()) x *= 0.5F;
  change_weights(w);
  Net f("c = Conv<pads=[1,1,1,1]>(x, V, B)\nr = Relu(c)\ny = Sigmoid(r)");
  f.input("x", {2, 8, 12, 12}).constant("V", w).constant("B", f32({8}, std::vector<float>(8, 0)));
  return {.original = o.build(), .fused = f.build(), .feeds = {{"x", grid({2, 8, 12, 12}, 3)}}};
}

std::optional<Shrunk> shrunk(const FailingCase& c, const std::string& verdict,
                             const std::string& kind) {
  return shrink(c, {verdict, kind, verdict != "U", 1e-5}, {});
}

TEST(Shrink, AWrongWeightLeavesOneConvolutionWithOneWeightPerTap) {
  const auto s =
      shrunk(folded_conv([](Tensor& w) { w.mutable_data<float>()[5 * 72 + 3 * 9 + 4] += 0.001F; }),
             "E5", "constant outside its budget");
  ASSERT_TRUE(s);
  EXPECT_EQ(s->certificate.verdict, "E5");
  EXPECT_EQ(ops_of(s->smallest.original), "Conv, BatchNormalization");
  EXPECT_EQ(ops_of(s->smallest.fused), "Conv");
  ASSERT_EQ(s->smallest.feeds.size(), 1U);
  EXPECT_EQ(s->smallest.feeds.begin()->second.numel(), 1);
  EXPECT_GE(s->certificate.rounding["max_abs"].get<double>(), 1e-5);
  for (const Graph* g : {&s->smallest.original, &s->smallest.fused}) {
    for (const ValueId v : g->value_ids()) {
      if (g->constant(v) != nullptr && g->constant(v)->shape().rank() == 4) {
        EXPECT_EQ(g->constant(v)->shape(), (Shape{1, 1, 3, 3}));
      }
    }
  }
}

TEST(Shrink, RightFoldsDoNotFail) {
  EXPECT_FALSE(shrunk(folded_conv([](Tensor&) {}), "E5", "constant outside its budget"));
}

TEST(Shrink, AnotherVerdictDoesNotCount) {
  const FailingCase c = folded_conv([](Tensor& w) { w.mutable_data<float>()[0] += 1.5F; });
  EXPECT_FALSE(shrunk(c, "E4", "constant outside its budget"));
}

/// Relu before the addition. c * c is never negative, so Relu(d) + r is d + r, and what differs is
/// the Relu behind it: with one node more on both sides, because a graph computes something.
TEST(Shrink, AWrongOrderLeavesTheOperatorThatIsMissing) {
  Net o("c = Tanh(x)\nd = Mul(c, c)\na = Add(d, r)\nb = Relu(a)\ny = Neg(b)");
  o.input("x", {2, 3, 4, 4}).input("r", {2, 3, 4, 4});
  Net f("c = Tanh(x)\nd = Mul(c, c)\ne = Relu(d)\nb = Add(e, r)\ny = Neg(b)");
  f.input("x", {2, 3, 4, 4}).input("r", {2, 3, 4, 4});
  const FailingCase c{.original = o.build(),
                      .fused = f.build(),
                      .feeds = {{"x", grid({2, 3, 4, 4}, 1)}, {"r", grid({2, 3, 4, 4}, 2)}}};
  const auto s = shrunk(c, "E5", "another function, as the witness shows");
  ASSERT_TRUE(s);
  EXPECT_EQ(ops_of(s->smallest.original), "Relu, Neg");
  EXPECT_EQ(ops_of(s->smallest.fused), "Neg");
  for (const auto& [name, t] : s->smallest.feeds) EXPECT_EQ(t.numel(), 1) << name;
}

TEST(Shrink, AnOverflowKeepsTheInputThatShowsIt) {
  Net o("c = Conv(x, W)\nt = Mul(c, s)\ny = Relu(t)");
  o.input("x", {1, 2, 2, 2}).constant("W", f32({1, 2, 1, 1}, {1, -1}));
  o.constant("s", f32({}, {1e20F}));
  Net f("t = Conv(x, W)\ny = Relu(t)");
  f.input("x", {1, 2, 2, 2}).constant("W", f32({1, 2, 1, 1}, {1e20F, -1e20F}));
  Tensor x = Tensor::zeros(DType::float32, {1, 2, 2, 2});
  x.mutable_data<float>()[3] = x.mutable_data<float>()[7] = 3e19F;
  const auto s = shrunk({.original = o.build(), .fused = f.build(), .feeds = {{"x", x}}}, "E4",
                        "finite in the original, not finite in the fused graph");
  ASSERT_TRUE(s);
  EXPECT_EQ(ops_of(s->smallest.original), "Conv, Mul");
  EXPECT_EQ(s->smallest.feeds.at("x").shape(), (Shape{1, 2, 1, 1}));
  EXPECT_EQ(floats(s->smallest.feeds.at("x")), (std::vector<float>{3e19F, 3e19F}));
}

TEST(Shrink, InstancesOfAssaysOwnAreJudgedAsItsOwn) {
  const Graph o = three_normalizations();
  FusionResult own = fuse(o, {.mode = "all"});
  std::string weights;
  for (const FiredRewrite& f : own.log.fired) {
    for (const std::string& c : f.constants) {
      const auto v = own.graph.find_value(c);
      if (v && own.graph.constant(*v)->shape() == Shape{4, 1, 3, 3}) weights = c;
    }
  }
  // One unit in the last place: wrong for Assay's own, inside the budget of another tool's file.
  Graph wrong = own.graph;
  const ValueId v = *wrong.find_value(weights);
  Tensor t = wrong.constant(v)->clone();
  float& one = t.mutable_data<float>()[9 + 4];
  one = std::nextafter(one, 100.0F);
  wrong.set_initializer(v, t);
  const Feeds feeds{{"x", grid({2, 4, 6, 6}, 7)}};
  const std::string kind = "constant outside its budget";
  const auto s =
      shrink({.original = o, .fused = wrong, .feeds = feeds, .log = own.log}, {"E5", kind}, {});
  ASSERT_TRUE(s);
  EXPECT_EQ(ops_of(s->smallest.original), "Conv, BatchNormalization");
  EXPECT_FALSE(shrink({.original = o, .fused = wrong, .feeds = feeds}, {"E5", kind}, {}));
}

}  // namespace
}  // namespace assay::shrink_test
