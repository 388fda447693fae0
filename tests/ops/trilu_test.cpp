// Trilu: both triangles, shifted diagonals, batches.
#include <gtest/gtest.h>

#include "tests/support/op_call.h"

namespace assay::test::trilu_test {
namespace {

using Floats = std::vector<float>;
const Tensor x = tensor({2, 3}, {1, 2, 3, 4, 5, 6});
const Attributes lower{{"upper", std::int64_t{0}}};

TEST(Trilu, UpperAndLower) {
  EXPECT_EQ(values(run_one({"Trilu", {x}})), (Floats{1, 2, 3, 0, 5, 6}));
  EXPECT_EQ(values(run_one({"Trilu", {x}, lower})), (Floats{1, 0, 0, 4, 5, 0}));
}

TEST(Trilu, ShiftedDiagonal) {
  EXPECT_EQ(values(run_one({"Trilu", {x, ints({}, {2})}})), (Floats{0, 0, 3, 0, 0, 0}));
  EXPECT_EQ(values(run_one({"Trilu", {x, ints({}, {-1})}, lower})), (Floats{0, 0, 0, 4, 0, 0}));
  EXPECT_EQ(values(run_one({"Trilu", {x, ints({}, {-100})}})), values(x));
}

TEST(Trilu, BatchesAndEmpty) {
  EXPECT_EQ(values(run_one({"Trilu", {tensor({2, 1, 2}, {1, 2, 3, 4})}, lower})),
            (Floats{1, 0, 3, 0}));
  EXPECT_EQ(run_one({"Trilu", {Tensor::zeros(DType::float32, {2, 0, 3})}}).shape(),
            (Shape{2, 0, 3}));
  EXPECT_NE(error_of([] {
              run_one({"Trilu", {tensor({1}, {1})}});
            }).find("rank 2"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::test::trilu_test
