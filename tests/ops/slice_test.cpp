// Slice: clamping, negative steps, both forms, unknown sizes.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "runtime/infer.h"
#include "tests/support/op_call.h"

namespace assay::test::slice_test {
namespace {

using Ints = std::vector<std::int64_t>;
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();

std::vector<float> slice5(std::int64_t start, std::int64_t end, std::int64_t step) {
  return values(run_one({"Slice",
                         {tensor({5}, {0, 1, 2, 3, 4}), ints({1}, {start}), ints({1}, {end}),
                          ints({1}, {0}), ints({1}, {step})}}));
}

TEST(Slice, StartsEndsAndSteps) {
  EXPECT_EQ(slice5(1, 4, 1), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(slice5(0, most, 2), (std::vector<float>{0, 2, 4}));
  EXPECT_EQ(slice5(-2, most, 1), (std::vector<float>{3, 4}));
  EXPECT_EQ(slice5(1, 2, most), (std::vector<float>{1}));
  EXPECT_EQ(slice5(3, 1, 1), (std::vector<float>{}));
  EXPECT_EQ(slice5(9, 12, 1), (std::vector<float>{}));
}

TEST(Slice, Backwards) {
  EXPECT_EQ(slice5(4, 0, -1), (std::vector<float>{4, 3, 2, 1}));
  EXPECT_EQ(slice5(-1, least, -1), (std::vector<float>{4, 3, 2, 1, 0}));
  EXPECT_EQ(slice5(100, least, -2), (std::vector<float>{4, 2, 0}));
  EXPECT_EQ(slice5(2, least, least), (std::vector<float>{2}));
}

TEST(Slice, StepZeroIsAnError) {
  EXPECT_NE(error_of([] { slice5(0, 1, 0); }).find("step"), std::string::npos);
}

TEST(Slice, NamedAxesAndAttributeForm) {
  const Tensor x = tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor y = run_one({"Slice", {x, ints({1}, {1}), ints({1}, {3}), ints({1}, {-1})}});
  EXPECT_EQ(values(y), (std::vector<float>{2, 3, 5, 6}));
  const Attributes attributes{
      {"starts", Ints{0, 1}}, {"ends", Ints{1, 1000}}, {"axes", Ints{0, 1}}};
  EXPECT_EQ(values(run_one({"Slice", {x}, attributes, 1})), (std::vector<float>{2, 3}));
}

TEST(Slice, AxisNamedTwice) {
  const auto call = [] {
    run_one(
        {"Slice",
         {tensor({2, 2}, {1, 2, 3, 4}), ints({2}, {0, 0}), ints({2}, {1, 1}), ints({2}, {0, -2})}});
  };
  EXPECT_NE(error_of(call).find("twice"), std::string::npos);
}

TEST(Slice, NoElements) {
  const Tensor empty = Tensor::zeros(DType::float32, {0});
  EXPECT_EQ(
      run_one({"Slice", {empty, ints({1}, {-1}), ints({1}, {-5}), ints({1}, {0}), ints({1}, {-1})}})
          .shape(),
      (Shape{0}));
}

TEST(Slice, UnknownSizesOfTheNamedAxis) {
  Graph g;
  g.info.opsets = {{"", 13}};
  const ValueId x = g.add_input("x", {DType::float32, std::vector<Dim>{{-1, "N"}, {8, ""}}});
  const ValueId starts = g.add_initializer("s", ints({1}, {0}));
  const ValueId ends = g.add_initializer("e", ints({1}, {3}));
  const ValueId axes = g.add_initializer("a", ints({1}, {1}));
  const ValueId y = g.add_value("y");
  g.add_node({.name = "n", .op_type = "Slice", .inputs = {x, starts, ends, axes}, .outputs = {y}});
  g.add_output(y);
  EXPECT_EQ(infer_types(g).type(y).dims, (Ints{-1, 3}));
}

}  // namespace
}  // namespace assay::test::slice_test
