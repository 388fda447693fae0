// Chains of elementwise nodes: fewer steps, the same values as the separate steps (oneDNN's clamps
// may differ in the sign of zero), the same bits as the reference.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/program.h"
#include "tests/kernels/graph_maker.h"

namespace assay::kernels::chain_test {
namespace {

struct Built {
  GraphMaker m;
  Feeds feeds;
};

/// Hard swish as PaddlePaddle writes it, x * clip(x + 3, 0, 6) / 6, between an affine pair and a
/// channel gate; `wide` puts a convolution in front.
Built hard_swish(const Shape& s, bool wide) {
  Built b;
  Random random(12);
  GraphMaker& m = b.m;
  const auto scalar = [&](const std::string& name, float v) {
    return m.constant(name, Tensor::scalar(v));
  };
  const auto node = [&](const std::string& op, const std::string& out, std::vector<ValueId> in) {
    return m.node(op, out, std::move(in), DType::float32, s);
  };
  b.feeds["x"] = random.reals(s);
  ValueId x = m.input("x", DType::float32, s);
  if (wide) x = node("Conv", "conv", {x, m.constant("w", random.reals({s[1], s[1], 1, 1}))});
  x = node("Mul", "m0", {x, scalar("k", 3.3F)});
  x = node("Add", "a0", {x, m.constant("c", random.reals({1, s[1], 1, 1}))});
  const ValueId a = node("Add", "a1", {x, scalar("three", 3.0F)});
  const ValueId c = node("Clip", "c1", {a, scalar("lo", 0.0F), scalar("hi", 6.0F)});
  const ValueId p = node("Mul", "p1", {x, c});
  const ValueId d = node("Div", "d1", {p, scalar("six", 6.0F)});
  const Shape pooled{s[0], s[1], 1, 1};
  const ValueId g = m.node("GlobalAveragePool", "g", {d}, DType::float32, pooled);
  const ValueId gate = m.node("HardSigmoid", "hs", {g}, DType::float32, pooled);
  m.graph.add_output(node("Relu", "y", {node("Mul", "se", {d, gate})}));
  return b;
}

std::int64_t chains(const Program& p) {
  return std::count_if(p.steps().begin(), p.steps().end(),
                       [](const StepInfo& s) { return s.op.rfind("Chain", 0) == 0; });
}

TEST(Chain, GivesTheValuesOfTheSeparateSteps) {
  for (const Shape& s :
       {Shape{1, 16, 9, 11}, Shape{3, 40, 20, 20}, Shape{2, 7, 3, 5}, Shape{1, 1100, 2, 3}}) {
    for (const bool wide : {false, true}) {
      const Built b = hard_swish(s, wide);
      Program apart = Program::compile(b.m.graph, {}, {.threads = 2});
      Program joined = Program::compile(b.m.graph, {}, {.threads = 2, .fuse_chains = true});
      EXPECT_EQ(chains(apart), 0);
      EXPECT_GE(chains(joined), 2);
      EXPECT_LT(joined.steps().size(), apart.steps().size());
      const auto got = to_doubles(joined.run(b.feeds).at("y"));
      EXPECT_EQ(got, to_doubles(apart.run(b.feeds).at("y"))) << to_string(s) << wide;
    }
  }
}

TEST(Chain, GivesTheBitsOfTheReference) {
  GraphMaker m;
  Random random(3);
  const Shape s{2, 20, 7, 9};
  const auto node = [&](const std::string& op, const std::string& out, std::vector<ValueId> in) {
    return m.node(op, out, std::move(in), DType::float32, s);
  };
  const ValueId x = m.input("x", DType::float32, s);
  const ValueId a = node("Mul", "a", {x, m.constant("k", random.reals({20, 1, 1}))});
  const ValueId h = node("HardSigmoid", "h", {a});
  const ValueId p = node("Mul", "p", {h, x});
  const ValueId r =
      node("Relu", "r", {node("Sub", "d", {p, m.constant("c", Tensor::scalar(0.125F))})});
  m.graph.add_output(node("Max", "y", {r, m.constant("z", Tensor::scalar(0.25F))}));
  Program program = Program::compile(m.graph, {}, {.threads = 2, .fuse_chains = true});
  EXPECT_EQ(chains(program), 1);
  const Feeds feeds{{"x", random.reals(s)}};
  EXPECT_TRUE(
      same_bits(program.run(feeds).at("y"), Executor(m.graph, Precision::f32).run(feeds).at("y")));
}

// A value that is an output ends the chain.
TEST(Chain, StopsWhereAValueIsNeededOutside) {
  GraphMaker m;
  const Shape s{4, 8};
  const ValueId x = m.input("x", DType::float32, s), one = m.constant("one", Tensor::scalar(1.0F));
  const ValueId a = m.node("Add", "a", {x, one}, DType::float32, s);
  const ValueId b = m.node("Mul", "b", {a, a}, DType::float32, s);
  m.graph.add_output(b);
  m.graph.add_output(m.node("Sub", "c", {b, one}, DType::float32, s));
  Program p = Program::compile(m.graph, {}, {.threads = 1, .fuse_chains = true});
  Tensor in = Tensor::zeros(DType::float32, s);
  std::fill(in.mutable_data<float>().begin(), in.mutable_data<float>().end(), 2.0F);
  const auto out = p.run({{"x", in}});
  EXPECT_EQ(chains(p), 1);  // a and b; c reads an output
  EXPECT_EQ(out.at("b").data<float>()[5], 9.0F);
  EXPECT_EQ(out.at("c").data<float>()[5], 8.0F);
}

}  // namespace
}  // namespace assay::kernels::chain_test
