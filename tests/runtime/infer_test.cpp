// Static types: symbols, --shape, declared types as a fallback, unknown operators.
#include "runtime/infer.h"

#include "tests/support/matchers.h"
#include "tests/support/quant_graphs.h"

namespace assay::test::infer_test {
namespace {

const std::string domain = "test.infer";

void pass(InferContext& c) { c.set_output(0, c.input(0)); }
void never(InferContext&) { throw Error({.what = "inputs do not fit"}); }
void copy(EvalContext& c) { c.output(0) = c.input(0).clone(); }
std::int64_t count(const InferContext& c) { return c.outputs[0].shape().numel(); }

const RegisterOp operators{std::vector<OpDef>{
    {.type = "InferTestPass", .domain = domain, .infer = pass, .eval = copy, .macs = count},
    {.type = "InferTestNever", .domain = domain, .infer = never, .eval = copy}}};

GraphMaker passing(std::vector<std::int64_t> dims) {
  GraphMaker m;
  m.input("x", DType::float32, std::move(dims))
      .node(domain + ":InferTestPass", {"x"}, {"y"})
      .output("y");
  return m;
}

TEST(InferTest, OpenSizesComeFromTheCaller) {
  const Graph g = passing({-1, 2}).graph;
  const ValueId y = *g.find_value("y");
  const StaticTypes open = infer_types(g);
  EXPECT_FALSE(open.type(y).known());
  expect_error([&] { (void)open.shape(g, y); }, ErrorKind::bad_input, {"'y'", "--shape"});
  const StaticTypes fixed = infer_types(g, {{"x", Shape{4, 2}}});
  EXPECT_EQ(fixed.shape(g, y), (Shape{4, 2}));
  EXPECT_EQ(macs_of(g, g.node_ids()[0], fixed), 8);
  EXPECT_EQ(macs_of(g, g.node_ids()[0], open), 0);
  expect_error(
      [&] {
        infer_types(g, {{"y", Shape{4, 2}}});
      },
      ErrorKind::bad_input, {"'y'", "not an input"});
}

TEST(InferTest, FloatsAreWidened) {
  const Graph g = passing({2}).graph;
  EXPECT_EQ(infer_types(g, {}, Precision::f64).type(*g.find_value("y")).dtype, DType::float64);
  EXPECT_EQ(infer_types(g, {}, Precision::cr).type(*g.find_value("y")).dtype, DType::float32);
}

TEST(InferTest, DeclaredTypesStandInForUnknownOperators) {
  GraphMaker m;
  m.input("x", DType::float32, {2}).node("test.nobody:Nothing", {"x"}, {"a"});
  m.node(domain + ":InferTestPass", {"a"}, {"y"}).output("y");
  EXPECT_FALSE(infer_types(m.graph).type(*m.graph.find_value("y")).known());
  m.graph.set_type(*m.graph.find_value("a"), {DType::float32, std::vector<Dim>{{.size = 5}}});
  EXPECT_EQ(infer_types(m.graph).shape(m.graph, *m.graph.find_value("y")), (Shape{5}));
}

TEST(InferTest, InconsistentInputsNameTheNode) {
  GraphMaker m;
  m.input("x", DType::float32, {2}).node(domain + ":InferTestNever", {"x"}, {"y"}).output("y");
  expect_error([&] { infer_types(m.graph); }, ErrorKind::bad_input,
               {"'y_node'", "'y'", "do not fit"});
}

}  // namespace
}  // namespace assay::test::infer_test
