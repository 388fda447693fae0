// Runs of convolutions in bands of rows: integers small enough that every sum is exact in float32,
// so the values are those of the reference in any order.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/program.h"
#include "tests/kernels/graph_maker.h"

namespace assay::kernels::bands_test {
namespace {

struct Case {
  std::int64_t batch = 1, channels = 4, inner = 32, out = 4, height = 13, width = 11;
  std::int64_t kernel = 3, stride = 1, pad = 1, dilation = 1;
  bool residual = false;
  int threads = 2;
};

Tensor integers(const Shape& s, int size, std::uint32_t seed) {
  Random random(seed);
  Tensor t(DType::float32, s);
  for (float& v : t.mutable_data<float>()) v = static_cast<float>(random.integer(-size, size));
  return t;
}

Attributes depthwise(const Case& c) {
  using Ints = std::vector<std::int64_t>;
  return {{"group", c.inner},
          {"strides", Ints{c.stride, c.stride}},
          {"dilations", Ints{c.dilation, c.dilation}},
          {"pads", Ints{c.pad, c.pad, c.pad, c.pad}}};
}

/// The inverted residual of MobileNetV2: 1x1 and Relu, depthwise and Relu, 1x1, and the skip.
struct Block {
  GraphMaker m;
  ValueId x, expanded, deep, y;
  Shape in;
};

Block block_of(const Case& c) {
  Block b;
  GraphMaker& m = b.m;
  const auto conv = [&](const std::string& type, const std::string& name, std::vector<ValueId> in,
                        const Shape& w, const Shape& y, const Attributes& a = {}) {
    in.insert(in.begin() + 1, m.constant(name + "w", integers(w, 2, 7)));
    in.insert(in.begin() + 2, m.constant(name + "b", integers({w[0]}, 3, 8)));
    return m.node(type, name, std::move(in), DType::float32, y, a,
                  type == "Conv" ? "" : "ai.assay");
  };
  const auto size = [&](std::int64_t n) {
    return (n + 2 * c.pad - (c.kernel - 1) * c.dilation - 1) / c.stride + 1;
  };
  b.in = {c.batch, c.channels, c.height, c.width};
  b.x = m.input("x", DType::float32, b.in);
  b.expanded = conv("ConvRelu", "expanded", {b.x}, {c.inner, c.channels, 1, 1},
                    {c.batch, c.inner, c.height, c.width});
  const Shape deep{c.batch, c.inner, size(c.height), size(c.width)};
  b.deep =
      conv("ConvRelu", "deep", {b.expanded}, {c.inner, 1, c.kernel, c.kernel}, deep, depthwise(c));
  std::vector<ValueId> in{b.deep};
  if (c.residual) in.push_back(b.x);
  b.y = conv(c.residual ? "ConvAdd" : "Conv", "y", in, {c.out, c.inner, 1, 1},
             {c.batch, c.out, deep[2], deep[3]});
  return b;
}

bool in_bands(const StepInfo& s) { return s.kernel.rfind("bands:", 0) == 0; }

std::int64_t banded(const Program& p) {
  return std::count_if(p.steps().begin(), p.steps().end(), in_bands);
}

void check(const Case& c) {
  Block b = block_of(c);
  b.m.graph.add_output(b.y);
  const Feeds feeds{{"x", integers(b.in, 4, 9)}};
  const auto want = to_doubles(Executor(b.m.graph, Precision::f32).run(feeds).at("y"));
  for (const bool tune : {false, true}) {
    Program p = Program::compile(
        b.m.graph, {}, {.threads = c.threads, .tune = tune, .tune_rounds = 2, .fuse_chains = true});
    ASSERT_EQ(banded(p), 1);
    EXPECT_EQ(to_doubles(p.run(feeds).at("y")), want);
  }
}

TEST(Bands, EqualTheReference) {
  check({});
  check({.stride = 2});
  check({.residual = true});
  check({.batch = 3, .residual = true});
  check({.batch = 2, .kernel = 5, .stride = 2, .pad = 2});
  check({.kernel = 5, .pad = 2, .residual = true, .threads = 3});
  check({.height = 12, .width = 12, .pad = 0});
  check({.height = 12, .stride = 2, .threads = 1});
  check({.height = 20, .pad = 2, .dilation = 2});
}

std::int64_t banded_in(const Graph& g) {
  return banded(Program::compile(g, {}, {.threads = 2, .fuse_chains = true}));
}

TEST(Bands, OneStepForTheRun) {
  Block b = block_of({});
  b.m.graph.add_output(b.y);
  Program p = Program::compile(b.m.graph, {}, {.threads = 2, .fuse_chains = true});
  const auto step = std::find_if(p.steps().begin(), p.steps().end(), in_bands);
  ASSERT_NE(step, p.steps().end());
  EXPECT_EQ(step->node, "y");
  EXPECT_EQ(step->op, "ConvRelu,ConvRelu,Conv");
  // 13 x 11 positions: 4 x 32, 9 x 32 and 32 x 4 products each.
  EXPECT_EQ(step->macs, 143 * (128 + 288 + 128));
  EXPECT_EQ(banded(Program::compile(b.m.graph, {}, {.threads = 2})), 0);
}

TEST(Bands, NotWhenAValueInBetweenIsNeeded) {
  Block b = block_of({});
  b.m.graph.add_output(b.y);
  b.m.graph.add_output(b.expanded);
  b.m.graph.add_output(b.deep);
  EXPECT_EQ(banded_in(b.m.graph), 0);
}

// Between lie 32 x 4 x 4 values twice, the weights are 32 x (64 + 9 + 64).
TEST(Bands, NotWhenTheWeightsAreMore) {
  Block b = block_of({.channels = 64, .out = 64, .height = 4, .width = 4});
  b.m.graph.add_output(b.y);
  EXPECT_EQ(banded_in(b.m.graph), 0);
}

// In and out pass 2 x 40 values per position, in between 2 x 32.
TEST(Bands, NotWhenInputAndOutputAreMore) {
  Block b = block_of({.channels = 40, .out = 40, .height = 32, .width = 32});
  b.m.graph.add_output(b.y);
  EXPECT_EQ(banded_in(b.m.graph), 0);
}

// One row cannot be cut for two threads.
TEST(Bands, NotWithFewerRowsThanThreads) {
  Block b = block_of({.inner = 64, .height = 1, .width = 200});
  b.m.graph.add_output(b.y);
  EXPECT_EQ(banded_in(b.m.graph), 0);
}

}  // namespace
}  // namespace assay::kernels::bands_test
