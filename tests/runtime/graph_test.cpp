// Graph: wiring, order, renaming through subgraphs, removal.
#include "runtime/graph.h"

#include "tests/support/matchers.h"
#include "tests/support/quant_graphs.h"

namespace assay::test::graph_test {
namespace {

GraphMaker chain() {
  GraphMaker m;
  m.input("x", DType::float32, {2});
  m.node("Neg", {"x"}, {"a"}).node("Relu", {"a"}, {"b"}).node("Add", {"b", "a"}, {"y"}).output("y");
  return m;
}

ValueId id(const Graph& g, const std::string& name) { return g.find_value(name).value(); }

/// A body that computes Neg of its capture `name`, with an own value called `own`.
GraphPtr body_of(const std::string& name, const std::string& own = "inner") {
  auto g = std::make_shared<Graph>();
  Node neg{.name = "n", .op_type = "Neg"};
  neg.inputs = {g->add_capture(name)};
  neg.outputs = {g->add_value(own)};
  g->add_node(neg);
  g->add_output(neg.outputs[0]);
  return g;
}

NodeId add_if(Graph& g, const std::string& captured, const GraphPtr& body) {
  Node node{.name = "if", .op_type = "If"};
  node.inputs = {id(g, "x")};
  node.outputs = {g.add_value("z")};
  node.attributes.set("then_branch", body);
  node.captures = {id(g, captured)};
  return g.add_node(node);
}

TEST(Graph, NamesAreUnique) {
  Graph g = chain().graph;
  expect_error([&] { g.add_value("a"); }, ErrorKind::bad_input, {"'a'"});
  expect_error([&] { g.add_value(""); }, ErrorKind::bad_input, {"name"});
  expect_error([&] { g.rename(id(g, "a"), "b"); }, ErrorKind::bad_input, {"'b'"});
  EXPECT_EQ(g.fresh_name("a"), "a_1");
  EXPECT_EQ(g.fresh_name("free"), "free");
}

TEST(Graph, AValueHasOneProducer) {
  Graph g = chain().graph;
  Node node{.name = "again", .op_type = "Neg"};
  node.outputs = {id(g, "a")};
  expect_error([&] { g.add_node(node); }, ErrorKind::bad_input, {"'a'", "again"});
}

TEST(Graph, UseCountSeesReadersAndOutputs) {
  const Graph g = chain().graph;
  EXPECT_EQ(g.use_count(id(g, "a")), 2);
  EXPECT_EQ(g.use_count(id(g, "y")), 1);
  EXPECT_TRUE(g.is_output(id(g, "y")));
}

TEST(Graph, ReplaceUsesMovesReadersAndOutputs) {
  Graph g = chain().graph;
  g.replace_uses(id(g, "b"), id(g, "x"));
  g.replace_uses(id(g, "y"), id(g, "a"));
  EXPECT_EQ(g.use_count(id(g, "b")), 0);
  EXPECT_TRUE(g.is_output(id(g, "a")));
  g.remove_dead();
  g.verify();
  EXPECT_EQ(g.node_count(), 1);
  EXPECT_FALSE(g.find_value("b").has_value());
}

TEST(Graph, SortNodesGivesInsertionOrder) {
  Graph g;
  g.add_input("x", {});
  Node late{.name = "late", .op_type = "Relu"};
  late.inputs = {g.add_value("a")};
  late.outputs = {g.add_value("y")};
  g.add_node(late);
  Node first{.name = "first", .op_type = "Neg"};
  first.inputs = {id(g, "x")};
  first.outputs = {id(g, "a")};
  g.add_node(first);
  g.sort_nodes();
  g.verify();
  EXPECT_EQ(g.node(g.node_ids()[0]).name, "first");
  EXPECT_EQ(g.producer(id(g, "y"))->name, "late");
  EXPECT_EQ(g.value(id(g, "a")).readers, (std::vector<NodeId>{{1}}));
}

TEST(Graph, CycleIsNamed) {
  Graph g;
  Node n{.name = "self", .op_type = "Neg"};
  n.inputs = {g.add_value("v")};
  n.outputs = n.inputs;
  g.add_node(n);
  expect_error([&] { g.topological_order(); }, ErrorKind::bad_input, {"self", "'v'"});
}

TEST(Graph, SwapNamesKeepsTheRootName) {
  Graph g = chain().graph;
  const ValueId fused = g.add_value("made");
  const ValueId old = id(g, "b");
  g.swap_names(fused, old);
  EXPECT_EQ(g.name(fused), "b");
  EXPECT_EQ(g.name(old), "made");
}

TEST(Graph, RenamingReachesSubgraphs) {
  Graph g = chain().graph;
  const NodeId n = add_if(g, "a", body_of("a"));
  g.rename(id(g, "a"), "other");
  const Graph& body = g.node(n).attributes.required_graph("then_branch");
  EXPECT_EQ(body.name(body.captures()[0]), "other");
}

TEST(Graph, RenamingToAnInnerNameMovesTheInnerOne) {
  Graph g = chain().graph;
  const NodeId n = add_if(g, "a", body_of("a", "taken"));
  g.rename(id(g, "a"), "taken");
  const Graph& body = g.node(n).attributes.required_graph("then_branch");
  EXPECT_EQ(body.name(body.captures()[0]), "taken");
  EXPECT_EQ(body.name(body.outputs()[0]), "taken_inner");
}

TEST(Graph, RenamingReachesSubgraphsOfSubgraphs) {
  auto middle = std::make_shared<Graph>();
  middle->add_capture("x");
  middle->add_capture("a");
  const auto inner = add_if(*middle, "a", body_of("a"));
  middle->add_output(middle->node(inner).outputs[0]);
  Graph g = chain().graph;
  Node node{.name = "outer", .op_type = "If"};
  node.inputs = {id(g, "x")};
  node.outputs = {g.add_value("z")};
  node.attributes.set("then_branch", GraphPtr(middle));
  node.captures = {id(g, "x"), id(g, "a")};
  const NodeId n = g.add_node(node);
  g.rename(id(g, "a"), "far");
  const Graph& m = g.node(n).attributes.required_graph("then_branch");
  const Graph& leaf = m.node(m.node_ids()[0]).attributes.required_graph("then_branch");
  EXPECT_EQ(leaf.name(leaf.captures()[0]), "far");
}

TEST(Graph, ReplaceUsesMergesTwoCaptures) {
  auto body = std::make_shared<Graph>();
  Node add{.name = "n", .op_type = "Add"};
  add.inputs = {body->add_capture("a"), body->add_capture("b")};
  add.outputs = {body->add_value("inner")};
  body->add_node(add);
  body->add_output(add.outputs[0]);
  Graph g = chain().graph;
  const NodeId n = add_if(g, "a", body);
  Node copy = g.node(n);
  g.erase_node(n);
  copy.captures = {id(g, "a"), id(g, "b")};
  const NodeId both = g.add_node(copy);
  g.replace_uses(id(g, "b"), id(g, "a"));
  g.verify();
  EXPECT_EQ(g.node(both).captures, (std::vector<ValueId>{id(g, "a")}));
  const Graph& merged = g.node(both).attributes.required_graph("then_branch");
  EXPECT_EQ(merged.captures().size(), 1U);
  EXPECT_EQ(merged.node(merged.node_ids()[0]).inputs[0],
            merged.node(merged.node_ids()[0]).inputs[1]);
}

TEST(Graph, ConstantsAreInitializersNobodyOverrides) {
  GraphMaker m;
  m.input("d", DType::float32, {1}).constant("c", Tensor::of<float>({1}, {1}));
  m.graph.set_initializer(id(m.graph, "d"), Tensor::of<float>({1}, {2}));
  EXPECT_NE(m.graph.constant(id(m.graph, "c")), nullptr);
  EXPECT_EQ(m.graph.constant(id(m.graph, "d")), nullptr);
}

TEST(Graph, ExtractCutsAtInputs) {
  const Graph g = chain().graph;
  const Graph part = extract(g, {id(g, "a")}, {id(g, "b")});
  part.verify();
  EXPECT_EQ(part.node_count(), 1);
  EXPECT_EQ(part.name(part.inputs()[0]), "a");
  EXPECT_EQ(part.name(part.outputs()[0]), "b");
  expect_error([&] { extract(g, {id(g, "b")}, {id(g, "y")}); }, ErrorKind::bad_input, {"'x'"});
}

TEST(Graph, OpsetOfBothStandardNames) {
  Graph g;
  g.info.opsets = {{"", 13}};
  EXPECT_EQ(g.opset("ai.onnx"), 13);
  EXPECT_EQ(g.opset("nobody"), 1);
}

}  // namespace
}  // namespace assay::test::graph_test
