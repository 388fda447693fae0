#include "validation/programs.h"

#include <gtest/gtest.h>

#include "tests/support/quant_graphs.h"

namespace assay::programs_test {
namespace {

using test::f32;
using test::floats;
using test::GraphMaker;

/// y = x + c with x [n, 2]; c takes 8 bytes.
Graph add_constant() {
  GraphMaker m;
  m.input("x", DType::float32, {-1, 2}).constant("c", f32({2}, {10, 20}));
  m.node("Add", {"x", "c"}, {"y"}).output("y");
  return m.graph;
}

Feeds rows(std::int64_t n) {
  return {{"x", f32({n, 2}, std::vector<float>(static_cast<std::size_t>(2 * n), 1))}};
}

void expect_right(kernels::Program& p, std::int64_t n) {
  std::vector<float> want;
  for (std::int64_t i = 0; i < n; ++i) want.insert(want.end(), {11, 21});
  EXPECT_EQ(floats(p.run(rows(n)).at("y")), want);
}

// Three programs of 8 bytes fit into 31; the fourth drives out the one not used for longest.
TEST(Programs, KeepsTheLastUsedWithinTheBudget) {
  Programs programs(add_constant(), 31);
  kernels::Program* const first = &programs.for_shapes_of(rows(1));
  programs.for_shapes_of(rows(2));
  kernels::Program* const third = &programs.for_shapes_of(rows(3));
  EXPECT_EQ(programs.size(), 3);
  EXPECT_EQ(&programs.for_shapes_of(rows(1)), first);
  expect_right(programs.for_shapes_of(rows(4)), 4);
  EXPECT_EQ(programs.size(), 3);
  EXPECT_EQ(&programs.for_shapes_of(rows(3)), third);
  EXPECT_EQ(&programs.for_shapes_of(rows(1)), first);
  expect_right(programs.for_shapes_of(rows(2)), 2);
  EXPECT_EQ(programs.size(), 3);
}

TEST(Programs, KeepsOneWhenWeightsExceedTheBudget) {
  Programs programs(add_constant(), 7);
  for (const std::int64_t n : {1, 2, 1}) {
    expect_right(programs.for_shapes_of(rows(n)), n);
    EXPECT_EQ(programs.size(), 1);
  }
}

}  // namespace
}  // namespace assay::programs_test
