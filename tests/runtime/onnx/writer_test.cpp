// Written models read back, byte for byte the same, and as files.
#include "runtime/onnx/writer.h"

#include <fstream>

#include "runtime/executor.h"
#include "runtime/file.h"
#include "runtime/op.h"
#include "tests/runtime/onnx/model_text.h"
#include "tests/support/matchers.h"
#include "tests/support/quant_graphs.h"
#include "tests/support/temp_dir.h"

namespace assay::test::writer_test {
namespace {

Graph reread(const Graph& g) {
  const std::string bytes = onnx_bytes(g);
  return read_onnx(std::as_bytes(std::span(bytes)));
}

onnx::ModelProto proto_of(const Graph& g) {
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(onnx_bytes(g)));
  return model;
}

Graph small() {
  GraphMaker maker;
  maker.input("x", DType::float32, {-1, 2}).constant("w", Tensor::of<float>({2}, {1, 2}));
  maker.node("Add", {"x", "w"}, {"s"})
      .node("LeakyRelu", {"s"}, {"y"}, {{"alpha", 0.25F}})
      .output("y");
  return maker.graph;
}

TEST(Writer, SameGraphSameBytes) {
  EXPECT_EQ(onnx_bytes(small()), onnx_bytes(small()));
  EXPECT_EQ(onnx_bytes(reread(small())), onnx_bytes(small()));
}

TEST(Writer, KeepsNamesAttributesAndWeights) {
  const Graph g = reread(small());
  ASSERT_EQ(g.node_count(), 2);
  const Node& relu = *g.producer(*g.find_value("y"));
  EXPECT_EQ(relu.name, "y_node");
  EXPECT_EQ(relu.attributes.float_or("alpha", 0), 0.25F);
  expect_values(*g.constant(*g.find_value("w")), {2}, {1, 2});
  EXPECT_EQ(to_string(g.value(g.inputs()[0]).type), "float32 [?, 2]");
}

TEST(Writer, EveryKindOfAttribute) {
  GraphMaker maker;
  maker.input("x", DType::float32, {1});
  const Attributes attributes{
      {"i", std::int64_t{-3}},
      {"f", 0.5F},
      {"s", std::string("text")},
      {"t", Tensor::of<double>({1}, {0.1})},
      {"ints", std::vector<std::int64_t>{1, 2}},
      {"no_ints", std::vector<std::int64_t>{}},
      {"floats", std::vector<float>{1, 2}},
      {"strings", std::vector<std::string>{"a", ""}},
      {"tensors", std::vector<Tensor>{Tensor::of<std::int8_t>({2}, {1, -1})}}};
  maker.node("other:Thing", {"x"}, {"y"}, attributes).output("y");
  const Graph g = reread(maker.graph);
  EXPECT_TRUE(same(g.node(g.node_ids()[0]).attributes, attributes));
}

TEST(Writer, InitializersOfOldFilesNeedNewerIr) {
  Graph g = small();
  g.info.ir_version = 3;
  EXPECT_EQ(proto_of(g).ir_version(), 4);
  EXPECT_EQ(reread(g).inputs().size(), 1U);
}

TEST(Writer, DefaultsStayOverridable) {
  GraphMaker maker;
  maker.input("x", DType::float32, {2}).input("w", DType::float32, {2});
  maker.node("Add", {"x", "w"}, {"y"}).output("y");
  maker.graph.set_initializer(*maker.graph.find_value("w"), Tensor::of<float>({2}, {1, 2}));
  const Graph g = reread(maker.graph);
  EXPECT_EQ(g.inputs().size(), 2U);
  EXPECT_TRUE(g.value(g.inputs()[1]).initializer.defined());
}

TEST(Writer, LargeWeightsGoBesideTheModel) {
  const TempDir dir;
  GraphMaker maker;
  Tensor big(DType::float32, {600});
  for (float& x : big.mutable_data<float>()) x = 3;
  maker.constant("big", big).constant("tiny", Tensor::of<float>({1}, {1}));
  maker.node("Add", {"big", "tiny"}, {"y"}).output("y");
  write_onnx(maker.graph, dir / "m.onnx", {.max_inline_bytes = 1000});
  EXPECT_EQ(std::filesystem::file_size(dir / "m.onnx.data"), 2400U);
  const Graph g = read_onnx(dir / "m.onnx");
  EXPECT_TRUE(same_bits(*g.constant(*g.find_value("big")), big));
  const auto files = std::distance(std::filesystem::directory_iterator(dir.path()), {});
  EXPECT_EQ(files, 2);  // no temporary file stays
}

TEST(Writer, UnwritablePlaceIsNamed) {
  const TempDir dir;
  expect_error([&] { write_onnx(small(), dir / "none/m.onnx"); }, ErrorKind::bad_input,
               {"none/m.onnx"});
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(Writer, InnerNamesNeverShadow) {
  const auto model =
      model_of("input { " + floats("X", {"1"}) +
               " } input { name: 'c' type { tensor_type { elem_type: 9 } } } output { name: 'y' } "
               "node { op_type: 'Neg' input: 'X' output: 'a' } "
               "node { op_type: 'If' input: 'c' output: 'y' "
               "attribute { name: 'then_branch' type: GRAPH g { name: 't' output { name: 'r' } "
               "node { op_type: 'Relu' input: 'a' "
               "output: 'r' } } } "
               "attribute { name: 'else_branch' type: GRAPH g { name: 'e' output { name: 'q' } "
               "node { op_type: 'Neg' input: 'a' "
               "output: 'q' } } } }");
  Graph g = read(model);
  g.rename(*g.find_value("a"), "r");  // what a rewrite may do: the branch already has an `r`
  g.verify();
  const Graph h = reread(g);
  const Node& node = *h.producer(*h.find_value("y"));
  ASSERT_EQ(node.captures.size(), 1U);
  EXPECT_EQ(h.name(node.captures[0]), "r");
  EXPECT_EQ(node.attributes.required_graph("then_branch").captures().size(), 1U);
}

// ---- functions

/// max(x * scale, floor), and without `floor` no max: two bodies under one name.
Graph decompose(const Node& node) {
  Graph g;
  Node mul{.name = "mul", .op_type = "Mul"};
  const ValueId x = g.add_input("x", {});
  mul.inputs = {x,
                g.add_initializer("scale", Tensor::scalar(node.attributes.float_or("scale", 1)))};
  const bool bounded = node.attributes.has("floor");
  mul.outputs = {g.add_value(bounded ? "m" : "y")};
  g.add_node(mul);
  if (bounded) {
    Node max{.name = "max", .op_type = "Max"};
    max.inputs = {mul.outputs[0],
                  g.add_initializer("floor", Tensor::scalar(node.attributes.float_or("floor", 0)))};
    max.outputs = {g.add_value("y")};
    g.add_node(max);
  }
  g.add_output(*g.find_value("y"));
  return g;
}

void infer(InferContext& c) { c.set_output(0, c.input(0)); }

void eval(EvalContext& c) {
  const auto x = c.in<float>(0);
  const auto y = c.out<float>(0);
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] * c.attributes().float_or("scale", 1);
}

const RegisterOp writer_test_op{{.type = "WriterTestScale",
                                 .domain = assay_domain,
                                 .infer = infer,
                                 .eval = eval,
                                 .decompose = decompose}};

GraphMaker scaled(const std::vector<Attributes>& calls) {
  GraphMaker maker;
  maker.input("x", DType::float32, {2});
  std::string last = "x";
  for (const Attributes& a : calls) {
    const std::string next = "v" + std::to_string(maker.graph.node_count());
    maker.node("ai.assay:WriterTestScale", {last}, {next}, a);
    last = next;
  }
  maker.output(last);
  return maker;
}

TEST(Writer, CallsShareOneFunctionWithReferences) {
  const Graph g = scaled({{{"scale", 2.0F}}, {{"scale", 3.0F}}}).graph;
  const auto model = proto_of(g);
  ASSERT_EQ(model.functions_size(), 1);
  EXPECT_EQ(model.functions(0).name(), "WriterTestScale");
  EXPECT_EQ(model.functions(0).node(0).attribute(0).ref_attr_name(), "scale");
  EXPECT_GE(model.ir_version(), 8);
  const Graph back = reread(g);
  EXPECT_EQ(back.node_count(), 2);
  EXPECT_EQ(back.node(back.node_ids()[0]).op_type,
            "WriterTestScale");  // stays a node: the operator is known
}

TEST(Writer, AnotherBodyIsAnotherFunctionAndReadsBack) {
  const Graph g = scaled({{{"scale", 2.0F}}, {{"scale", 3.0F}, {"floor", 0.0F}}}).graph;
  const auto model = proto_of(g);
  ASSERT_EQ(model.functions_size(), 2);
  EXPECT_EQ(model.functions(1).name(), "WriterTestScale__2");
  EXPECT_EQ(model.functions(1).node_size(), 4);
  const Graph back = reread(g);
  for (const NodeId n : back.node_ids()) EXPECT_EQ(back.node(n).op_type, "WriterTestScale");
  EXPECT_EQ(onnx_bytes(back), onnx_bytes(g));
}

}  // namespace
}  // namespace assay::test::writer_test
