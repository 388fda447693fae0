// Scan: running sums, directions, axes, errors.
#include <gtest/gtest.h>

#include "tests/support/op_call.h"

namespace assay::test::scan_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

/// state' = state + slice; scan output = state'.
GraphPtr running_sum() {
  Graph g;
  g.info.opsets = {{"", 17}};
  const ValueId state = g.add_input("state", {DType::float32, std::nullopt});
  const ValueId slice = g.add_input("slice", {DType::float32, std::nullopt});
  const ValueId sum = g.add_value("sum"), copy = g.add_value("copy");
  g.add_node({.name = "a", .op_type = "Add", .inputs = {state, slice}, .outputs = {sum}});
  g.add_node({.name = "b", .op_type = "Identity", .inputs = {sum}, .outputs = {copy}});
  g.add_output(sum);
  g.add_output(copy);
  return std::make_shared<const Graph>(std::move(g));
}

std::vector<Tensor> scan(Tensor start, Tensor x, Attributes a) {
  a.set("num_scan_inputs", std::int64_t{1});
  a.set("body", running_sum());
  OpCall call{"Scan", {std::move(start), std::move(x)}, std::move(a)};
  call.outputs = 2;
  return run(call);
}

TEST(Scan, Forwards) {
  const auto y = scan(tensor({1}, {10}), tensor({3, 1}, {1, 2, 3}), {});
  EXPECT_EQ(values(y[0]), (Floats{16}));
  EXPECT_EQ(y[1].shape(), (Shape{3, 1}));
  EXPECT_EQ(values(y[1]), (Floats{11, 13, 16}));
}

TEST(Scan, BackwardsAlongTheSecondAxis) {
  const auto y = scan(tensor({1}, {0}), tensor({1, 3}, {1, 2, 3}),
                      {{"scan_input_axes", Ints{1}},
                       {"scan_input_directions", Ints{1}},
                       {"scan_output_axes", Ints{-1}},
                       {"scan_output_directions", Ints{1}}});
  EXPECT_EQ(y[1].shape(), (Shape{1, 3}));
  EXPECT_EQ(values(y[1]), (Floats{6, 5, 3}));
}

TEST(Scan, ListOfTheWrongLength) {
  const auto call = [] {
    scan(tensor({1}, {0}), tensor({1, 3}, {1, 2, 3}), {{"scan_input_axes", Ints{0, 1}}});
  };
  EXPECT_NE(error_of(call).find("scan_input_axes"), std::string::npos);
}

}  // namespace
}  // namespace assay::test::scan_test
