// The float32 families beside convolution, each against the correctly rounded reference evaluation
// of the same node. Bounds: a dot product or mean of n terms in any order is off by at most gamma_n
// * sum |terms| with gamma_n = n u / (1 - n u), u = 2^-24; here the sum is bounded by n * max|a| *
// max|b|. Selections and copies must give the same bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "kernels/program.h"
#include "runtime/executor.h"
#include "tests/kernels/graph_maker.h"

namespace assay::kernels::families_test {
namespace {

constexpr double u = 5.9604644775390625e-08;  // 2^-24

double gamma(std::int64_t n) {
  return static_cast<double>(n) * u / (1 - static_cast<double>(n) * u);
}

struct Outcome {
  double worst = 0;    // largest difference to the reference
  double largest = 0;  // largest value of the reference
  bool same = false;   // bits
  std::string kernel;
};

Outcome run_both(const GraphMaker& m, const Feeds& feeds, const std::string& op) {
  Program p = Program::compile(m.graph, {}, {.threads = 2});
  Outcome o;
  for (const StepInfo& s : p.steps()) {
    EXPECT_FALSE(s.reference()) << s.op << ": " << s.reason;
    EXPECT_NE(s.kernel.rfind("ref", 0), 0U) << s.op << " " << s.kernel;
    if (s.op == op) o.kernel = s.kernel;
  }
  const Tensor got = p.run(feeds).at("y");
  const Tensor want = Executor(m.graph, Precision::cr).run(feeds).at("y");
  EXPECT_EQ(describe(got), describe(want));
  const auto a = to_doubles(got), b = to_doubles(want);
  for (std::size_t i = 0; i < a.size(); ++i) {
    o.worst = std::max(o.worst, std::abs(a[i] - b[i]));
    o.largest = std::max(o.largest, std::abs(b[i]));
  }
  o.same = same_bits(got, want);
  return o;
}

struct GemmCase {
  std::int64_t m, k, n;
  bool trans_a, trans_b, bias;
};

TEST(F32Gemm, StaysInsideTheAnyOrderBound) {
  for (const GemmCase& c :
       {GemmCase{1, 2048, 1000, false, true, true}, GemmCase{3, 70, 5, true, false, true},
        GemmCase{17, 64, 33, false, false, false}, GemmCase{5, 31, 7, true, true, true}}) {
    GraphMaker g;
    Random random(6);
    const Shape a = c.trans_a ? Shape{c.k, c.m} : Shape{c.m, c.k},
                b = c.trans_b ? Shape{c.n, c.k} : Shape{c.k, c.n};
    std::vector<ValueId> in{g.input("a", DType::float32, a), g.constant("b", random.reals(b))};
    if (c.bias) in.push_back(g.constant("c", random.reals({c.n})));
    const Attributes at{{"transA", std::int64_t{c.trans_a}}, {"transB", std::int64_t{c.trans_b}}};
    g.graph.add_output(g.node("Gemm", "y", in, DType::float32, {c.m, c.n}, at));
    const Outcome o = run_both(g, {{"a", random.reals(a)}}, "Gemm");
    EXPECT_LE(o.worst, gamma(c.k + 1) * static_cast<double>(c.k + 1)) << o.kernel;
  }
}

TEST(F32MatMul, BatchesBroadcast) {
  Random random(6);
  const std::vector<std::pair<Shape, Shape>> cases{{{2, 3, 5, 16}, {2, 3, 16, 7}},
                                                   {{2, 3, 5, 16}, {16, 7}},
                                                   {{1, 3, 5, 16}, {2, 1, 16, 7}},
                                                   {{5, 16}, {16, 7}}};
  for (const auto& [a, b] : cases) {
    for (const bool constant : {false, true}) {
      GraphMaker g;
      const ValueId x = g.input("a", DType::float32, a);
      Feeds feeds{{"a", random.reals(a)}};
      const Tensor right = random.reals(b);
      const ValueId w = constant ? g.constant("b", right) : g.input("b", DType::float32, b);
      if (!constant) feeds["b"] = right;
      std::vector<std::int64_t> y(
          broadcast(Shape(std::vector(a.dims().begin(), a.dims().end() - 2)),
                    Shape(std::vector(b.dims().begin(), b.dims().end() - 2)))
              ->vec());
      y.push_back(5);
      y.push_back(7);
      g.graph.add_output(g.node("MatMul", "y", {x, w}, DType::float32, Shape(y)));
      EXPECT_LE(run_both(g, feeds, "MatMul").worst, gamma(16) * 16);
    }
  }
}

TEST(F32ConvTranspose, StaysInsideTheAnyOrderBound) {
  Random random(8);
  for (const std::int64_t group : {std::int64_t{1}, std::int64_t{2}}) {
    GraphMaker g;
    const ValueId x = g.input("x", DType::float32, {1, 8, 5, 6});
    const ValueId w = g.constant("w", random.reals({8, 6 / group, 2, 2})),
                  b = g.constant("b", random.reals({6}));
    const Attributes at{{"strides", std::vector<std::int64_t>{2, 2}},
                        {"group", group},
                        {"kernel_shape", std::vector<std::int64_t>{2, 2}}};
    g.graph.add_output(g.node("ConvTranspose", "y", {x, w, b}, DType::float32, {1, 6, 10, 12}, at));
    EXPECT_LE(run_both(g, {{"x", random.reals({1, 8, 5, 6})}}, "ConvTranspose").worst,
              gamma(33) * 33);
  }
}

// Windows apart and few output channels: a 1x1 convolution and a move.
TEST(F32ConvTranspose, SubpixelStaysInsideTheAnyOrderBound) {
  Random random(4);
  for (const bool relu : {false, true}) {
    GraphMaker g;
    const ValueId x = g.input("x", DType::float32, {2, 24, 5, 7});
    const ValueId w = g.constant("w", random.reals({24, 3, 2, 4})),
                  b = g.constant("b", random.reals({3}));
    const Attributes at{{"strides", std::vector<std::int64_t>{2, 4}},
                        {"kernel_shape", std::vector<std::int64_t>{2, 4}}};
    const std::string op = relu ? "ConvTransposeRelu" : "ConvTranspose";
    g.graph.add_output(
        g.node(op, "y", {x, w, b}, DType::float32, {2, 3, 10, 28}, at, relu ? "ai.assay" : ""));
    const Outcome o = run_both(g, {{"x", random.reals({2, 24, 5, 7})}}, op);
    EXPECT_EQ(o.kernel.rfind("native:subpixel", 0), 0U) << o.kernel;
    EXPECT_LE(o.worst, gamma(25) * 25);
  }
}

TEST(F32Pool, MaxGivesTheSameBits) {
  GraphMaker g;
  const ValueId x = g.input("x", DType::float32, {2, 16, 11, 9});
  const Attributes at{{"kernel_shape", std::vector<std::int64_t>{3, 3}},
                      {"strides", std::vector<std::int64_t>{2, 2}},
                      {"pads", std::vector<std::int64_t>{1, 1, 1, 1}}};
  g.graph.add_output(g.node("MaxPool", "y", {x}, DType::float32, {2, 16, 6, 5}, at));
  EXPECT_TRUE(run_both(g, {{"x", Random(1).reals({2, 16, 11, 9})}}, "MaxPool").same);
}

TEST(F32Pool, AveragesStayInsideTheBound) {
  for (const std::int64_t count_pad : {std::int64_t{0}, std::int64_t{1}}) {
    GraphMaker g;
    const ValueId x = g.input("x", DType::float32, {1, 8, 7, 9});
    const Attributes at{{"kernel_shape", std::vector<std::int64_t>{3, 2}},
                        {"strides", std::vector<std::int64_t>{2, 1}},
                        {"pads", std::vector<std::int64_t>{1, 1, 1, 0}},
                        {"count_include_pad", count_pad}};
    g.graph.add_output(g.node("AveragePool", "y", {x}, DType::float32, {1, 8, 4, 9}, at));
    EXPECT_LE(run_both(g, {{"x", Random(1).reals({1, 8, 7, 9})}}, "AveragePool").worst, gamma(7));
  }
  GraphMaker g;
  const ValueId x = g.input("x", DType::float32, {2, 24, 7, 7});
  g.graph.add_output(g.node("GlobalAveragePool", "y", {x}, DType::float32, {2, 24, 1, 1}));
  EXPECT_LE(run_both(g, {{"x", Random(1).reals({2, 24, 7, 7})}}, "GlobalAveragePool").worst,
            gamma(50));
}

TEST(F32Pool, CeilModeKeepsTheLastWindow) {
  GraphMaker g;
  const ValueId x = g.input("x", DType::float32, {1, 4, 6, 6});
  const Attributes at{{"kernel_shape", std::vector<std::int64_t>{3, 3}},
                      {"strides", std::vector<std::int64_t>{2, 2}},
                      {"ceil_mode", std::int64_t{1}}};
  g.graph.add_output(g.node("MaxPool", "y", {x}, DType::float32, {1, 4, 3, 3}, at));
  EXPECT_TRUE(run_both(g, {{"x", Random(1).reals({1, 4, 6, 6})}}, "MaxPool").same);
}

// y = scale * (x - mean) / sqrt(var + eps) + bias with |x|, |mean|, |scale|, |bias| <= 1 and var >=
// 0.5: at most 8 roundings (two for the reciprocal root, up to 1 ulp each) of values below 2 /
// sqrt(0.5) + 1.
TEST(F32BatchNormalization, StaysWithinEightRoundings) {
  GraphMaker g;
  Random random(3);
  Tensor variance = random.reals({8});
  for (float& v : variance.mutable_data<float>()) v = 1.0F + 0.5F * v;
  const ValueId x = g.input("x", DType::float32, {1, 8, 5, 5});
  const std::vector<ValueId> in{x, g.constant("s", random.reals({8})),
                                g.constant("b", random.reals({8})),
                                g.constant("m", random.reals({8})), g.constant("v", variance)};
  g.graph.add_output(g.node("BatchNormalization", "y", in, DType::float32, {1, 8, 5, 5}));
  EXPECT_LE(run_both(g, {{"x", random.reals({1, 8, 5, 5})}}, "BatchNormalization").worst,
            8 * u * 4);
}

TEST(F32Eltwise, ClampsGiveTheSameBits) {
  for (const char* op : {"Relu", "Clip", "LeakyRelu"}) {
    GraphMaker g;
    const ValueId x = g.input("x", DType::float32, {3, 50});
    std::vector<ValueId> in{x};
    if (std::string(op) == "Clip")
      in = {x, g.constant("lo", Tensor::scalar(-0.25F)), g.constant("hi", Tensor::scalar(0.5F))};
    g.graph.add_output(g.node(op, "y", in, DType::float32, {3, 50}));
    EXPECT_TRUE(run_both(g, {{"x", Random(2).reals({3, 50})}}, op).same) << op;
  }
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Every 997th float32 from -30 to 30 and more: the error in units of 2^-24, relative above 1 and
// absolute below, is at most 8. The step check of `assay bench` builds on this figure.
TEST(F32Eltwise, ElementaryFunctionsStayWithinEightUnits) {
  std::vector<float> v;
  for (std::uint32_t bits = 0; bits < 0x42000000U; bits += 997) {
    float x = 0;
    std::memcpy(&x, &bits, 4);
    v.push_back(x);
    v.push_back(-x);
  }
  const Shape s{static_cast<std::int64_t>(v.size())};
  const Tensor x = Tensor::of<float>(s, std::span<const float>(v));
  const std::map<std::string, double (*)(double)> functions{
      {"Sigmoid", sigmoid},
      {"Tanh", [](double a) { return std::tanh(a); }},
      {"HardSigmoid",
       [](double a) { return std::clamp(static_cast<double>(0.2F) * a + 0.5, 0.0, 1.0); }},
      {"HardSwish", [](double a) { return a * std::clamp(a / 6 + 0.5, 0.0, 1.0); }},
      {"Elu", [](double a) { return a < 0 ? std::expm1(a) : a; }}};
  for (const auto& [op, f] : functions) {
    GraphMaker g;
    g.graph.info.opsets[""] = 14;
    g.graph.add_output(g.node(op, "y", {g.input("x", DType::float32, s)}, DType::float32, s));
    Program p = Program::compile(g.graph, {}, {.threads = 2});
    ASSERT_FALSE(p.steps()[0].reference()) << op;
    const Tensor y = p.run({{"x", x}}).at("y");
    double worst = 0;
    for (std::size_t i = 0; i < v.size(); ++i) {
      const double want = f(static_cast<double>(v[i]));
      const double error =
          std::abs(static_cast<double>(y.data<float>()[i]) - want) / std::max(1.0, std::abs(want));
      worst = std::max(worst, error / u);
    }
    EXPECT_LE(worst, 8) << op;
  }
}

TEST(Native, NearestResizeGivesTheSameBits) {
  for (const char* mode : {"asymmetric", "half_pixel", "align_corners"}) {
    for (const char* rounding : {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"}) {
      GraphMaker g;
      const ValueId x = g.input("x", DType::float32, {1, 4, 5, 7});
      const ValueId scales = g.constant("scales", Tensor::of<float>({4}, {1, 1, 2, 2}));
      const Attributes at{{"mode", std::string("nearest")},
                          {"coordinate_transformation_mode", std::string(mode)},
                          {"nearest_mode", std::string(rounding)}};
      g.graph.add_output(
          g.node("Resize", "y", {x, {}, scales}, DType::float32, {1, 4, 10, 14}, at));
      EXPECT_TRUE(run_both(g, {{"x", Random(2).reals({1, 4, 5, 7})}}, "Resize").same)
          << mode << " " << rounding;
    }
  }
}

TEST(Native, TransposeGivesTheSameBits) {
  for (const auto& perm : std::vector<std::vector<std::int64_t>>{
           {2, 0, 1, 3}, {3, 2, 1, 0}, {0, 1, 3, 2}, {0, 3, 1, 2}}) {
    const Shape in{2, 3, 4, 5};
    std::vector<std::int64_t> out;
    for (const std::int64_t p : perm) out.push_back(in[p]);
    GraphMaker g;
    const ValueId x = g.input("x", DType::float32, in);
    g.graph.add_output(g.node("Transpose", "y", {x}, DType::float32, Shape(out), {{"perm", perm}}));
    EXPECT_TRUE(run_both(g, {{"x", Random(2).reals(in)}}, "Transpose").same);
  }
}

// Softmax of values in [-1, 1]: exp, sum of n positive terms and a quotient, each within a few
// units in the last place of numbers at most 1; oneDNN states no bound for its exponential, so this
// is gamma_n for the sum plus 8 roundings.
TEST(F32Softmax, StaysInsideTheBound) {
  GraphMaker g;
  const ValueId x = g.input("x", DType::float32, {4, 100});
  g.graph.add_output(g.node("Softmax", "y", {x}, DType::float32, {4, 100}));
  const Outcome o = run_both(g, {{"x", Random(2).reals({4, 100})}}, "Softmax");
  EXPECT_LE(o.worst, (gamma(100) + 8 * u) * o.largest);
}

TEST(F32Reduce, MeansStayInsideTheBound) {
  GraphMaker g;
  const ValueId x = g.input("x", DType::float32, {3, 7, 32});
  g.graph.add_output(g.node("ReduceMean", "y", {x}, DType::float32, {3, 7, 1},
                            {{"axes", std::vector<std::int64_t>{2}}}));
  EXPECT_LE(run_both(g, {{"x", Random(2).reals({3, 7, 32})}}, "ReduceMean").worst, gamma(33));
}

}  // namespace
}  // namespace assay::kernels::families_test
