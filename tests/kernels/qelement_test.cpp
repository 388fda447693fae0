// QAdd and the averaging pools on codes against their formulas, element by element.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/program.h"
#include "tests/kernels/graph_maker.h"

namespace assay::kernels::qelement_test {
namespace {

int stored(float v, float scale, int zero, int low, int high) {
  const float q = v * (1.0F / scale) + static_cast<float>(zero);
  return static_cast<int>(
      std::nearbyint(std::fmin(std::fmax(q, static_cast<float>(low)), static_cast<float>(high))));
}

TEST(IntAdd, EqualsTheFormula) {
  Random random(9);
  const Shape s{1, 24, 9, 7};
  const Tensor a = random.codes<std::uint8_t>(s, 0, 255),
               b = random.codes<std::int8_t>(s, -128, 127);
  GraphMaker m;
  const ValueId x = m.input("a", DType::uint8, s), y = m.input("b", DType::int8, s);
  const Attributes at{{"a_scale", 0.031F},          {"a_zero_point", std::int64_t{120}},
                      {"b_scale", 0.0172F},         {"b_zero_point", std::int64_t{-3}},
                      {"y_scale", 0.023F},          {"y_zero_point", std::int64_t{4}},
                      {"y_dtype", std::int64_t{2}}, {"activation", std::string("Relu")}};
  m.graph.add_output(m.node("QAdd", "y", {x, y}, DType::uint8, s, at, "ai.assay"));
  Program p = Program::compile(m.graph, {}, {.threads = 2});
  EXPECT_EQ(p.steps()[0].kernel, "native:qadd");
  const Tensor out = p.run({{"a", a}, {"b", b}}).at("y");
  for (std::size_t i = 0; i < a.data<std::uint8_t>().size(); ++i) {
    const float first = static_cast<float>(a.data<std::uint8_t>()[i] - 120) * 0.031F;
    const float v = std::fma(static_cast<float>(b.data<std::int8_t>()[i] + 3), 0.0172F, first);
    ASSERT_EQ(static_cast<int>(out.data<std::uint8_t>()[i]),
              stored(std::fmax(v, 0.0F), 0.023F, 4, 0, 255))
        << i;
  }
}

TEST(IntPool, GlobalAverageEqualsTheFormula) {
  Random random(2);
  const Tensor x = random.codes<std::uint8_t>({2, 20, 7, 7}, 0, 255);
  GraphMaker m;
  const ValueId in = m.input("x", DType::uint8, x.shape());
  const Attributes at{{"x_scale", 0.02F},
                      {"x_zero_point", std::int64_t{11}},
                      {"y_scale", 0.013F},
                      {"y_zero_point", std::int64_t{0}},
                      {"y_dtype", std::int64_t{2}}};
  m.graph.add_output(
      m.node("QGlobalAveragePool", "y", {in}, DType::uint8, {2, 20, 1, 1}, at, "ai.assay"));
  Program p = Program::compile(m.graph, {}, {.threads = 2});
  const Tensor y = p.run({{"x", x}}).at("y");
  for (std::size_t i = 0; i < 40; ++i) {
    int sum = 0;
    for (std::size_t k = 0; k < 49; ++k) sum += x.data<std::uint8_t>()[i * 49 + k] - 11;
    const float v = static_cast<float>(sum) * (0.02F / 49.0F);
    ASSERT_EQ(static_cast<int>(y.data<std::uint8_t>()[i]), stored(v, 0.013F, 0, 0, 255)) << i;
  }
}

TEST(IntPool, MaxPassesCodesThrough) {
  const Tensor x = Tensor::of<std::int8_t>({1, 1, 2, 4}, {-5, 3, 7, -128, 9, -1, 0, 127});
  GraphMaker m;
  const ValueId in = m.input("x", DType::int8, x.shape());
  const Attributes at{{"kernel_shape", std::vector<std::int64_t>{2, 2}},
                      {"strides", std::vector<std::int64_t>{2, 2}}};
  m.graph.add_output(m.node("QMaxPool", "y", {in}, DType::int8, {1, 1, 1, 2}, at, "ai.assay"));
  Program p = Program::compile(m.graph, {}, {.threads = 1});
  EXPECT_EQ(p.steps()[0].kernel.find("ref"), std::string::npos);
  const Tensor y = p.run({{"x", x}}).at("y");
  EXPECT_EQ(y.data<std::int8_t>()[0], 9);
  EXPECT_EQ(y.data<std::int8_t>()[1], 127);
}

}  // namespace
}  // namespace assay::kernels::qelement_test
