// Programs as a whole: layouts, aliases, taps, buffers taken over, inputs, errors.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/kernel.h"
#include "kernels/program.h"
#include "runtime/op.h"
#include "tests/kernels/graph_maker.h"

namespace assay::kernels::program_test {
namespace {

const Shape image{1, 8, 6, 5};

/// Convolution with a 1x1 identity kernel: brings its input to channels-last and keeps the values.
ValueId identity_conv(GraphMaker& m, const std::string& name, ValueId x, const Shape& s = image) {
  Tensor w = Tensor::zeros(DType::float32, {s[1], s[1], 1, 1});
  for (std::int64_t i = 0; i < s[1]; ++i)
    w.mutable_data<float>()[static_cast<std::size_t>(i * s[1] + i)] = 1;
  return m.node("Conv", name, {x, m.constant(name + "_w", w)}, DType::float32, s);
}

TEST(Program, ValuesComeBackInRowMajorOrderWhateverTheLayout) {
  GraphMaker m;
  const ValueId c = identity_conv(m, "c", m.input("x", DType::float32, image));
  m.graph.add_output(m.node("Relu", "y", {c}, DType::float32, image));
  Program p = Program::compile(m.graph, {}, {.threads = 2});
  const Tensor x = Random(1).reals(image);
  const auto out = p.run({{"x", x}}, {"c", "x", "missing"});
  EXPECT_TRUE(same_bits(out.at("c"), x));
  EXPECT_TRUE(same_bits(out.at("x"), x));
  EXPECT_EQ(out.count("missing"), 0U);
  for (std::size_t i = 0; i < 240; ++i) {
    EXPECT_EQ(out.at("y").data<float>()[i], std::max(0.0F, x.data<float>()[i]));
  }
}

// Positions and channels that are no multiples of the tiles of a layout copy.
TEST(Program, LayoutCopiesKeepEveryElement) {
  for (const Shape& s : {Shape{2, 35, 9, 71}, Shape{1, 16, 64, 65}, Shape{1, 1, 3, 5}}) {
    GraphMaker m;
    m.graph.add_output(identity_conv(m, "y", m.input("x", DType::float32, s), s));
    Program p = Program::compile(m.graph, {}, {.threads = 2});
    const Tensor in = Random(3).reals(s);
    EXPECT_TRUE(same_bits(p.run({{"x", in}}).at("y"), in));
  }
}

// The elements in the order of storage: the same multiset, whatever the layout.
TEST(Program, VisitShowsEveryWantedValue) {
  GraphMaker m;
  const ValueId c = identity_conv(m, "c", m.input("x", DType::float32, image));
  m.graph.add_output(m.node("Relu", "y", {c}, DType::float32, image));
  Program p = Program::compile(m.graph, {}, {.threads = 2});
  const Tensor x = Random(1).reals(image);
  std::map<std::string, std::vector<float>> seen;
  p.visit({{"x", x}}, {"c", "y", "missing"}, [&](const std::string& name, const Tensor& t) {
    seen[name].assign(t.data<float>().begin(), t.data<float>().end());
  });
  ASSERT_EQ(seen.size(), 2U);
  std::vector<float> want(x.data<float>().begin(), x.data<float>().end());
  std::sort(want.begin(), want.end());
  std::sort(seen["c"].begin(), seen["c"].end());
  EXPECT_EQ(seen["c"], want);
  for (float& v : want) v = std::max(v, 0.0F);
  std::sort(seen["y"].begin(), seen["y"].end());
  EXPECT_EQ(seen["y"], want);
}

// The arena of the second run may lie elsewhere: every step has to be bound to it.
TEST(Program, RestGivesTheArenaBackAndTheNextRunIsTheSame) {
  GraphMaker m;
  const ValueId c = identity_conv(m, "c", m.input("x", DType::float32, image));
  const ValueId one = m.constant("one", Tensor::scalar(1.0F));
  m.graph.add_output(m.node("Add", "y", {c, one}, DType::float32, image));
  Program p = Program::compile(m.graph, {}, {.threads = 2});
  const std::int64_t bytes = p.arena_bytes();
  EXPECT_GT(bytes, 0);
  std::vector<Tensor> in_its_place;
  for (const int seed : {1, 2}) {
    const Tensor x = Random(static_cast<std::uint32_t>(seed)).reals(image);
    const auto out = p.run({{"x", x}}, {"c"});
    EXPECT_EQ(p.arena_bytes(), bytes);
    p.rest();
    EXPECT_EQ(p.arena_bytes(), 0);
    EXPECT_TRUE(same_bits(out.at("c"), x));
    for (std::size_t i = 0; i < 240; ++i)
      EXPECT_EQ(out.at("y").data<float>()[i], x.data<float>()[i] + 1.0F);
    in_its_place.push_back(Tensor::zeros(DType::uint8, {bytes}));
  }
}

// Each Add takes over the buffer of the one before; the taps must still see every value.
TEST(Program, TapSeesAValueBeforeItsBufferIsTakenOver) {
  GraphMaker chain;
  const ValueId d = identity_conv(chain, "d", chain.input("x", DType::float32, image));
  const ValueId one = chain.constant("one", Tensor::scalar(1.0F));
  ValueId w = d;
  for (int i = 0; i < 5; ++i)
    w = chain.node("Add", "a" + std::to_string(i), {w, one}, DType::float32, image);
  chain.graph.add_output(w);
  Program p = Program::compile(chain.graph, {}, {.threads = 1});
  const Tensor x = Tensor::zeros(DType::float32, image);
  const auto out = p.run({{"x", x}}, {"d", "a0", "a1", "a2", "a3"});
  EXPECT_EQ(out.at("d").data<float>()[7], 0.0F);
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(out.at("a" + std::to_string(i)).data<float>()[7], static_cast<float>(i + 1));
}

TEST(Program, ReshapeAfterGlobalPoolRunsNothing) {
  GraphMaker m;
  const ValueId c = identity_conv(m, "c", m.input("x", DType::float32, image));
  const ValueId g = m.node("GlobalAveragePool", "g", {c}, DType::float32, {1, 8, 1, 1});
  m.graph.add_output(m.node("Flatten", "y", {g}, DType::float32, {1, 8}));
  Program p = Program::compile(m.graph, {}, {.threads = 1});
  for (const StepInfo& s : p.steps())
    EXPECT_TRUE(s.op == "Conv" || s.op == "GlobalAveragePool" || s.op == "Reorder") << s.op;
  Tensor x = Tensor::zeros(DType::float32, image);
  for (std::size_t i = 0; i < 240; ++i) x.mutable_data<float>()[i] = static_cast<float>(i / 30);
  const auto out = p.run({{"x", x}});
  for (std::size_t i = 0; i < 8; ++i)
    EXPECT_EQ(out.at("y").data<float>()[i], static_cast<float>(i));
}

TEST(Program, FlattenOfAChannelsLastTensorKeepsRowMajorOrder) {
  GraphMaker m;
  const ValueId c = identity_conv(m, "c", m.input("x", DType::float32, image));
  m.graph.add_output(m.node("Flatten", "y", {c}, DType::float32, {1, 240}));
  Program p = Program::compile(m.graph, {}, {.threads = 1});
  const Tensor x = Random(2).reals(image);
  EXPECT_TRUE(same_bits(p.run({{"x", x}}).at("y"), x.reshaped({1, 240})));
}

TEST(Program, TransposeToChannelsLastOfAChannelsLastTensorIsFree) {
  GraphMaker m;
  const ValueId c = identity_conv(m, "c", m.input("x", DType::float32, image));
  const Attributes perm{{"perm", std::vector<std::int64_t>{0, 2, 3, 1}}};
  m.graph.add_output(m.node("Transpose", "y", {c}, DType::float32, {1, 6, 5, 8}, perm));
  Program p = Program::compile(m.graph, {}, {.threads = 1});
  for (const StepInfo& s : p.steps()) EXPECT_NE(s.op, "Transpose");
  const Tensor x = Random(2).reals(image);
  const Tensor y = p.run({{"x", x}}).at("y");
  for (std::size_t pixel = 0; pixel < 30; ++pixel) {
    for (std::size_t k = 0; k < 8; ++k) {
      ASSERT_EQ(y.data<float>()[pixel * 8 + k], x.data<float>()[k * 30 + pixel]);
    }
  }
}

TEST(Program, ConcatJoinsChannelsInEitherLayout) {
  for (const bool last : {false, true}) {
    GraphMaker m;
    const ValueId x = m.input("x", DType::float32, image), z = m.input("z", DType::float32, image);
    const ValueId a = last ? identity_conv(m, "c", x) : x;
    m.graph.add_output(
        m.node("Concat", "y", {a, z}, DType::float32, {1, 16, 6, 5}, {{"axis", std::int64_t{1}}}));
    Program p = Program::compile(m.graph, {}, {.threads = 1});
    const Tensor tx = Random(2).reals(image), tz = Random(3).reals(image);
    const Tensor y = p.run({{"x", tx}, {"z", tz}}).at("y");
    for (std::size_t i = 0; i < 240; ++i) {
      ASSERT_EQ(y.data<float>()[i], tx.data<float>()[i]);
      ASSERT_EQ(y.data<float>()[240 + i], tz.data<float>()[i]);
    }
  }
}

TEST(Program, ArenaIsSmallerThanAllItsBuffers) {
  GraphMaker m;
  ValueId v = m.input("x", DType::float32, image);
  for (int i = 0; i < 12; ++i) v = identity_conv(m, "c" + std::to_string(i), v);
  m.graph.add_output(v);
  const Program p = Program::compile(m.graph, {}, {.threads = 1});
  const std::int64_t one = 960 * 4;
  EXPECT_LT(p.arena_bytes(), 13 * one);
}

// Weights that are dequantized in the graph are constants by the time kernels are chosen.
TEST(Program, NodesOnConstantsAreComputedOnce) {
  GraphMaker m;
  const ValueId x = m.input("x", DType::float32, {1, 2, 3, 3});
  const ValueId q = m.constant("q", Tensor::of<std::int8_t>({1, 2, 1, 1}, {4, -2}));
  const ValueId w = m.node("DequantizeLinear", "w", {q, m.constant("s", Tensor::scalar(0.5F))},
                           DType::float32, {1, 2, 1, 1});
  m.graph.add_output(m.node("Conv", "y", {x, w}, DType::float32, {1, 1, 3, 3}));
  Program p = Program::compile(m.graph, {}, {.threads = 1});
  for (const StepInfo& s : p.steps()) EXPECT_NE(s.op, "DequantizeLinear");
  Tensor in = Tensor::zeros(DType::float32, {1, 2, 3, 3});
  in.mutable_data<float>()[0] = 3;  // channel 0: 3 * 2
  in.mutable_data<float>()[9] = 1;  // channel 1: 1 * -1
  EXPECT_EQ(p.run({{"x", in}}).at("y").data<float>()[0], 5.0F);
}

TEST(Program, AnotherShapeThanCompiledIsRefused) {
  GraphMaker m;
  m.graph.add_input("x", {.dtype = DType::float32, .dims = std::vector<Dim>{{-1, "N"}, {4, {}}}});
  const ValueId x = *m.graph.find_value("x");
  m.graph.add_output(m.node("Identity", "y", {x}, DType::float32, {2, 4}));
  Program p = Program::compile(m.graph, {{"x", Shape{2, 4}}}, {.threads = 1});
  EXPECT_NO_THROW(p.run({{"x", Tensor::zeros(DType::float32, {2, 4})}}));
  EXPECT_THROW(p.run({{"x", Tensor::zeros(DType::float32, {3, 4})}}), Error);
  EXPECT_THROW(p.run({{"x", Tensor::zeros(DType::float64, {2, 4})}}), Error);
  EXPECT_THROW(p.run({}), Error);
}

TEST(Program, OperatorThatNobodyKnowsIsNamed) {
  GraphMaker m;
  const ValueId x = m.input("x", DType::float32, {2});
  m.graph.add_output(m.node("NoSuchOperator", "y", {x}, DType::float32, {2}));
  try {
    Program::compile(m.graph, {}, {.threads = 1});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::unsupported);
    EXPECT_NE(std::string(e.what()).find("NoSuchOperator"), std::string::npos);
  }
}

void halve_infer(InferContext& c) { c.set_output(0, c.input_types[0]); }
void halve_eval(EvalContext& c) {
  for (std::size_t i = 0; i < c.in<float>(0).size(); ++i)
    c.out<float>(0)[i] = c.in<float>(0)[i] / 2;
}
const RegisterOp halve{
    {.type = "TestHalve", .domain = "test.kernels", .infer = halve_infer, .eval = halve_eval}};

TEST(Program, NodeWithoutFastKernelRunsOnTheReferenceAndSaysWhy) {
  GraphMaker m;
  m.graph.info.opsets["test.kernels"] = 1;
  const ValueId c = identity_conv(m, "c", m.input("x", DType::float32, image));
  const ValueId h = m.node("TestHalve", "h", {c}, DType::float32, image, {}, "test.kernels");
  m.graph.add_output(m.node("Relu", "y", {h}, DType::float32, image));
  Program p = Program::compile(m.graph, {}, {.threads = 1});
  const auto& s = *std::find_if(p.steps().begin(), p.steps().end(),
                                [](const StepInfo& i) { return i.op == "TestHalve"; });
  EXPECT_TRUE(s.reference());
  EXPECT_NE(s.reason.find("no fast kernel"), std::string::npos) << s.reason;
  const Tensor x = Random(8).reals(image);
  const Tensor y = p.run({{"x", x}}).at("y");
  for (std::size_t i = 0; i < 240; ++i)
    ASSERT_EQ(y.data<float>()[i], std::max(0.0F, x.data<float>()[i] / 2));
}

}  // namespace
}  // namespace assay::kernels::program_test
