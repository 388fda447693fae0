// Reshape: copied and free sizes, allowzero, and targets that were baked for another batch size
// (public case S-35).
#include <gtest/gtest.h>

#include "runtime/infer.h"
#include "tests/support/op_call.h"

namespace assay::test::reshape_test {
namespace {

Shape reshaped(Shape from, std::vector<std::int64_t> target, Attributes attributes = {}) {
  const auto n = static_cast<std::int64_t>(target.size());
  return run_one({"Reshape", {Tensor::zeros(DType::float32, from), ints({n}, target)}, attributes})
      .shape();
}

TEST(Reshape, CopiesAndFreeSize) {
  EXPECT_EQ(reshaped({2, 3, 4}, {0, -1}), (Shape{2, 12}));
  EXPECT_EQ(reshaped({2, 3, 4}, {4, 0, 2}), (Shape{4, 3, 2}));
  EXPECT_EQ(reshaped({1}, {}), (Shape{}));
  EXPECT_EQ(reshaped({0, 3}, {3, 0}, {{"allowzero", std::int64_t{1}}}), (Shape{3, 0}));
  EXPECT_EQ(reshaped({0, 3}, {0, -1}, {}).vec(), (std::vector<std::int64_t>{0, 3}));
}

TEST(Reshape, KeepsTheOrderOfElements) {
  const Tensor t = tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(values(run_one({"Reshape", {t, ints({2}, {3, 2})}})), values(t));
}

TEST(Reshape, BatchBakedIntoTheTarget) {
  const auto two = Tensor::zeros(DType::float32, {2, 2, 1, 1});
  const std::string text = error_of([&] { run_one({"Reshape", {two, ints({2}, {1, 2})}}); });
  EXPECT_NE(text.find("[2, 2, 1, 1]"), std::string::npos) << text;
  EXPECT_NE(text.find("[1, 2]"), std::string::npos) << text;
  EXPECT_NE(text.find("'n'"), std::string::npos) << text;
  EXPECT_EQ(reshaped({2, 2, 1, 1}, {0, 2}), (Shape{2, 2}));
  EXPECT_EQ(reshaped({2, 2, 1, 1}, {-1, 2}), (Shape{2, 2}));
}

TEST(Reshape, BadTargets) {
  EXPECT_NE(error_of([] { reshaped({4}, {-1, -1}); }).find("more than one"), std::string::npos);
  EXPECT_NE(error_of([] { reshaped({4}, {-2}); }).find("below -1"), std::string::npos);
  EXPECT_NE(error_of([] { reshaped({4}, {4, 0}); }).find("no axis"), std::string::npos);
  EXPECT_NE(error_of([] { reshaped({6}, {4, -1}); }).find("counts differ"), std::string::npos);
  EXPECT_NE(error_of([] {
              reshaped({0, 3}, {0, -1}, {{"allowzero", std::int64_t{1}}});
            }).find("ambiguous"),
            std::string::npos);
}

TEST(Reshape, AttributeAtOpset1) {
  const Attributes shape{{"shape", std::vector<std::int64_t>{3, 2}}};
  EXPECT_EQ(run_one({"Reshape", {Tensor::zeros(DType::float32, {6})}, shape, 1}).shape(),
            (Shape{3, 2}));
}

TEST(Reshape, UnknownBatchStaysUnknown) {
  Graph g;
  g.info.opsets = {{"", 13}};
  const ValueId x =
      g.add_input("x", {DType::float32, std::vector<Dim>{{-1, "N"}, {2, ""}, {1, ""}, {1, ""}}});
  const ValueId target = g.add_initializer("target", ints({2}, {0, -1}));
  const ValueId y = g.add_value("y");
  g.add_node({.name = "n", .op_type = "Reshape", .inputs = {x, target}, .outputs = {y}});
  g.add_output(y);
  EXPECT_EQ(infer_types(g).type(y).dims, (std::vector<std::int64_t>{-1, 2}));
}

}  // namespace
}  // namespace assay::test::reshape_test
