// Broadcasting float32 arithmetic: one IEEE operation per element, so the comparison is of bits.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/program.h"
#include "tests/kernels/graph_maker.h"

namespace assay::kernels::binary_test {
namespace {

float apply(const std::string& op, float a, float b) {
  if (op == "Add") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Mul") return a * b;
  if (op == "Div") return a / b;
  return op == "Max" ? std::max(a, b) : std::min(a, b);
}

/// Element of `t` that the output index `i` of shape `y` reads.
float at(const Tensor& t, const Shape& y, std::int64_t i) {
  const auto strides = broadcast_strides(t.shape(), y);
  std::int64_t k = 0;
  for (std::int64_t axis = y.rank(); axis-- > 0; i /= y[axis])
    k += i % y[axis] * strides[static_cast<std::size_t>(axis)];
  return t.data<float>()[static_cast<std::size_t>(k)];
}

struct Case {
  Shape a, b;
  bool channels_last;
};

class Binary : public ::testing::TestWithParam<Case> {};

// channels_last: a pool in front brings the first operand into that layout.
TEST_P(Binary, EqualsTheSameOperationPerElement) {
  const Case& c = GetParam();
  const Shape y = *broadcast(c.a, c.b);
  Random random(5);
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Max", "Min"}) {
    GraphMaker m;
    const Tensor a = random.reals(c.a), b = random.reals(c.b);
    ValueId x = m.input("a", DType::float32, c.a);
    const ValueId z = m.input("b", DType::float32, c.b);
    const Attributes one{{"kernel_shape", std::vector<std::int64_t>{1, 1}}};
    if (c.channels_last) x = m.node("MaxPool", "p", {x}, DType::float32, c.a, one);
    m.graph.add_output(m.node(op, "y", {x, z}, DType::float32, y));
    Program p = Program::compile(m.graph, {}, {.threads = 2});
    for (const StepInfo& s : p.steps()) EXPECT_FALSE(s.reference()) << s.reason;
    const Tensor out = p.run({{"a", a}, {"b", b}}).at("y");
    for (std::int64_t i = 0; i < y.numel(); ++i) {
      ASSERT_EQ(out.data<float>()[static_cast<std::size_t>(i)], apply(op, at(a, y, i), at(b, y, i)))
          << op << " " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Binary,
    ::testing::Values(Case{{2, 5, 3, 4}, {2, 5, 3, 4}, false},
                      Case{{2, 5, 3, 4}, {2, 5, 3, 4}, true},
                      Case{{2, 5, 3, 4}, {1, 5, 1, 1}, true}, Case{{2, 5, 3, 4}, {5, 1, 1}, true},
                      Case{{2, 5, 3, 4}, {2, 5, 1, 1}, true},
                      Case{{2, 5, 3, 4}, {2, 1, 3, 4}, true}, Case{{2, 5, 3, 4}, {1}, true},
                      Case{{2, 5, 3, 4}, {}, false}, Case{{3, 1}, {1, 4}, false},
                      Case{{4}, {3, 4}, false}, Case{{1, 64, 40, 40}, {1, 64, 40, 40}, true}));

TEST(Binary, NanOfEitherOperandComesThroughMaxAndMin) {
  for (const char* op : {"Max", "Min"}) {
    GraphMaker m;
    const ValueId a = m.input("a", DType::float32, {2}), b = m.input("b", DType::float32, {2});
    m.graph.add_output(m.node(op, "y", {a, b}, DType::float32, {2}));
    Program p = Program::compile(m.graph, {}, {.threads = 1});
    const auto out =
        p.run({{"a", Tensor::of<float>({2}, {NAN, 1})}, {"b", Tensor::of<float>({2}, {1, NAN})}});
    EXPECT_TRUE(std::isnan(out.at("y").data<float>()[0]));
    EXPECT_TRUE(std::isnan(out.at("y").data<float>()[1]));
  }
}

}  // namespace
}  // namespace assay::kernels::binary_test
