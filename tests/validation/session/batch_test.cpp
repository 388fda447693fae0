#include "validation/session/batch.h"

#include <gtest/gtest.h>

#include "tests/support/quant_graphs.h"

namespace assay::batch_test {
namespace {

using test::f32;
using test::GraphMaker;

constexpr std::int64_t row = 4 * 4;  // bytes of one sample of every value below: four float32

Feeds sample() { return {{"x", f32({1, 4}, {1, 2, 3, 4})}}; }

/// s = x + relu(x) needs x, relu(x) and s at one time, y = relu(s + c) two values.
Graph skip_connection(std::int64_t first_axis) {
  GraphMaker m;
  m.input("x", DType::float32, {first_axis, 4}).constant("c", f32({4}, {1, 2, 3, 4}));
  m.node("Relu", {"x"}, {"a"}).node("Add", {"a", "x"}, {"s"});
  m.node("Add", {"s", "c"}, {"t"}).node("Relu", {"t"}, {"y"}).output("y");
  return m.graph;
}

TEST(Batch, PeakIsTheLargestSumOfValuesAliveTogether) {
  EXPECT_EQ(peak_activation_bytes(skip_connection(-1), shapes_of(sample())), 3 * row);
}

TEST(Batch, OutputsStayAliveToTheEnd) {
  for (const bool kept : {false, true}) {
    GraphMaker m;
    m.input("x", DType::float32, {-1, 4});
    m.node("Relu", {"x"}, {"a"}).node("Relu", {"a"}, {"b"}).node("Relu", {"b"}, {"c"});
    if (kept) m.output("a");
    m.output("c");
    EXPECT_EQ(peak_activation_bytes(m.graph, shapes_of(sample())), (kept ? 3 : 2) * row);
  }
}

TEST(Batch, IsHalvedUntilActivationsFit) {
  const Graph g = skip_connection(-1);
  EXPECT_EQ(usable_batch(g, sample(), 16, 16 * 3 * row), 16);
  EXPECT_EQ(usable_batch(g, sample(), 16, 16 * 3 * row - 1), 8);
  EXPECT_EQ(usable_batch(g, sample(), 16, 4 * 3 * row), 4);
  EXPECT_EQ(usable_batch(g, sample(), 16, row), 1);
  EXPECT_EQ(usable_batch(g, sample(), 3, 2 * 3 * row), 1);
}

TEST(Batch, IsOneWhereSamplesCannotBeStacked) {
  EXPECT_EQ(usable_batch(skip_connection(1), sample(), 16, 1 << 20), 1);
  EXPECT_EQ(usable_batch(skip_connection(-1), sample(), 1, 1 << 20), 1);
}

}  // namespace
}  // namespace assay::batch_test
