// EyeLike: diagonals, types.
#include <gtest/gtest.h>

#include "tests/support/op_call.h"

namespace assay::test::eye_like_test {
namespace {

const Tensor x = tensor({2, 3}, {9, 9, 9, 9, 9, 9});

TEST(EyeLike, Diagonals) {
  EXPECT_EQ(values(run_one({"EyeLike", {x}})), (std::vector<float>{1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(values(run_one({"EyeLike", {x}, {{"k", std::int64_t{1}}}})),
            (std::vector<float>{0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(values(run_one({"EyeLike", {x}, {{"k", std::int64_t{-1}}}})),
            (std::vector<float>{0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(values(run_one({"EyeLike", {x}, {{"k", std::int64_t{7}}}})),
            (std::vector<float>{0, 0, 0, 0, 0, 0}));
}

TEST(EyeLike, TypeAndRank) {
  EXPECT_EQ(run_one({"EyeLike", {x}, {{"dtype", std::int64_t{7}}}}).dtype(), DType::int64);
  EXPECT_NE(error_of([] {
              run_one({"EyeLike", {tensor({1}, {1})}});
            }).find("matrix"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::test::eye_like_test
