// Executor: feeds, taps, precisions, observers, subgraphs, errors that name the node. With
// operators of this file alone.
#include "runtime/executor.h"

#include "tests/support/matchers.h"
#include "tests/support/quant_graphs.h"

namespace assay::test::executor_test {
namespace {

const std::string domain = "test.executor";

void same_type(InferContext& c) { c.set_output(0, c.input(0)); }

/// y = x * factor, over every real type.
void scale(EvalContext& c) {
  const float factor = c.attributes().float_or("factor", 2);
  visit_real(c.input(0).dtype(), [&]<class T>(std::type_identity<T>) {
    const auto x = c.in<T>(0);
    const auto y = c.out<T>(0);
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] * T(factor);
  });
}

void scale_cr(EvalContext& c) {
  scale(c);
  c.out<float>(0)[0] = 7;  // tells the two evaluations apart
}

void refuse(EvalContext&) { throw Error({.what = "will not"}); }

void huge(InferContext& c) { c.set_output(0, DType::float32, {std::int64_t{1} << 45}); }

void call(EvalContext& c) {
  auto out = c.run_subgraph(c.attributes().required_graph("body"), {c.input(0)});
  c.outputs[0] = out.at(0);
}
void unknown_type(InferContext& c) { c.set_output(0, TensorType{}); }

const RegisterOp operators{std::vector<OpDef>{
    {.type = "ExecutorTestScale", .domain = domain, .infer = same_type, .eval = scale},
    {.type = "ExecutorTestInPlace",
     .domain = domain,
     .infer = same_type,
     .eval = scale,
     .in_place = true},
    {.type = "ExecutorTestScaleCr",
     .domain = domain,
     .infer = same_type,
     .eval = scale,
     .cr = scale_cr},
    {.type = "ExecutorTestRefuse", .domain = domain, .infer = same_type, .eval = refuse},
    {.type = "ExecutorTestHuge", .domain = domain, .infer = huge, .eval = scale},
    {.type = "ExecutorTestCall", .domain = domain, .infer = unknown_type, .eval = call}}};

std::string op(const std::string& name) { return domain + ":ExecutorTest" + name; }

GraphMaker two_steps() {
  GraphMaker m;
  m.input("x", DType::float32, {-1, 2});
  m.node(op("Scale"), {"x"}, {"a"}).node(op("Scale"), {"a"}, {"y"}, {{"factor", 3.0F}}).output("y");
  return m;
}

const Tensor x = Tensor::of<float>({1, 2}, {1, -0.5F});

TEST(ExecutorTest, RunsAndTaps) {
  const Executor e(two_steps().graph, Precision::f32);
  const auto found = e.run({{"x", x}}, nullptr, {"a", "x"});
  expect_values(found.at("y"), {1, 2}, {6, -3});
  expect_values(found.at("a"), {1, 2}, {2, -1});
  expect_values(found.at("x"), {1, 2}, {1, -0.5});
  EXPECT_EQ(found.size(), 3U);
  expect_values(e.run({{"x", Tensor::of<float>({2, 2}, {1, 2, 3, 4})}}).at("y"), {2, 2},
                {6, 12, 18, 24});
}

TEST(ExecutorTest, WidensUnderF64AndDd) {
  EXPECT_EQ(Executor(two_steps().graph, Precision::f64).run({{"x", x}}).at("y").dtype(),
            DType::float64);
  EXPECT_EQ(Executor(two_steps().graph, Precision::dd).run({{"x", x}}).at("y").dtype(), DType::dd);
}

TEST(ExecutorTest, CrUsesItsOwnEvaluation) {
  GraphMaker m;
  m.input("x", DType::float32, {1, 2}).node(op("ScaleCr"), {"x"}, {"y"}).output("y");
  expect_values(Executor(m.graph, Precision::cr).run({{"x", x}}).at("y"), {1, 2}, {7, -1});
  expect_values(Executor(m.graph, Precision::f32).run({{"x", x}}).at("y"), {1, 2}, {2, -1});
}

TEST(ExecutorTest, FeedsAreChecked) {
  const Executor e(two_steps().graph, Precision::f32);
  const auto refused = [&](const Feeds& feeds, const std::vector<std::string>& parts) {
    expect_error([&] { e.run(feeds); }, ErrorKind::bad_input, parts);
  };
  refused({}, {"'x'", "not given", "--input x=FILE"});
  refused({{"x", x}, {"z", x}}, {"no such input", "'z'", "'x'"});
  refused({{"x", Tensor::of<double>({1, 2}, {1, 2})}}, {"'x'", "float64", "float32"});
  refused({{"x", Tensor::of<float>({1, 3}, {1, 2, 3})}}, {"'x'", "[1, 3]", "[?, 2]"});
  refused({{"x", Tensor::of<float>({2}, {1, 2})}}, {"'x'", "[2]"});
}

TEST(ExecutorTest, S08_DefaultsMayBeFedAndConstantsMayNot) {
  GraphMaker m;
  m.input("w", DType::float32, {2}).constant("c", Tensor::of<float>({2}, {5, 5}));
  m.node(op("Scale"), {"w"}, {"y"}).output("y");
  m.graph.set_initializer(*m.graph.find_value("w"), Tensor::of<float>({2}, {1, 2}));
  const Executor e(m.graph, Precision::f32);
  expect_values(e.run({}).at("y"), {2}, {2, 4});
  expect_values(e.run({{"w", Tensor::of<float>({2}, {3, 4})}}).at("y"), {2}, {6, 8});
  expect_error([&] { e.run({{"c", x}}); }, ErrorKind::bad_input, {"'c'", "constant"});
}

TEST(ExecutorTest, ErrorsNameTheNode) {
  GraphMaker m;
  m.input("x", DType::float32, {1, 2}).node(op("Refuse"), {"x"}, {"y"}).output("y");
  expect_error(
      [&] {
        Executor(m.graph, Precision::f32).run({{"x", x}});
      },
      ErrorKind::bad_input, {"'y_node'", "ExecutorTestRefuse", "will not"});
  GraphMaker unknown;
  unknown.input("x", DType::float32, {1}).node("test.nobody:Nothing", {"x"}, {"y"}).output("y");
  expect_error([&] { Executor(unknown.graph, Precision::f32); }, ErrorKind::unsupported,
               {"Nothing"});
}

TEST(ExecutorTest, S32_HugeOutputIsRefusedBeforeAllocating) {
  GraphMaker m;
  m.input("x", DType::float32, {1, 2}).node(op("Huge"), {"x"}, {"y"}).output("y");
  expect_error(
      [&] {
        Executor(m.graph, Precision::f32).run({{"x", x}});
      },
      ErrorKind::bad_input, {"'y_node'", "limit", "--max-tensor-bytes"});
}

struct Recorder : Observer {
  std::vector<std::string> values;
  int nodes = 0;
  int stop_after = 1000;
  void on_value(const Graph& g, ValueId v, const Tensor& t) override {
    EXPECT_TRUE(t.defined());
    values.push_back(g.name(v));
  }
  void on_node(const Graph&, NodeId, double seconds) override {
    EXPECT_GE(seconds, 0);
    ++nodes;
  }
  bool stop() override { return nodes >= stop_after; }
};

TEST(ExecutorTest, ObserverSeesInputsThenNodesAndMayStop) {
  const Executor e(two_steps().graph, Precision::f32);
  Recorder all;
  e.run({{"x", x}}, &all);
  EXPECT_EQ(all.values, (std::vector<std::string>{"x", "a", "y"}));
  Recorder early;
  early.stop_after = 1;
  EXPECT_EQ(e.run({{"x", x}}, &early).size(), 0U);
  EXPECT_EQ(early.nodes, 1);
}

/// A body that scales its input and then its capture `outer` stays unused or used.
GraphPtr body(const std::string& captured) {
  GraphMaker m;
  m.input("in", DType::float32, {1, 2});
  m.graph.add_capture(captured);
  m.node(op("Scale"), {captured}, {"out"}).output("out");
  return std::make_shared<Graph>(m.graph);
}

/// Where each value lay, and the values themselves when they are to be kept.
struct Memory : Observer {
  explicit Memory(bool keeps) : keeps(keeps) {}
  void on_value(const Graph& g, ValueId v, const Tensor& t) override {
    places[g.name(v)] = t.raw().data();
    if (keeps) kept[g.name(v)] = t;
  }
  bool keeps;
  std::map<std::string, const std::byte*> places;
  std::map<std::string, Tensor> kept;
};

// An operator may write over an input that nobody reads any more: not a fed tensor, not an
// initializer, not a value that has another reader, is asked for or kept by the observer.
TEST(ExecutorTest, WritesInPlaceOnlyOverSpentValues) {
  GraphMaker m;
  m.input("x", DType::float32, {-1, 2}).constant("w", Tensor::of<float>({1, 2}, {5, 6}));
  m.node(op("InPlace"), {"x"}, {"a"}).node(op("InPlace"), {"a"}, {"b"});
  m.node(op("InPlace"), {"b"}, {"c"}).node(op("InPlace"), {"b"}, {"d"});
  m.node(op("InPlace"), {"w"}, {"e"}).output("c").output("d").output("e");
  const Executor executor(m.graph, Precision::f32);
  Memory passing(false), keeping(true);
  for (int run = 0; run < 2; ++run) {
    const auto out = executor.run({{"x", x}}, &passing);
    EXPECT_EQ(to_doubles(out.at("c")), (std::vector<double>{8, -4}));
    EXPECT_EQ(to_doubles(out.at("d")), (std::vector<double>{8, -4}));
    EXPECT_EQ(to_doubles(out.at("e")), (std::vector<double>{10, 12}));
  }
  EXPECT_EQ(to_doubles(x), (std::vector<double>{1, -0.5}));
  EXPECT_NE(passing.places["a"], passing.places["x"]);
  EXPECT_EQ(passing.places["b"], passing.places["a"]);
  EXPECT_NE(passing.places["c"], passing.places["b"]);  // d reads b later
  EXPECT_EQ(passing.places["d"], passing.places["b"]);
  const auto out = executor.run({{"x", x}}, nullptr, {"a", "b"});
  EXPECT_EQ(to_doubles(out.at("a")), (std::vector<double>{2, -1}));
  EXPECT_EQ(to_doubles(out.at("b")), (std::vector<double>{4, -2}));
  executor.run({{"x", x}}, &keeping);
  EXPECT_EQ(to_doubles(keeping.kept["a"]), (std::vector<double>{2, -1}));
  EXPECT_EQ(to_doubles(keeping.kept["b"]), (std::vector<double>{4, -2}));
}

TEST(ExecutorTest, SubgraphsReadOuterValues) {
  for (const std::string captured : {"x", "c", "a"}) {  // an input, a constant, a computed value
    GraphMaker m;
    m.input("x", DType::float32, {1, 2}).constant("c", Tensor::of<float>({1, 2}, {10, 20}));
    m.node(op("Scale"), {"x"}, {"a"});
    Node node{.name = "call", .op_type = "ExecutorTestCall", .domain = domain};
    node.inputs = {*m.graph.find_value("x")};
    node.outputs = {m.graph.add_value("y")};
    node.captures = {*m.graph.find_value(captured)};
    node.attributes.set("body", body(captured));
    m.graph.add_node(node);
    m.output("y");
    const auto found = Executor(m.graph, Precision::f32).run({{"x", x}}).at("y");
    const double first = captured == "x" ? 2 : captured == "c" ? 20 : 4;
    EXPECT_EQ(to_doubles(found)[0], first) << captured;
  }
}

}  // namespace
}  // namespace assay::test::executor_test
