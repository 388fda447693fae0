// ScatterND: elements, slices, reductions, errors.
#include <gtest/gtest.h>

#include "tests/support/op_call.h"

namespace assay::test::scatter_nd_test {
namespace {

using Floats = std::vector<float>;
const Tensor x = tensor({2, 2}, {1, 2, 3, 4});

TEST(ScatterNd, ElementsAndSlices) {
  EXPECT_EQ(values(run_one({"ScatterND", {x, ints({1, 2}, {1, -1}), tensor({1}, {9})}})),
            (Floats{1, 2, 3, 9}));
  EXPECT_EQ(values(run_one({"ScatterND", {x, ints({1, 1}, {0}), tensor({1, 2}, {7, 8})}})),
            (Floats{7, 8, 3, 4}));
}

TEST(ScatterNd, ReductionInOrder) {
  const Tensor y = run_one({"ScatterND",
                            {x, ints({2, 1}, {0, 0}), tensor({2, 2}, {1, 1, 10, 10})},
                            {{"reduction", std::string("add")}}});
  EXPECT_EQ(values(y), (Floats{12, 13, 3, 4}));
}

TEST(ScatterNd, NothingToDo) {
  EXPECT_EQ(
      values(run_one({"ScatterND", {x, ints({0, 2}, {}), Tensor::zeros(DType::float32, {0})}})),
      (Floats{1, 2, 3, 4}));
}

TEST(ScatterNd, Errors) {
  const auto call = [](Tensor at, Tensor v) {
    return error_of([&] { run_one({"ScatterND", {x, at, v}}); });
  };
  EXPECT_NE(call(ints({1, 2}, {2, 0}), tensor({1}, {0})).find("out of range"), std::string::npos);
  EXPECT_NE(call(ints({1, 2}, {0, 0}), tensor({2}, {0, 0})).find("fit"), std::string::npos);
}

}  // namespace
}  // namespace assay::test::scatter_nd_test
