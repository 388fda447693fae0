// Logic and bits.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/function_check.h"

namespace assay::test::logic_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

const Tensor p = Tensor::of<bool>({4}, {true, true, false, false}),
             q = Tensor::of<bool>({4}, {true, false, true, false});

TEST(Logic, TruthTables) {
  EXPECT_EQ(indices(run_one({"And", {p, q}})), (Ints{1, 0, 0, 0}));
  EXPECT_EQ(indices(run_one({"Or", {p, q}})), (Ints{1, 1, 1, 0}));
  EXPECT_EQ(indices(run_one({"Xor", {p, q}})), (Ints{0, 1, 1, 0}));
  EXPECT_EQ(indices(run_one({"Not", {p}})), (Ints{0, 0, 1, 1}));
  EXPECT_NE(error_of([] {
              run_one({"And", {tensor({1}, {1}), tensor({1}, {1})}});
            }).find("bool"),
            std::string::npos);
}

TEST(Logic, BitsOfIntegers) {
  EXPECT_EQ(indices(run_one({"BitwiseAnd", {ints({1}, {12}), ints({1}, {10})}, {}, 18})),
            (Ints{8}));
  EXPECT_EQ(indices(run_one({"BitwiseOr", {ints({1}, {12}), ints({1}, {10})}, {}, 18})),
            (Ints{14}));
  EXPECT_EQ(indices(run_one({"BitwiseXor", {ints({1}, {12}), ints({1}, {10})}, {}, 18})),
            (Ints{6}));
  EXPECT_EQ(indices(run_one({"BitwiseNot", {ints({1}, {0})}, {}, 18})), (Ints{-1}));
}

TEST(Logic, BitShift) {
  const Tensor x = Tensor::of<std::uint8_t>({3}, {16, 4, 255}),
               by = Tensor::of<std::uint8_t>({3}, {1, 2, 8});
  EXPECT_EQ(indices(run_one({"BitShift", {x, by}, {{"direction", std::string("RIGHT")}}})),
            (Ints{8, 1, 0}));
  EXPECT_EQ(indices(run_one({"BitShift", {x, by}, {{"direction", std::string("LEFT")}}})),
            (Ints{32, 16, 0}));
  EXPECT_NE(error_of([&] { run_one({"BitShift", {x, by}}); }).find("direction"), std::string::npos);
}

}  // namespace
}  // namespace assay::test::logic_test
