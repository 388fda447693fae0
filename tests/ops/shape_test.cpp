// Shape and Size: ranges of axes, scalars, folding before running.
#include <gtest/gtest.h>

#include "runtime/infer.h"
#include "tests/support/op_call.h"

namespace assay::test::shape_test {
namespace {

using Ints = std::vector<std::int64_t>;

const Tensor x = Tensor::zeros(DType::float32, {2, 0, 4});

TEST(ShapeOp, WholeAndPart) {
  EXPECT_EQ(indices(run_one({"Shape", {x}})), (Ints{2, 0, 4}));
  EXPECT_EQ(indices(run_one({"Shape", {x}, {{"start", std::int64_t{-1}}}})), (Ints{4}));
  EXPECT_EQ(indices(run_one({"Shape", {x}, {{"end", std::int64_t{-1}}}})), (Ints{2, 0}));
  EXPECT_EQ(
      indices(run_one({"Shape", {x}, {{"start", std::int64_t{-9}}, {"end", std::int64_t{9}}}})),
      (Ints{2, 0, 4}));
  EXPECT_EQ(run_one({"Shape", {x}, {{"start", std::int64_t{2}}, {"end", std::int64_t{1}}}}).shape(),
            (Shape{0}));
}

TEST(ShapeOp, StartIsIgnoredBeforeOpset15) {
  EXPECT_EQ(indices(run_one({"Shape", {x}, {{"start", std::int64_t{1}}}, 13})), (Ints{2, 0, 4}));
}

TEST(ShapeOp, Scalar) { EXPECT_EQ(run_one({"Shape", {tensor({}, {1})}}).shape(), (Shape{0})); }

TEST(SizeOp, CountsElements) {
  EXPECT_EQ(indices(run_one({"Size", {x}})), (Ints{0}));
  EXPECT_EQ(indices(run_one({"Size", {tensor({}, {5})}})), (Ints{1}));
}

TEST(ShapeOp, ChainIsKnownBeforeRunning) {
  Graph g;
  g.info.opsets = {{"", 17}};
  const ValueId image =
      g.add_input("x", {DType::float32, std::vector<Dim>{{1, ""}, {3, ""}, {6, ""}, {8, ""}}});
  const ValueId shape = g.add_value("shape"), picked = g.add_value("picked");
  const ValueId two = g.add_initializer("two", ints({1}, {2}));
  const ValueId rest = g.add_initializer("rest", ints({1}, {-1}));
  const ValueId target = g.add_value("target"), y = g.add_value("y");
  g.add_node({.name = "a", .op_type = "Shape", .inputs = {image}, .outputs = {shape}});
  g.add_node({.name = "b", .op_type = "Gather", .inputs = {shape, two}, .outputs = {picked}});
  g.add_node({.name = "c",
              .op_type = "Concat",
              .inputs = {picked, rest},
              .outputs = {target},
              .attributes = {{"axis", std::int64_t{0}}}});
  g.add_node({.name = "d", .op_type = "Reshape", .inputs = {image, target}, .outputs = {y}});
  g.add_output(y);
  EXPECT_EQ(infer_types(g).type(y).dims, (Ints{6, 24}));
}

}  // namespace
}  // namespace assay::test::shape_test
