// Wiring and structure of read models; the cases S-32 and S-36 as unit tests.
#include "runtime/onnx/reader.h"

#include "fusion/pipeline.h"
#include "runtime/executor.h"
#include "runtime/op.h"
#include "tests/runtime/onnx/model_text.h"
#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace assay::test::reader_test {
namespace {

const std::string io =
    "input { " + floats("X", {"N", "2"}) + " } output { " + floats("y", {"N", "2"}) + " } ";

std::vector<std::string> op_order(const Graph& g) {
  std::vector<std::string> ops;
  for (const NodeId n : g.node_ids()) ops.push_back(g.node(n).op_type);
  return ops;
}

TEST(Reader, KeepsNamesTypesAndMetadata) {
  const Graph g = read(model_of(io + "node { op_type: 'Relu' input: 'X' output: 'y' }",
                                "producer_name: 'p' metadata_props { key: 'a' value: 'b' }"));
  EXPECT_EQ(g.opset(), 13);
  EXPECT_EQ(g.info.producer, "p");
  EXPECT_EQ(g.info.metadata.at("a"), "b");
  EXPECT_EQ(to_string(g.value(g.inputs()[0]).type), "float32 [N, 2]");
  EXPECT_EQ(g.node(g.node_ids()[0]).name, "Relu_y");  // nameless: operator and output
}

TEST(Reader, OnnxDomainNamesAreOne) {
  const Graph g =
      read_graph(io + "node { op_type: 'Relu' domain: 'ai.onnx' input: 'X' output: 'y' }");
  EXPECT_TRUE(g.node(g.node_ids()[0]).is("Relu"));
}

TEST(Reader, EveryFormOfConstantIsAnInitializer) {
  const Graph g = read_graph(
      "node { op_type: 'Constant' output: 'a' attribute { name: 'value' type: TENSOR t { dims: 2 "
      "data_type: 7 "
      "int64_data: [3, -4] } } }"
      "node { op_type: 'Constant' output: 'b' attribute { name: 'value_float' type: FLOAT f: 1.5 } "
      "}"
      "node { op_type: 'Constant' output: 'c' attribute { name: 'value_floats' type: FLOATS "
      "floats: [1, 2, 3] } }"
      "node { op_type: 'Constant' output: 'd' attribute { name: 'value_int' type: INT i: -7 } }"
      "node { op_type: 'Constant' output: 'e' attribute { name: 'value_ints' type: INTS ints: [8, "
      "9] } }"
      "output { name: 'a' } output { name: 'b' } output { name: 'c' } output { name: 'd' } output "
      "{ name: 'e' }");
  EXPECT_EQ(g.node_count(), 0);
  const auto constant = [&](const char* name) { return *g.constant(*g.find_value(name)); };
  expect_values(constant("a"), {2}, {3, -4});
  expect_values(constant("b"), {}, {1.5});
  expect_values(constant("c"), {3}, {1, 2, 3});
  expect_values(constant("d"), {}, {-7});
  expect_values(constant("e"), {2}, {8, 9});
}

TEST(Reader, SparseConstantIsRefused) {
  expect_error(
      [] {
        read_graph(
            "node { op_type: 'Constant' output: 'a' attribute { name: 'sparse_value' type: "
            "SPARSE_TENSOR } }");
      },
      ErrorKind::unsupported, {"Constant_a", "sparse_value"});
}

const std::string defaulted = io + "input { " + floats("W", {"2"}) +
                              " } "
                              "initializer { name: 'W' dims: 2 data_type: 1 float_data: [1, 2] } "
                              "node { op_type: 'Add' input: 'X' input: 'W' output: 'y' }";

TEST(Reader, InitializerThatIsAnInputIsADefaultFromIr4On) {
  const Graph g = read_graph(defaulted);
  EXPECT_EQ(g.inputs().size(), 2U);
  EXPECT_EQ(g.constant(*g.find_value("W")), nullptr);
  EXPECT_TRUE(g.value(*g.find_value("W")).initializer.defined());
}

TEST(Reader, InitializerThatIsAnInputIsAConstantBeforeIr4) {
  auto model = model_of(defaulted);
  model.set_ir_version(3);
  const Graph g = read(model);
  EXPECT_EQ(g.inputs().size(), 1U);
  EXPECT_NE(g.constant(*g.find_value("W")), nullptr);
}

/// x = 3, Conv by 2, normalization by 10: files of IR 3 list every initializer as an input. It
/// folds, and feeding the weight is refused.
TEST(Reader, S08b_WeightsOfIr3AreConstantsAndFold) {
  const auto parameter = [](const std::string& name, float x, const std::string& dims) {
    return "initializer { name: '" + name + "' " + dims +
           " data_type: 1 float_data: " + std::to_string(x) + " } ";
  };
  const std::string four = "dims: 1 dims: 1 dims: 1 dims: 1", one = "dims: 1";
  std::string text = "input { " + floats("x", {"1", "1", "1", "1"}) + " } input { " +
                     floats("W", {"1", "1", "1", "1"}) + " } output { " +
                     floats("y", {"1", "1", "1", "1"}) + " } " + parameter("W", 2, four);
  for (const auto& [name, x] :
       {std::pair("g", 10.0F), std::pair("b", 0.0F), std::pair("m", 0.0F), std::pair("v", 1.0F)})
    text += "input { " + floats(name, {"1"}) + " } " + parameter(name, x, one);
  auto model =
      model_of(text +
               "node { op_type: 'Conv' input: 'x' input: 'W' output: 'c' } "
               "node { op_type: 'BatchNormalization' input: 'c' input: 'g' input: 'b' input: 'm' "
               "input: 'v' output: 'y' attribute { name: 'epsilon' type: FLOAT f: 0 } }");
  model.set_ir_version(3);
  const Graph g = read(model);
  const FusionResult fused = fuse(g, {.mode = "bn"});
  EXPECT_EQ(op_order(fused.graph), std::vector<std::string>{"Conv"});
  Feeds feeds{{"x", Tensor::of<float>({1, 1, 1, 1}, {3})}};
  for (const Graph* one_graph : {&g, &fused.graph})
    expect_values(Executor(*one_graph, Precision::cr).run(feeds).at("y"), {1, 1, 1, 1}, {60});
  feeds["W"] = Tensor::of<float>({1, 1, 1, 1}, {5});
  expect_error([&] { Executor(g, Precision::cr).run(feeds); }, ErrorKind::bad_input,
               {"'W'", "constant"});
}

TEST(Reader, UnknownElementTypeLoads) {
  const Graph g = read_graph(
      "input { name: 'X' type { tensor_type { elem_type: 99 } } } "
      "initializer { name: 'W' dims: 2 data_type: 17 raw_data: 'ab' } "
      "node { op_type: 'Identity' input: 'X' output: 'y' } output { name: 'y' }");
  EXPECT_EQ(to_string(g.value(g.inputs()[0]).type), "type 99 [?]");
  expect_error([&] { to_doubles(*g.constant(*g.find_value("W"))); }, ErrorKind::unsupported,
               {"type 17"});
}

TEST(Reader, NewerFieldsAreSkipped) {
  auto model = model_of(io + "node { op_type: 'Relu' input: 'X' output: 'y' }");
  model.mutable_unknown_fields()->AddLengthDelimited(900)->assign("later");
  model.mutable_graph()->mutable_node(0)->mutable_unknown_fields()->AddVarint(900, 1);
  EXPECT_EQ(read(model).node_count(), 1);
}

TEST(Reader, S36_NodesOutOfOrderAreSorted) {
  const Graph g = read_graph(io +
                             "node { op_type: 'Relu' input: 'late' output: 'y' } "
                             "node { op_type: 'Neg' input: 'X' output: 'late' }");
  EXPECT_EQ(op_order(g), (std::vector<std::string>{"Neg", "Relu"}));
}

const std::string with_if =
    io +
    "input { name: 'c' type { tensor_type { elem_type: 9 } } } "
    "initializer { name: 'W' dims: 2 data_type: 1 float_data: [1, 2] } "
    "node { op_type: 'If' input: 'c' output: 'y' "
    "attribute { name: 'then_branch' type: GRAPH g { name: 't' output { name: 'r' } "
    "  node { op_type: 'Relu' input: 'late' output: 'r' } node { op_type: 'Add' input: 'X' input: "
    "'W' output: 'late' } } } "
    "attribute { name: 'else_branch' type: GRAPH g { name: 'e' output { name: 'r2' } "
    "  node { op_type: 'Neg' input: 'X' output: 'r2' } } } }";

TEST(Reader, S36_NodesOfASubgraphAreSortedAndCapture) {
  const Graph g = read_graph(with_if);
  const Node& node = g.node(g.node_ids()[0]);
  const Graph& body = node.attributes.required_graph("then_branch");
  EXPECT_EQ(op_order(body), (std::vector<std::string>{"Add", "Relu"}));
  EXPECT_EQ(body.captures().size(), 2U);
  std::set<std::string> captured;
  for (const ValueId v : node.captures) captured.insert(g.name(v));
  EXPECT_EQ(captured, (std::set<std::string>{"X", "W"}));
  EXPECT_EQ(g.use_count(*g.find_value("X")), 1);  // once per node, however many branches read it
}

TEST(Reader, S36_UnknownInputIsRefused) {
  expect_error(
      [] { read_graph(io + "node { op_type: 'Add' input: 'X' input: 'missing' output: 'y' }"); },
      ErrorKind::bad_input, {"Add_y", "missing"});
}

TEST(Reader, S36_EmptyNameIsAnAbsentInput) {
  const Graph g =
      read_graph(io + "node { op_type: 'Clip' input: 'X' input: '' input: '' output: 'y' }");
  EXPECT_TRUE(g.node(g.node_ids()[0]).has_input(0));
  EXPECT_FALSE(g.node(g.node_ids()[0]).has_input(1));
}

TEST(Reader, S36_NameWrittenTwiceIsRefused) {
  expect_error(
      [] {
        read_graph(io +
                   "node { op_type: 'Neg' input: 'X' output: 'twice' } "
                   "node { op_type: 'Relu' input: 'X' output: 'twice' } "
                   "node { op_type: 'Neg' input: 'twice' output: 'y' }");
      },
      ErrorKind::bad_input, {"twice", "Relu_twice"});
  expect_error([] { read_graph(io + "node { op_type: 'Neg' input: 'y' output: 'X' }"); },
               ErrorKind::bad_input, {"'X'"});
}

TEST(Reader, S36_CycleIsRefused) {
  expect_error(
      [] {
        read_graph(io +
                   "node { op_type: 'Add' input: 'X' input: 'loop_b' output: 'loop_a' } "
                   "node { op_type: 'Relu' input: 'loop_a' output: 'loop_b' } "
                   "node { op_type: 'Neg' input: 'loop_b' output: 'y' }");
      },
      ErrorKind::bad_input, {"cycle", "loop_"});
}

TEST(Reader, InnerNamesMayHideOuterOnes) {
  std::string hiding = with_if;
  for (auto at = hiding.find("'r2'"); at != std::string::npos; at = hiding.find("'r2'")) {
    hiding.replace(at, 4, "'y'");
  }
  const Graph g = read_graph(hiding);
  const Graph& body = g.node(g.node_ids()[0]).attributes.required_graph("else_branch");
  EXPECT_EQ(body.name(body.outputs()[0]), "y");
  EXPECT_EQ(body.captures().size(), 1U);
}

TEST(Reader, S36_AmbiguousHidingIsRefused) {
  std::string shadowing = with_if;
  for (auto at = shadowing.find("'late'"); at != std::string::npos; at = shadowing.find("'late'")) {
    shadowing.replace(at, 6, "'X'");
  }
  expect_error([&] { read_graph(shadowing); }, ErrorKind::bad_input, {"'X'", "'t'"});
}

TEST(Reader, DoubledNodeNamesAreMadeUnique) {
  const Graph g = read_graph(io +
                             "node { name: 'n' op_type: 'Neg' input: 'X' output: 'a' } "
                             "node { name: 'n' op_type: 'Neg' input: 'a' output: 'y' }");
  EXPECT_EQ(g.node(g.node_ids()[0]).name, "n");
  EXPECT_EQ(g.node(g.node_ids()[1]).name, "n_1");
}

/// If nested `depth` deep around an Identity.
onnx::ModelProto nested(int depth) {
  auto model = model_of("input { " + floats("X", {"1"}) +
                        " } input { name: 'c' type { tensor_type { elem_type: 9 } } }");
  onnx::GraphProto* g = model.mutable_graph();
  std::string out = "y";
  for (int i = 0; i < depth; ++i) {
    g->add_output()->set_name(out);
    auto* node = g->add_node();
    node->set_op_type("If");
    node->add_input("c");
    node->add_output(out);
    onnx::GraphProto other;
    const std::string id = std::to_string(i);
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
        "name: 'e' output { name: 'e" + id +
            "' } node { op_type: 'Identity' input: 'X' output: 'e" + id + "' }",
        &other));
    auto* e = node->add_attribute();
    e->set_name("else_branch"), e->set_type(onnx::AttributeProto::GRAPH), *e->mutable_g() = other;
    auto* t = node->add_attribute();
    t->set_name("then_branch"), t->set_type(onnx::AttributeProto::GRAPH);
    g = t->mutable_g();
    g->set_name("t" + id);
    out = "y" + id;
  }
  g->add_output()->set_name(out);
  auto* node = g->add_node();
  node->set_op_type("Identity"), node->add_input("X"), node->add_output(out);
  return model;
}

TEST(Reader, S32_NestingIsBounded) {
  EXPECT_EQ(read(nested(32)).node_count(), 1);
  expect_error([] { read(nested(200)); }, ErrorKind::bad_input, {"nested", "64"});
  expect_error([] { read(nested(2000)); }, ErrorKind::bad_input, {"nested"});
}

TEST(Reader, S32_FunctionsThatCallEachOtherAreRefused) {
  const auto function = [](const std::string& name, const std::string& calls) {
    return "functions { domain: 'local' name: '" + name +
           "' input: 'a' output: 'b' opset_import { domain: 'local' "
           "version: 1 } node { domain: 'local' op_type: '" +
           calls + "' input: 'a' output: 'b' } } ";
  };
  const std::string call = io + "node { domain: 'local' op_type: 'AgainA' input: 'X' output: 'y' }";
  expect_error(
      [&] { read(model_of(call, function("AgainA", "AgainB") + function("AgainB", "AgainA"))); },
      ErrorKind::bad_input, {"Again", "itself"});
  expect_error([&] { read(model_of(call, function("AgainA", "AgainA"))); }, ErrorKind::bad_input,
               {"AgainA"});
}

TEST(Reader, FunctionsThatDoubleEachTimeAreBounded) {
  std::string functions;
  for (int i = 0; i < 40; ++i) {
    const std::string next = std::to_string(i + 1);
    const std::string call =
        i == 39 ? "op_type: 'Neg'" : "domain: 'local' op_type: 'F" + next + "'";
    functions += "functions { domain: 'local' name: 'F" + std::to_string(i) +
                 "' input: 'a' output: 'c' opset_import "
                 "{ version: 13 } node { " +
                 call + " input: 'a' output: 'b' } node { " + call + " input: 'b' output: 'c' } } ";
  }
  expect_error(
      [&] {
        read(model_of(io + "node { domain: 'local' op_type: 'F0' input: 'X' output: 'y' }",
                      functions));
      },
      ErrorKind::bad_input, {"1000000"});
}

TEST(Reader, FilesThatAreNoModelsGiveOneClearError) {
  const TempDir dir;
  const std::string whole =
      model_of(io + "node { op_type: 'Relu' input: 'X' output: 'y' }").SerializeAsString();
  const auto refuse = [&](const std::string& bytes) {
    const auto file = dir.write("m.onnx", bytes);
    expect_error([&] { read_onnx(file); }, ErrorKind::bad_input, {file.string()});
  };
  refuse("");
  refuse("this is not a model");
  refuse(std::string(1000, '\0'));
  for (std::size_t n = 1; n < whole.size(); ++n) refuse(whole.substr(0, n));
  expect_error([&] { read_onnx(dir / "none.onnx"); }, ErrorKind::bad_input, {"none.onnx"});
  expect_error([&] { read_onnx(dir.path()); }, ErrorKind::bad_input,
               {dir.path().string(), "folder"});
}

}  // namespace
}  // namespace assay::test::reader_test
