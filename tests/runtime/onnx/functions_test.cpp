// Model-local functions inlined: names, attributes, defaults, versions.
#include "runtime/executor.h"
#include "tests/runtime/onnx/model_text.h"
#include "tests/support/matchers.h"

namespace assay::test::functions_test {
namespace {

const std::string io =
    "input { " + floats("X", {"2"}) + " } output { " + floats("y", {"2"}) + " } ";
const std::string opset = "opset_import { version: 13 } ";

TEST(Functions, AreInlinedUnderNamesOfTheirOwn) {
  const Graph g = read(model_of(
      io + "node { name: 'one' domain: 'local' op_type: 'Twice' input: 'X' output: 'mid' } "
           "node { name: 'two' domain: 'local' op_type: 'Twice' input: 'mid' output: 'y' }",
      "functions { domain: 'local' name: 'Twice' input: 'a' output: 'b' " + opset +
          "node { op_type: 'Neg' input: 'a' output: 't' } node { op_type: 'Neg' input: 't' output: "
          "'b' } }"));
  EXPECT_EQ(g.node_count(), 4);
  EXPECT_TRUE(g.find_value("one/t") && g.find_value("two/t") && g.find_value("mid"));
}

TEST(Functions, InnerNamesAvoidThoseOfTheModel) {
  const Graph g = read(
      model_of(io + "node { op_type: 'Neg' input: 'X' output: 'f/t' } "
                    "node { name: 'f' domain: 'local' op_type: 'Twice' input: 'f/t' output: 'y' }",
               "functions { domain: 'local' name: 'Twice' input: 'a' output: 'b' " + opset +
                   "node { op_type: 'Neg' input: 'a' output: 't' } node { op_type: 'Neg' input: "
                   "'t' output: 'b' } }"));
  EXPECT_TRUE(g.find_value("f/t") && g.find_value("f/t_1"));
}

TEST(Functions, AttributesComeFromTheCall) {
  const std::string function =
      "functions { domain: 'local' name: 'Soft' attribute: 'along' input: 'a' output: 'b' " +
      opset +
      "node { op_type: 'Softmax' input: 'a' output: 'b' attribute { name: 'axis' type: INT "
      "ref_attr_name: 'along' } } }";
  const auto call = [&](const std::string& attribute) {
    const Graph g = read(model_of(
        io + "node { domain: 'local' op_type: 'Soft' input: 'X' output: 'y' " + attribute + " }",
        function));
    return g.node(g.node_ids()[0]).attributes;
  };
  EXPECT_EQ(call("attribute { name: 'along' type: INT i: 0 }").required_int("axis"), 0);
  EXPECT_FALSE(call("").has("axis"));  // neither given nor defaulted: absent
}

TEST(Functions, DefaultsOfNewerFilesAreRead) {
  auto model = model_of(
      io + "node { domain: 'local' op_type: 'Soft' input: 'X' output: 'y' }",
      "functions { domain: 'local' name: 'Soft' input: 'a' output: 'b' " + opset +
          "node { op_type: 'Softmax' input: 'a' output: 'b' attribute { name: 'axis' type: INT "
          "ref_attr_name: 'along' } } }");
  onnx::AttributeProto fallback;
  fallback.set_name("along"), fallback.set_type(onnx::AttributeProto::INT), fallback.set_i(-2);
  model.mutable_functions(0)->mutable_unknown_fields()->AddLengthDelimited(11)->assign(
      fallback.SerializeAsString());
  const Graph g = read(model);
  EXPECT_EQ(g.node(g.node_ids()[0]).attributes.required_int("axis"), -2);
}

TEST(Functions, InputHandedThroughAndAbsentInput) {
  const Graph g = read(model_of(
      io + "node { domain: 'local' op_type: 'Same' input: 'X' output: 'y' }",
      "functions { domain: 'local' name: 'Same' input: 'a' input: 'b' output: 'a' output: 'c' " +
          opset + "node { op_type: 'Clip' input: 'a' input: 'b' output: 'c' } }"));
  ASSERT_EQ(g.node_count(), 2);
  const auto& y = *g.producer(*g.find_value("y"));
  EXPECT_EQ(y.op_type, "Identity");
  for (const NodeId n : g.node_ids()) {
    const bool clip = g.node(n).is("Clip");
    EXPECT_TRUE(!clip || !g.node(n).has_input(1));
  }
}

TEST(Functions, ConstantsInsideAreInitializers) {
  const Graph g = read(model_of(
      io + "node { name: 'f' domain: 'local' op_type: 'AddC' input: 'X' output: 'y' attribute { "
           "name: 'c' type: FLOAT f: 2.5 } }",
      "functions { domain: 'local' name: 'AddC' attribute: 'c' input: 'a' output: 'b' " + opset +
          "node { op_type: 'Constant' output: 'k' attribute { name: 'value_float' type: FLOAT "
          "ref_attr_name: 'c' } } "
          "node { op_type: 'Add' input: 'a' input: 'k' output: 'b' } }"));
  EXPECT_EQ(g.node_count(), 1);
  expect_values(*g.constant(*g.find_value("f/k")), {}, {2.5});
}

TEST(Functions, TooManyInputsAreRefused) {
  expect_error(
      [] {
        read(model_of(
            io +
                "node { name: 'f' domain: 'local' op_type: 'F' input: 'X' input: 'X' output: 'y' }",
            "functions { domain: 'local' name: 'F' input: 'a' output: 'b' " + opset +
                "node { op_type: 'Neg' input: 'a' output: 'b' } }"));
      },
      ErrorKind::bad_input, {"'f'", "2 inputs"});
}

TEST(Functions, ADomainThatOnlyTheFunctionImportsIsAdded) {
  const Graph g = read(model_of(
      io + "node { domain: 'local' op_type: 'F' input: 'X' output: 'y' }",
      "functions { domain: 'local' name: 'F' input: 'a' output: 'b' opset_import { domain: "
      "'com.microsoft' version: 1 } node { domain: 'com.microsoft' op_type: 'Gelu' input: 'a' "
      "output: 'b' } }"));
  EXPECT_EQ(g.opset("com.microsoft"), 1);
}

}  // namespace
}  // namespace assay::test::functions_test
