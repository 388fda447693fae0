// If and Loop: branches that read outer values, states, scan outputs, loops without an iteration.
#include <gtest/gtest.h>

#include "tests/support/op_call.h"

namespace assay::test::control_flow_test {
namespace {

using Floats = std::vector<float>;

Graph new_graph() {
  Graph g;
  g.info.opsets = {{"", 17}};
  return g;
}

GraphPtr shared(Graph g) { return std::make_shared<const Graph>(std::move(g)); }

/// out = op(outer value "x").
GraphPtr branch(const char* op) {
  Graph g = new_graph();
  const ValueId x = g.add_capture("x"), y = g.add_value(std::string(op) + "_out");
  g.add_node({.name = "body", .op_type = op, .inputs = {x}, .outputs = {y}});
  g.add_output(y);
  return shared(std::move(g));
}

/// y = c ? -x : |x|.
void add_if(Graph& g, ValueId c) {
  const ValueId x = g.add_input("x", {DType::float32, std::nullopt});
  const ValueId y = g.add_value("y");
  g.add_node({.name = "if",
              .op_type = "If",
              .inputs = {c},
              .outputs = {y},
              .attributes = {{"then_branch", branch("Neg")}, {"else_branch", branch("Abs")}},
              .captures = {x}});
  g.add_output(y);
}

Floats run_if(bool condition) {
  Graph g = new_graph();
  const ValueId c = g.add_input("c", {DType::boolean, std::vector<Dim>{}});
  add_if(g, c);
  const Executor executor(std::move(g), Precision::cr);
  return values(
      executor.run({{"c", Tensor::scalar<bool>(condition)}, {"x", tensor({2}, {1, -2})}}).at("y"));
}

TEST(If, RunsOneBranch) {
  EXPECT_EQ(run_if(true), (Floats{-1, 2}));
  EXPECT_EQ(run_if(false), (Floats{1, 2}));
}

/// state' = state + outer "x", scan output = state'; goes on while state' < 10.
GraphPtr adding_body() {
  Graph g = new_graph();
  const ValueId i = g.add_input("i", {DType::int64, std::vector<Dim>{}});
  const ValueId go = g.add_input("go", {DType::boolean, std::vector<Dim>{}});
  const ValueId state = g.add_input("state", {DType::float32, std::nullopt});
  const ValueId x = g.add_capture("x");
  const ValueId sum = g.add_value("sum", {DType::float32, std::vector<Dim>{{1, ""}}});
  const ValueId copy = g.add_value("copy", {DType::float32, std::vector<Dim>{{1, ""}}});
  const ValueId less = g.add_value("less"), flag = g.add_value("flag");
  const ValueId ten = g.add_initializer("ten", tensor({1}, {10}));
  const ValueId none = g.add_initializer("none", ints({0}, {}));
  g.add_node({.name = "a", .op_type = "Add", .inputs = {state, x}, .outputs = {sum}});
  g.add_node({.name = "b", .op_type = "Identity", .inputs = {sum}, .outputs = {copy}});
  g.add_node({.name = "c", .op_type = "Less", .inputs = {sum, ten}, .outputs = {less}});
  g.add_node({.name = "d", .op_type = "Reshape", .inputs = {less, none}, .outputs = {flag}});
  for (const ValueId v : {flag, sum, copy}) g.add_output(v);
  EXPECT_TRUE(i.valid() && go.valid());
  return shared(std::move(g));
}

std::map<std::string, Tensor> run_loop(std::optional<std::int64_t> trips, float start, float x) {
  Graph g = new_graph();
  const ValueId m = trips ? g.add_initializer("m", ints({}, {*trips})) : ValueId{};
  const ValueId state = g.add_input("start", {DType::float32, std::nullopt});
  const ValueId outer = g.add_input("x", {DType::float32, std::nullopt});
  const ValueId last = g.add_value("last"), all = g.add_value("all");
  g.add_node({.name = "loop",
              .op_type = "Loop",
              .inputs = {m, ValueId{}, state},
              .outputs = {last, all},
              .attributes = {{"body", adding_body()}},
              .captures = {outer}});
  g.add_output(last);
  g.add_output(all);
  const Executor executor(std::move(g), Precision::cr);
  return executor.run({{"start", tensor({1}, {start})}, {"x", tensor({1}, {x})}});
}

TEST(Loop, StopsAtTheTripCount) {
  const auto y = run_loop(2, 0, 3);
  EXPECT_EQ(values(y.at("last")), (Floats{6}));
  EXPECT_EQ(y.at("all").shape(), (Shape{2, 1}));
  EXPECT_EQ(values(y.at("all")), (Floats{3, 6}));
}

TEST(Loop, StopsAtTheCondition) {
  EXPECT_EQ(values(run_loop(std::nullopt, 0, 4).at("all")), (Floats{4, 8, 12}));
}

TEST(Loop, WithoutAnIteration) {
  const auto y = run_loop(0, 5, 1);
  EXPECT_EQ(values(y.at("last")), (Floats{5}));
  EXPECT_EQ(y.at("all").shape(), (Shape{0, 1}));
}

TEST(If, ConditionThatIsNotOneBool) {
  Graph g = new_graph();
  const ValueId c = g.add_initializer("c", tensor({1}, {1}));
  add_if(g, c);
  const Executor executor(std::move(g), Precision::cr);
  EXPECT_NE(error_of([&] {
              executor.run({{"x", tensor({1}, {1})}});
            }).find("one bool"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::test::control_flow_test
