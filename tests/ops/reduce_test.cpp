// Reductions: axes in both forms, keepdims, noop, empty rows, exactness, integers, radius.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/function_check.h"

namespace assay::test::reduce_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

const Tensor x = tensor({2, 3}, {1, -2, 3, -4, 5, -6});

OpCall reduce(const std::string& type, Ints axes, std::int64_t opset = 18) {
  OpCall call{type, {x}, {}, opset};
  if (opset >= 18)
    call.inputs.push_back(ints({static_cast<std::int64_t>(axes.size())}, axes));
  else
    call.attributes.set("axes", axes);
  return call;
}

TEST(Reduce, Literals) {
  for (const std::int64_t opset : {11, 18}) {
    EXPECT_EQ(values(run_one(reduce("ReduceMean", {1}, opset))), (Floats{2.0F / 3, -5.0F / 3}));
    EXPECT_EQ(values(run_one(reduce("ReduceMax", {0}, opset))), (Floats{1, 5, 3}));
    EXPECT_EQ(values(run_one(reduce("ReduceMin", {-1}, opset))), (Floats{-2, -6}));
    EXPECT_EQ(values(run_one(reduce("ReduceProd", {0, 1}, opset))), (Floats{-720}));
    EXPECT_EQ(values(run_one(reduce("ReduceL1", {1}, opset))), (Floats{6, 15}));
    EXPECT_EQ(values(run_one(reduce("ReduceSumSquare", {1}, opset))), (Floats{14, 77}));
    EXPECT_EQ(values(run_one(reduce("ReduceL2", {0}, opset))),
              (Floats{static_cast<float>(std::sqrt(17.0)), static_cast<float>(std::sqrt(29.0)),
                      static_cast<float>(std::sqrt(45.0))}));
  }
  EXPECT_EQ(values(run_one(reduce("ReduceSum", {1}))), (Floats{2, -5}));
  EXPECT_EQ(values(run_one({"ReduceLogSum", {tensor({2}, {1, 2})}, {}, 13})),
            (Floats{static_cast<float>(std::log(3.0))}));
  EXPECT_EQ(values(run_one({"ReduceLogSumExp", {tensor({2}, {0, 0})}, {}, 13})),
            (Floats{static_cast<float>(std::log(2.0))}));
}

TEST(Reduce, ShapesAndDefaults) {
  EXPECT_EQ(run_one(reduce("ReduceSum", {0})).shape(), (Shape{1, 3}));
  OpCall drop = reduce("ReduceSum", {0});
  drop.attributes.set("keepdims", std::int64_t{0});
  EXPECT_EQ(run_one(drop).shape(), (Shape{3}));
  EXPECT_EQ(values(run_one({"ReduceSum", {x}, {}, 18})), (Floats{-3}));  // no axes: all of them
  EXPECT_TRUE(
      same_bits(run_one({"ReduceSum", {x}, {{"noop_with_empty_axes", std::int64_t{1}}}, 18}), x));
  EXPECT_NE(error_of([] { run_one(reduce("ReduceSum", {2})); }).find("axis out of range"),
            std::string::npos);
}

TEST(Reduce, EmptyRows) {
  const Tensor none = tensor({2, 0}, {});
  const Attributes a{{"axes", Ints{1}}};
  EXPECT_EQ(values(run_one({"ReduceSum", {none}, a, 11})), (Floats{0, 0}));
  EXPECT_EQ(values(run_one({"ReduceProd", {none}, a, 11})), (Floats{1, 1}));
  EXPECT_EQ(values(run_one({"ReduceMax", {none}, a, 11})), (Floats{-kInf, -kInf}));
  EXPECT_TRUE(std::isnan(values(run_one({"ReduceMean", {none}, a, 11}))[0]));
}

// Public case S-37.
TEST(Reduce, SumIsExact) {
  EXPECT_EQ(values(run_one({"ReduceSum", {tensor({4}, {1e8F, 1, -1e8F, 1})}, {}, 11})),
            (Floats{2}));
}

TEST(Reduce, Integers) {
  const Tensor i = ints({3}, {3, -4, 6});
  EXPECT_EQ(indices(run_one({"ReduceSum", {i}, {}, 11})), (Ints{5}));
  EXPECT_EQ(indices(run_one({"ReduceMean", {i}, {}, 11})), (Ints{1}));
  EXPECT_EQ(indices(run_one({"ReduceMax", {i}, {}, 11})), (Ints{6}));
  EXPECT_NE(error_of([&] {
              run_one({"ReduceL2", {i}, {}, 11});
            }).find("needs floats"),
            std::string::npos);
}

TEST(Reduce, EveryPrecisionAgrees) {
  const Tensor r = random_tensor({7, 33}, 0.1F, 1, 3);
  for (const char* type : {"ReduceSum", "ReduceMean", "ReduceL1", "ReduceL2", "ReduceSumSquare",
                           "ReduceLogSum", "ReduceLogSumExp", "ReduceProd"}) {
    OpCall call{type, {r}, {{"axes", Ints{1}}}, 11};
    const auto cr = values(run_one(call));
    call.precision =
        Precision::dd;  // far inside a rounding of the exact value, away from midpoints
    EXPECT_EQ(cr, values(run_one(call))) << type;
    call.precision = Precision::f32;
    const auto f32 = values(run_one(call));
    for (std::size_t i = 0; i < cr.size(); ++i)
      EXPECT_NEAR(f32[i], cr[i], 40 * 6e-8 * std::fabs(cr[i])) << type;
  }
}

TEST(Reduce, RadiusHolds) {
  for (const char* type : {"ReduceSum", "ReduceMean", "ReduceL1"}) {
    const double use =
        radius_use({type, {random_tensor({20, 200}, -1, 1, 4)}, {{"axes", Ints{1}}}, 11});
    EXPECT_LE(use, 1.0) << type;
    EXPECT_GE(use, 1.0 / 200) << type;
  }
}

}  // namespace
}  // namespace assay::test::reduce_test
