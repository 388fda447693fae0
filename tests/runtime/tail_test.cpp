// Tails: nodes that run on the elements of the node before them. A run with an observer goes node
// by node, so its values are what every other run must give, bit for bit. Which nodes run as a tail
// is told by operators of this file that count.
#include "runtime/tail.h"

#include <atomic>

#include "runtime/executor.h"
#include "tests/runtime/numeric/dot_oracle.h"
#include "tests/support/matchers.h"
#include "tests/support/op_call.h"
#include "tests/support/quant_graphs.h"

namespace assay::test::tail_test {
namespace {

const std::string domain = "test.tail";

std::atomic<std::int64_t> alone{0};     // elements that an eval computed
std::atomic<std::int64_t> together{0};  // elements that ran as a tail

void same_type(InferContext& c) { c.set_output(0, c.input(0)); }

template <class T>
RangeFn doubled(EvalContext& c, std::atomic<std::int64_t>& count) {
  return [x = c.in<T>(0), y = c.out<T>(0), &count](std::int64_t first, std::int64_t last) {
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i)
      y[i] = x[i] + x[i];
    count += last - first;
  };
}

RangeFn ranges(EvalContext& c, std::atomic<std::int64_t>& count) {
  RangeFn made;
  visit_real(c.input(0).dtype(),
             [&]<class T>(std::type_identity<T>) { made = doubled<T>(c, count); });
  return made;
}

void eval(EvalContext& c) { ranges(c, alone)(0, c.output(0).numel()); }
RangeFn prepare(EvalContext& c) { return ranges(c, together); }
RangeFn refuse(EvalContext&) { throw Error({.what = "will not"}); }
RangeFn not_here(EvalContext&) { return {}; }

OpDef twice(const std::string& type, Elementwise elementwise) {
  return {
      .type = type, .domain = domain, .infer = same_type, .eval = eval, .elementwise = elementwise};
}

const RegisterOp operators{std::vector<OpDef>{twice("TailTestTwice", {1, prepare}),
                                              twice("TailTestRefuse", {1, refuse}),
                                              twice("TailTestNotHere", {1, not_here})}};

std::string op(const std::string& name) { return domain + ":TailTest" + name; }

/// c = Conv(x, w), a 1x1 kernel that multiplies by 3.
GraphMaker times_three() {
  GraphMaker m;
  m.input("x", DType::float32, {1, 1, 1, 3});
  m.constant("w", Tensor::of<float>({1, 1, 1, 1}, {3}));
  m.node("Conv", {"x", "w"}, {"c"});
  return m;
}

const Feeds three{{"x", Tensor::of<float>({1, 1, 1, 3}, {1, -2, 0.5F})}};

struct Counts {
  std::int64_t alone, together;
  bool operator==(const Counts&) const = default;
};

std::map<std::string, Tensor> run(const Graph& g, const std::set<std::string>& also = {}) {
  alone = together = 0;
  return Executor(g, Precision::f64).run(three, nullptr, also);
}
Counts counts() { return {alone, together}; }

/// Every value of a run node by node.
struct Values : Observer {
  std::map<std::string, Tensor> found;
  void on_value(const Graph& g, ValueId v, const Tensor& t) override {
    found[g.name(v)] = t.clone();
  }
};

TEST(Tail, ChainRunsOnTheElementsOfItsHead) {
  GraphMaker m = times_three();
  m.node(op("Twice"), {"c"}, {"a"}).node("Relu", {"a"}, {"b"}).node(op("Twice"), {"b"}, {"y"});
  m.output("y");
  expect_values(run(m.graph).at("y"), {1, 1, 1, 3}, {12, 0, 6});
  EXPECT_EQ(counts(), (Counts{0, 6}));
  Values all;
  alone = together = 0;
  Executor(m.graph, Precision::f64).run(three, &all);
  expect_values(all.found.at("a"), {1, 1, 1, 3}, {6, -12, 3});
  expect_values(all.found.at("y"), {1, 1, 1, 3}, {12, 0, 6});
  EXPECT_EQ(counts(), (Counts{6, 0}));
}

// x = 1, -2, 0.5; c = 3 x; b = (c - 1) 2 / sqrt(4) + 4 = c + 3; s = b + x; y = max(s, 0).
TEST(Tail, HandComputedBlock) {
  for (const Precision p : {Precision::cr, Precision::f32, Precision::f64, Precision::dd}) {
    for (const bool swapped : {false, true}) {
      GraphMaker m = times_three();
      m.constant("scale", f32({1}, {2})).constant("bias", f32({1}, {4}));
      m.constant("mean", f32({1}, {1})).constant("variance", f32({1}, {4}));
      m.node("BatchNormalization", {"c", "scale", "bias", "mean", "variance"}, {"b"},
             {{"epsilon", 0.0F}});
      m.node("Add",
             swapped ? std::vector<std::string>{"x", "b"} : std::vector<std::string>{"b", "x"},
             {"s"});
      m.node("Relu", {"s"}, {"y"}).output("y");
      expect_values(Executor(m.graph, p).run(three).at("y"), {1, 1, 1, 3}, {7, 0, 5});
    }
  }
}

TEST(Tail, InnerValueThatIsAskedForIsDelivered) {
  GraphMaker m = times_three();
  m.node(op("Twice"), {"c"}, {"a"}).node(op("Twice"), {"a"}, {"b"}).node("Relu", {"b"}, {"y"});
  m.output("y");
  const auto found = run(m.graph, {"a"});
  expect_values(found.at("a"), {1, 1, 1, 3}, {6, -12, 3});
  expect_values(found.at("y"), {1, 1, 1, 3}, {12, 0, 6});
  EXPECT_EQ(counts(), (Counts{3, 3}));
  expect_values(run(m.graph, {"c"}).at("c"), {1, 1, 1, 3}, {3, -6, 1.5});
  EXPECT_EQ(counts(), (Counts{6, 0}));
  m.output("b");
  expect_values(run(m.graph).at("b"), {1, 1, 1, 3}, {12, -24, 6});
  EXPECT_EQ(counts(), (Counts{0, 6}));
}

TEST(Tail, ValueWithTwoReadersStays) {
  GraphMaker m = times_three();
  m.node(op("Twice"), {"c"}, {"a"}).node("Add", {"a", "c"}, {"y"}).output("y");
  expect_values(run(m.graph).at("y"), {1, 1, 1, 3}, {9, -18, 4.5});
  EXPECT_EQ(counts(), (Counts{3, 0}));
  GraphMaker squares = times_three();
  squares.node("Mul", {"c", "c"}, {"y"}).output("y");
  expect_values(run(squares.graph).at("y"), {1, 1, 1, 3}, {9, 36, 2.25});
}

// The sum is the tail of the convolution that comes later; both operands are there only then.
TEST(Tail, OtherOperandsComeBeforeTheHead) {
  GraphMaker m = times_three();
  m.node(op("Twice"), {"c"}, {"a"}).node("Conv", {"x", "w"}, {"d"});
  m.node(op("Twice"), {"d"}, {"e"}).node("Add", {"a", "e"}, {"s"});
  m.node(op("Twice"), {"s"}, {"y"}).output("y");
  const Graph& g = m.graph;
  const auto order = g.topological_order();
  std::vector<const OpDef*> ops;
  for (const NodeId n : order) ops.push_back(&require_op(g.node(n), 13));
  const auto chains = tail_chains({g, order, ops}, Precision::f64);
  const std::vector<std::vector<std::size_t>> want{{1}, {}, {3, 4, 5}, {}, {}, {}};
  EXPECT_EQ(chains, want);
  expect_values(run(g).at("y"), {1, 1, 1, 3}, {24, -48, 12});
  EXPECT_EQ(counts(), (Counts{0, 9}));
}

TEST(Tail, NotWhereTheOperatorSaysSoOrIsNoHead) {
  GraphMaker m = times_three();
  m.node(op("NotHere"), {"c"}, {"a"}).node(op("Twice"), {"a"}, {"y"}).output("y");
  expect_values(run(m.graph).at("y"), {1, 1, 1, 3}, {12, -24, 6});
  EXPECT_EQ(counts(), (Counts{6, 0}));
  GraphMaker pool = times_three();
  pool.node("MaxPool", {"c"}, {"a"}, {{"kernel_shape", std::vector<std::int64_t>{1, 1}}});
  pool.node(op("Twice"), {"a"}, {"y"}).output("y");
  run(pool.graph);
  EXPECT_EQ(counts(), (Counts{3, 0}));
}

// Operands that are broadcast, a shape that grows, a parameter in the place of an operand.
TEST(Tail, ShapesThatDifferAreNoTail) {
  GraphMaker m = times_three();
  m.constant("one", f32({1}, {1})).constant("rows", f32({2, 1, 1, 1}, {10, 20}));
  m.node("Add", {"c", "one"}, {"a"}).node("Add", {"a", "rows"}, {"y"}).output("y");
  expect_values(run(m.graph).at("y"), {2, 1, 1, 3}, {14, 5, 12.5, 24, 15, 22.5});
  GraphMaker limit;
  limit.input("x", DType::float32, {1, 1, 1, 1});
  limit.constant("w", f32({1, 1, 1, 1}, {3})).constant("nine", f32({1, 1, 1, 1}, {9}));
  limit.node("Conv", {"x", "w"}, {"c"}).node("Clip", {"nine", "", "c"}, {"y"}).output("y");
  expect_values(Executor(limit.graph, Precision::f32).run({{"x", f32({1, 1, 1, 1}, {2})}}).at("y"),
                {1, 1, 1, 1}, {6});
}

TEST(Tail, ErrorsNameTheirNode) {
  GraphMaker m = times_three();
  m.node(op("Refuse"), {"c"}, {"y"}).output("y");
  expect_error([&] { run(m.graph); }, ErrorKind::bad_input,
               {"'y_node'", "TailTestRefuse", "will not"});
  GraphMaker norm = times_three();
  for (const char* name : {"scale", "bias", "mean", "variance"})
    norm.constant(name, f32({2}, {1, 1}));
  norm.node("BatchNormalization", {"c", "scale", "bias", "mean", "variance"}, {"y"}).output("y");
  expect_error([&] { run(norm.graph); }, ErrorKind::bad_input,
               {"'y_node' (BatchNormalization)", "wrong size"});
  GraphMaker head;
  head.input("x", DType::float32, {1, 1, 1, 3}).constant("w", f32({2, 1, 1, 1}, {3, 3}));
  head.constant("bias", f32({1}, {1}));
  head.node("Conv", {"x", "w", "bias"}, {"c"}).node("Relu", {"c"}, {"y"}).output("y");
  expect_error([&] { run(head.graph); }, ErrorKind::bad_input, {"'c_node' (Conv)"});
}

struct Convolution {
  std::string name;
  Shape x, w;
  std::int64_t groups = 1;
  bool infinite = false;  ///< a weight is, which takes the path without blocks
};

const std::vector<Convolution> convolutions{
    {"49 columns, 2 blocks", {2, 16, 7, 7}, {19, 16, 3, 3}},
    {"rows of 13", {1, 3, 9, 13}, {9, 3, 3, 3}},
    {"many tasks", {1, 5, 30, 31}, {33, 5, 1, 1}},
    {"grouped", {1, 6, 8, 8}, {10, 3, 3, 3}, 2},
    {"depthwise", {2, 9, 11, 27}, {9, 1, 3, 3}, 9},
    {"infinite weight", {1, 2, 5, 6}, {3, 2, 3, 3}, 1, true},
    {"line", {2, 4, 40}, {5, 4, 3}},
};

Tensor filled(const Shape& shape, oracle::Fill kind, unsigned seed) {
  const auto v = oracle::fill(static_cast<std::size_t>(shape.numel()), kind, seed);
  return Tensor::of<float>(shape, std::span<const float>(v));
}

/// Constants of `block`.
GraphMaker block_constants(const Convolution& c, DType type, oracle::Fill kind, unsigned seed) {
  GraphMaker m;
  const auto constant = [&](const std::string& name, const Tensor& t) {
    m.constant(name, convert(t, type));
  };
  const std::int64_t channels = c.w[0];
  std::vector<std::int64_t> skip(static_cast<std::size_t>(c.x.rank()), 1);
  skip[0] = channels;
  skip[1] = c.x[1];
  Tensor w = filled(c.w, kind, seed);
  if (c.infinite) w.mutable_data<float>()[0] = std::numeric_limits<float>::infinity();
  constant("w", w);
  constant("skip_w", filled(Shape(skip), kind, seed + 1));
  for (const char* name : {"conv_bias", "scale", "bias", "mean"})
    constant(name, filled({channels}, kind, ++seed + 1));
  constant("variance", random_tensor({channels}, 0.5F, 2, seed));
  constant("low", f32({}, {-0.75F}));
  return m;
}

/// y = relu(skip - clip(skip + bn(conv(x)))), skip a 1x1 convolution of x.
Graph block(const Convolution& c, DType type, oracle::Fill kind, unsigned seed) {
  GraphMaker m = block_constants(c, type, kind, seed);
  const std::int64_t pad = c.w[2] == 3 ? 1 : 0;
  const std::vector<std::int64_t> pads(static_cast<std::size_t>(2 * (c.x.rank() - 2)), pad);
  m.input("x", type, c.x.vec()).node("Conv", {"x", "skip_w"}, {"skip"});
  m.node("Conv", {"x", "w", "conv_bias"}, {"c"}, {{"group", c.groups}, {"pads", pads}});
  m.node("BatchNormalization", {"c", "scale", "bias", "mean", "variance"}, {"b"});
  m.node("Add", {"skip", "b"}, {"s"}).node("Clip", {"s", "low"}, {"l"});
  m.node("Sub", {"skip", "l"}, {"d"}).node("Relu", {"d"}, {"y"}).output("y");
  return m.graph;
}

void expect_equal_runs(const Convolution& c, DType type, Precision p, oracle::Fill kind) {
  const Graph g = block(c, type, kind, 90);
  const Executor executor(g, p);
  const Feeds feeds{{"x", convert(filled(c.x, kind, 80), type)}};
  Values all;
  executor.run(feeds, &all);
  EXPECT_TRUE(same_bits(executor.run(feeds).at("y"), all.found.at("y")))
      << c.name << ' ' << to_string(type) << ' ' << to_string(p);
  const auto found = executor.run(feeds, nullptr, {"s"});
  EXPECT_TRUE(same_bits(found.at("s"), all.found.at("s"))) << c.name;
  EXPECT_TRUE(same_bits(found.at("y"), all.found.at("y"))) << c.name;
}

// Dyadic inputs make exact zeros and ties, which cr settles one by one before the tail runs.
TEST(Tail, BitsAreThoseOfTheRunNodeByNode) {
  for (const Convolution& c : convolutions) {
    for (const oracle::Fill kind : {oracle::Fill::normal, oracle::Fill::dyadic}) {
      for (const Precision p : {Precision::cr, Precision::f32, Precision::f64, Precision::dd})
        expect_equal_runs(c, DType::float32, p, kind);
    }
    expect_equal_runs(c, DType::float64, Precision::cr, oracle::Fill::dyadic);
    expect_equal_runs(c, DType::float16, Precision::cr, oracle::Fill::dyadic);
  }
}

// The coefficients of a normalization are kept between runs, not between types or parameters that
// are fed: y = (x - 0) scale / 1 + bias with scale 3, then 5.
TEST(Tail, KeptCoefficientsFollowTypeAndParameters) {
  GraphMaker m;
  m.graph.add_input("x", {});
  m.input("scale", DType::float32, {1});
  for (const char* name : {"bias", "mean"}) m.constant(name, f32({1}, {0}));
  m.constant("one", f32({1}, {1})).constant("three", f32({1}, {3}));
  m.node("BatchNormalization", {"x", "three", "bias", "mean", "one"}, {"k"}, {{"epsilon", 0.0F}});
  m.node("BatchNormalization", {"x", "scale", "bias", "mean", "one"}, {"y"}, {{"epsilon", 0.0F}});
  m.output("k").output("y");
  const Executor executor(m.graph, Precision::cr);
  for (const DType type : {DType::float32, DType::float64, DType::float32}) {
    for (const float scale : {3.0F, 5.0F}) {
      const auto found =
          executor.run({{"x", convert(f32({1, 1}, {2}), type)}, {"scale", f32({1}, {scale})}});
      expect_values(found.at("k"), {1, 1}, {6});
      expect_values(found.at("y"), {1, 1}, {2.0 * scale});
    }
  }
}

TEST(Tail, BitsDoNotDependOnSettings) {
  for (const Precision p : {Precision::cr, Precision::f32, Precision::f64}) {
    const Convolution& c = convolutions[0];
    const Executor executor(block(c, DType::float32, oracle::Fill::wide, 7), p);
    const Feeds feeds{{"x", filled(c.x, oracle::Fill::wide, 3)}};
    Values all;
    executor.run(feeds, &all);
    oracle::under_all_settings(
        [&] { ASSERT_TRUE(same_bits(executor.run(feeds).at("y"), all.found.at("y"))); });
  }
}

}  // namespace
}  // namespace assay::test::tail_test
