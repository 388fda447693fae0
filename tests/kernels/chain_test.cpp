// Chains of elementwise nodes: fewer steps, the same values as the separate steps (oneDNN's clamps
// may differ in the sign of zero), the same bits as the reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

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

// Codes in, codes out: one step, though the first value inside has two readers.
TEST(Chain, DequantizesAndQuantizesOnTheWay) {
  GraphMaker m;
  Random random(5);
  const Shape s{1, 12, 17, 19};
  const auto node = [&](const std::string& op, const std::string& out, std::vector<ValueId> in) {
    return m.node(op, out, std::move(in), DType::float32, s);
  };
  const auto scalar = [&](const std::string& name, float v) {
    return m.constant(name, Tensor::scalar(v));
  };
  const ValueId q = m.input("q", DType::uint8, s);
  const ValueId zero = m.constant("z", Tensor::scalar(std::uint8_t{101}));
  const ValueId x = node("DequantizeLinear", "x", {q, scalar("sx", 0.0375F), zero});
  const ValueId a = node("Add", "a", {x, scalar("three", 3.0F)});
  const ValueId c = node("Clip", "c", {a, scalar("lo", 0.0F), scalar("hi", 6.0F)});
  const ValueId p = node("Div", "d", {node("Mul", "p", {x, c}), scalar("six", 6.0F)});
  const ValueId y = m.node(
      "QuantizeLinear", "y",
      {p, scalar("sy", 0.021F), m.constant("zy", Tensor::scalar(std::int8_t{-7}))}, DType::int8, s);
  m.graph.add_output(y);
  Program program = Program::compile(m.graph, {}, {.threads = 2, .fuse_chains = true});
  EXPECT_EQ(program.steps().size(), 1U);
  EXPECT_EQ(chains(program), 1);
  const Feeds feeds{{"q", random.codes<std::uint8_t>(s, 0, 255)}};
  EXPECT_TRUE(
      same_bits(program.run(feeds).at("y"), Executor(m.graph, Precision::f32).run(feeds).at("y")));
}

/// clip(x + 3, 0, 6) * x from codes to codes, with a channel operand or without.
template <class From, class To>
Graph code_function(const Shape& s, bool per_channel) {
  GraphMaker m;
  const auto scalar = [&](const std::string& name, float v) {
    return m.constant(name, Tensor::scalar(v));
  };
  const auto node = [&](const std::string& op, const std::string& out, std::vector<ValueId> in) {
    return m.node(op, out, std::move(in), DType::float32, s);
  };
  const auto zero = static_cast<From>(std::is_signed_v<From> ? -5 : 130);
  const ValueId x = node("DequantizeLinear", "x",
                         {m.input("q", dtype_of<From>, s), scalar("sx", 0.043F),
                          m.constant("zx", Tensor::scalar(zero))});
  const ValueId k =
      per_channel ? m.constant("k", Tensor::of<float>({s[1], 1, 1}, {1, 2, 3})) : scalar("k", 3.0F);
  const ValueId c = node("Clip", "c", {node("Add", "a", {x, k}), scalar("lo", 0), scalar("hi", 6)});
  m.graph.add_output(m.node("QuantizeLinear", "y",
                            {node("Mul", "p", {x, c}), scalar("sy", 0.11F),
                             m.constant("zy", Tensor::scalar(static_cast<To>(3)))},
                            dtype_of<To>, s));
  return std::move(m.graph);
}

template <class From, class To>
void expect_code_function(bool per_channel, const std::string& kernel) {
  const Shape s{1, 3, 17, 23};  // 1173 elements: every code, and a rest behind the last whole block
  const Graph graph = code_function<From, To>(s, per_channel);
  Tensor q(dtype_of<From>, s);
  const auto codes = q.mutable_data<From>();
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<From>(i);
  Program program = Program::compile(graph, {}, {.threads = 2, .fuse_chains = true});
  const auto is_chain = [](const StepInfo& step) { return step.op.rfind("Chain", 0) == 0; };
  ASSERT_EQ(chains(program), 1);
  EXPECT_EQ(std::find_if(program.steps().begin(), program.steps().end(), is_chain)->kernel, kernel);
  EXPECT_TRUE(same_bits(program.run({{"q", q}}).at("y"),
                        Executor(graph, Precision::f32).run({{"q", q}}).at("y")));
}

// A chain that is a function of one code is looked up; a channel operand makes it none.
TEST(Chain, FromOneTensorOfCodesIsATable) {
  expect_code_function<std::uint8_t, std::int8_t>(false, "native:table");
  expect_code_function<std::int8_t, std::uint8_t>(false, "native:table");
  expect_code_function<std::int8_t, std::int8_t>(true, "native:chain");
}

// A value that another branch reads ends the chain, whatever was tried beyond it.
TEST(Chain, KeepsAValueThatAnotherBranchReads) {
  GraphMaker m;
  const Shape s{2, 8, 3, 5};
  const ValueId x = m.input("x", DType::float32, s), two = m.constant("two", Tensor::scalar(2.0F));
  const ValueId a = m.node("Add", "a", {x, two}, DType::float32, s);
  const ValueId b = m.node("Mul", "b", {a, two}, DType::float32, s);
  const ValueId c = m.node("Sub", "c", {b, two}, DType::float32, s);
  m.graph.add_output(c);
  m.graph.add_output(m.node("Softmax", "soft", {b}, DType::float32, s));
  Program p = Program::compile(m.graph, {}, {.threads = 1, .fuse_chains = true});
  EXPECT_EQ(chains(p), 1);  // a and b
  Random random(9);
  const Feeds feeds{{"x", random.reals(s)}};
  EXPECT_TRUE(
      same_bits(p.run(feeds).at("c"), Executor(m.graph, Precision::f32).run(feeds).at("c")));
}

// Division by a scalar, by way of a product where that gives the same bits: the processor's own
// division is the expected value.
TEST(Chain, DividesAsTheProcessorDoes) {
  Random random(21);
  for (const float divisor : {6.0F, 3.0F, 0.7F, 1.5F, 4.0F, 1e-3F, 1e30F, -6.0F}) {
    for (const bool tiny : {false, true}) {
      Tensor x = random.reals({4096});
      const auto v = x.mutable_data<float>();
      for (std::size_t i = 0; i < v.size(); ++i) v[i] = std::ldexp(v[i], random.integer(-60, 60));
      v[0] = -0.0F, v[1] = 0.0F, v[2] = INFINITY, v[3] = -INFINITY, v[4] = 3.4e38F;
      if (tiny) {
        for (std::size_t i = 0; i < v.size(); i += 2)
          v[i] = std::bit_cast<float>(static_cast<std::uint32_t>(i) * 3U + 1U);
      }
      GraphMaker m;
      const ValueId in = m.input("x", DType::float32, {4096});
      const ValueId q = m.node("Div", "q", {in, m.constant("d", Tensor::scalar(divisor))},
                               DType::float32, {4096});
      m.graph.add_output(
          m.node("Mul", "y", {q, m.constant("one", Tensor::scalar(1.0F))}, DType::float32, {4096}));
      Program p = Program::compile(m.graph, {}, {.threads = 2, .fuse_chains = true});
      ASSERT_EQ(chains(p), 1);
      const Tensor y = p.run({{"x", x}}).at("y");
      for (std::size_t i = 0; i < v.size(); ++i) {
        const float expected = v[i] / divisor;
        ASSERT_EQ(std::bit_cast<std::uint32_t>(y.data<float>()[i]),
                  std::bit_cast<std::uint32_t>(expected))
            << v[i] << " / " << divisor;
      }
    }
  }
}

}  // namespace
}  // namespace assay::kernels::chain_test
