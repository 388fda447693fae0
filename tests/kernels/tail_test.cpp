// The elementwise end of a convolution: what counts as one, and that the kernel applies it.
#include <gtest/gtest.h>

#include "kernels/program.h"
#include "kernels/tail.h"
#include "tests/kernels/graph_maker.h"

namespace assay::kernels::tail_test {
namespace {

using F = ChainFunction;

ChainOperand input() { return {.from = ChainOperand::From::input, .index = 0}; }
ChainOperand result(std::size_t i) { return {.from = ChainOperand::From::earlier, .index = i}; }
ChainOperand scalar(float v) { return {.from = ChainOperand::From::scalar, .scalar = v}; }
ChainOp clip(const ChainOperand& x, float low, float high) {
  return {.function = F::clip, .a = x, .low = low, .high = high};
}
ChainOp gate(const ChainOperand& x, float alpha, float beta) {
  return {.function = F::hard_sigmoid, .a = x, .low = alpha, .high = beta};
}

/// The steps as text: "Linear 2 1, HardSwish"; "none" where there is no tail.
std::string read(std::vector<ChainOp> ops) {
  const auto tail = tail_of({.shape = Shape{1}, .ops = std::move(ops)});
  if (!tail) return "none";
  std::string text;
  for (const ActivationParts& p : *tail) {
    text += (text.empty() ? "" : ", ") + p.name;
    if (p.name == "Linear")
      text +=
          " " + std::to_string(p.alpha).substr(0, 4) + " " + std::to_string(p.beta).substr(0, 4);
  }
  return text;
}

TEST(Tail, HardSwishInItsSpellings) {
  const ChainOp plus{F::add, input(), scalar(3)}, other{F::add, scalar(3), input()};
  const ChainOp clamp = clip(result(0), 0, 6);
  const float sixth = 1.0F / 6.0F;
  EXPECT_EQ(read({plus, clamp, {F::mul, input(), result(1)}, {F::div, result(2), scalar(6)}}),
            "HardSwish");
  EXPECT_EQ(read({other, clamp, {F::mul, result(1), input()}, {F::mul, scalar(sixth), result(2)}}),
            "HardSwish");
  EXPECT_EQ(read({plus, clamp, {F::div, result(1), scalar(6)}, {F::mul, result(2), input()}}),
            "HardSwish");
  EXPECT_EQ(read({gate(input(), sixth, 0.5F), {F::mul, input(), result(0)}}), "HardSwish");
}

TEST(Tail, OtherNumbersAreNoHardSwish) {
  const ChainOp plus{F::add, input(), scalar(3)};
  const ChainOp product{F::mul, input(), result(1)};
  EXPECT_EQ(read({plus, clip(result(0), 0, 5), product, {F::div, result(2), scalar(6)}}), "none");
  EXPECT_EQ(read({plus, clip(result(0), 0, 6), product, {F::div, result(2), scalar(7)}}), "none");
  EXPECT_EQ(read({{F::add, input(), scalar(2)},
                  clip(result(0), 0, 6),
                  product,
                  {F::div, result(2), scalar(6)}}),
            "none");
  EXPECT_EQ(read({plus, clip(result(0), 0, 6), product, {F::div, scalar(6), result(2)}}), "none");
  EXPECT_EQ(read({gate(input(), 0.2F, 0.5F), {F::mul, input(), result(0)}}), "none");
}

TEST(Tail, StepsOfOneOperand) {
  EXPECT_EQ(read({{F::mul, scalar(2), input()}, {F::add, result(0), scalar(1)}}),
            "Linear 2.00 1.00");
  EXPECT_EQ(read({{F::add, input(), scalar(1)}, {F::mul, result(0), scalar(2)}}),
            "Linear 1.00 1.00, Linear 2.00 0.00");
  EXPECT_EQ(read({{F::sub, scalar(4), input()}}), "Linear -1.0 4.00");
  EXPECT_EQ(read({{F::sub, input(), scalar(4)}}), "Linear 1.00 -4.0");
  EXPECT_EQ(read({{F::div, input(), scalar(4)}}), "Linear 0.25 0.00");
  EXPECT_EQ(read({{F::div, input(), scalar(3)}}), "none");  // 1/3 is no float32
  EXPECT_EQ(read({{F::relu, input()}, clip(result(0), 0, 6), gate(result(1), 1, 0)}),
            "Relu, Clip, HardSigmoid");
  EXPECT_EQ(read({{F::mul, input(), input()}}), "none");
  EXPECT_EQ(read({{F::max, input(), scalar(0)}}), "none");
}

/// A 1x1 convolution that doubles, then HardSwish spelled out, halved, plus 1/4.
struct Built {
  GraphMaker m;
  ValueId conv, y;
};

Built doubled_hard_swish(const Shape& s) {
  Built b;
  GraphMaker& m = b.m;
  const auto number = [&](const std::string& name, float v) {
    return m.constant(name, Tensor::scalar(v));
  };
  const auto node = [&](const std::string& op, const std::string& out, std::vector<ValueId> in) {
    return m.node(op, out, std::move(in), DType::float32, s);
  };
  const ValueId x = m.input("x", DType::float32, s);
  b.conv = node("Conv", "conv", {x, m.constant("w", Tensor::of<float>({1, 1, 1, 1}, {2}))});
  const ValueId a = node("Add", "a", {b.conv, number("three", 3)});
  const ValueId c = node("Clip", "c", {a, number("lo", 0), number("hi", 6)});
  const ValueId d = node("Div", "d", {node("Mul", "p", {b.conv, c}), number("six", 6)});
  b.y = node("Add", "y", {node("Mul", "h", {d, number("half", 0.5F)}), number("quarter", 0.25F)});
  return b;
}

// Points where every step is exact in float32, so the values are those of the real numbers.
const std::vector<float> kPoints{-4, -1.5F, 0, 1.5F, 2, 100};
const std::vector<float> kValues{0.25F, 0.25F, 0.25F, 1.75F, 2.25F, 100.25F};

TEST(Tail, RunsInTheConvolution) {
  const Shape s{1, 1, 2, 3};
  Built b = doubled_hard_swish(s);
  b.m.graph.add_output(b.y);
  const Feeds feeds{{"x", Tensor::of<float>(s, kPoints)}};
  Program p = Program::compile(b.m.graph, {}, {.threads = 1, .fuse_chains = true});
  ASSERT_EQ(p.steps().size(), 1U);
  EXPECT_EQ(p.steps()[0].op, "Conv+HardSwish+Linear");
  EXPECT_EQ(p.steps()[0].node, "y");
  const auto got = p.run(feeds).at("y");
  EXPECT_EQ(std::vector<float>(got.data<float>().begin(), got.data<float>().end()), kValues);
}

TEST(Tail, StaysOutsideWhenTheConvolutionIsReadElsewhere) {
  const Shape s{1, 1, 2, 3};
  Built b = doubled_hard_swish(s);
  b.m.graph.add_output(b.conv);
  b.m.graph.add_output(b.y);
  const Feeds feeds{{"x", Tensor::of<float>(s, kPoints)}};
  Program p = Program::compile(b.m.graph, {}, {.threads = 1, .fuse_chains = true});
  EXPECT_EQ(p.steps()[0].op, "Conv");
  const auto out = p.run(feeds);
  EXPECT_EQ(to_doubles(out.at("conv")), (std::vector<double>{-8, -3, 0, 3, 4, 200}));
  EXPECT_EQ(to_doubles(out.at("y")), (std::vector<double>(kValues.begin(), kValues.end())));
}

// The end goes as far as it reads scalars alone: an operand of its own shape is another step.
TEST(Tail, EndsAtASecondTensor) {
  const Shape s{1, 1, 2, 3};
  Built b = doubled_hard_swish(s);
  GraphMaker m = std::move(b.m);
  const ValueId r = m.input("r", DType::float32, s);
  m.graph.add_output(m.node("Sub", "z", {b.y, r}, DType::float32, s));
  Program p = Program::compile(m.graph, {}, {.threads = 1, .fuse_chains = true});
  ASSERT_EQ(p.steps().size(), 2U);
  EXPECT_EQ(p.steps()[0].op, "Conv+HardSwish+Linear");
  EXPECT_EQ(p.steps()[1].op, "Sub");
}

}  // namespace
}  // namespace assay::kernels::tail_test
