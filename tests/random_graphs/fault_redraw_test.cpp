// Which mutants are no faults and are drawn again.
#include <gtest/gtest.h>

#include "tests/fusion/net.h"
#include "tests/random_graphs/faults.h"
#include "tests/random_graphs/graph_maker.h"

namespace assay::testing::fault_redraw_test {
namespace {

const Shape image{1, 2, 2, 2};

RandomGraph fed(const Graph& g) { return {1, g, {{{"x", grid(image, 1)}}}}; }

Graph normalized(float epsilon, float gamma) {
  Net net("y = BatchNormalization<epsilon=" + std::to_string(epsilon) + ">(x, g, b, m, v)");
  net.input("x", {1, 2, 2, 2}).constant("g", f32({2}, {gamma, 0})).constant("b", f32({2}, {1, 2}));
  return net.constant("m", f32({2}, {1, 2})).constant("v", f32({2}, {1, 2})).build();
}

TEST(FaultRedraw, EpsilonInFrontOfAFactorZero) {
  const Graph right = normalized(0.125F, 0);
  EXPECT_TRUE(changes_nothing(fed(right), right, normalized(0.25F, 0)));
  EXPECT_FALSE(changes_nothing(fed(right), normalized(0.125F, 0.5F), normalized(0.25F, 0.5F)));
}

Graph filtered(std::vector<float> w, const std::string& more = {}) {
  Net net("c = Conv(x, W)\n" + (more.empty() ? "y = Relu(c)" : more));
  return net.input("x", {1, 2, 2, 2}).constant("W", f32({2, 2, 1, 1}, std::move(w))).build();
}

TEST(FaultRedraw, ExchangedChannelsThatAreEqual) {
  const Graph equal = filtered({0.5F, 2, 0.5F, 2});
  EXPECT_TRUE(changes_nothing(fed(equal), equal, filtered({0.5F, 2, 0.5F, 2})));
  const Graph unlike = filtered({0.5F, 2, 2, 0.5F});
  EXPECT_FALSE(changes_nothing(fed(unlike), unlike, filtered({2, 0.5F, 0.5F, 2})));
}

TEST(FaultRedraw, OneUnitInTheLastPlaceIsAFault) {
  const Graph right = filtered({0.5F, 2, 1, 3});
  const Graph wrong = filtered({std::nextafter(0.5F, 1.0F), 2, 1, 3});
  EXPECT_FALSE(changes_nothing(fed(right), right, wrong));
}

TEST(FaultRedraw, ReluBehindReluHides) {
  const Graph twice = filtered({0.5F, 2, -1, -3}, "r = Relu(c)\ny = Relu(r)");
  EXPECT_TRUE(hides_in_rounding(fed(twice), filtered({0.5F, 2, -1, -3})));
  EXPECT_FALSE(hides_in_rounding(fed(twice), filtered({0.5F, 2, -1, -3}, "y = Identity(c)")));
}

/// A node with a subgraph has no radius: what it captures is compared.
TEST(FaultRedraw, RoundingInFrontOfASubgraphHides) {
  const auto third = [](const std::string& op, float k) {
    GraphMaker m(1, 13, DType::float32);
    const Cell x = m.input(image);
    const Cell y = m.binary(op, x, m.plain("k", m.scalar(static_cast<double>(k))));
    m.graph().add_output(m.captured(y).id);
    RandomGraph r = fed(m.graph());
    for (const auto& [name, t] : m.given) r.samples[0][name] = t;
    return r;
  };
  const RandomGraph divided = third("Div", 3);
  EXPECT_TRUE(hides_in_rounding(divided, third("Mul", 1.0F / 3).graph));
  EXPECT_FALSE(changes_nothing(divided, divided.graph, third("Mul", 1.0F / 3).graph));
  EXPECT_FALSE(hides_in_rounding(divided, third("Mul", 0.334F).graph));
}

}  // namespace
}  // namespace assay::testing::fault_redraw_test
