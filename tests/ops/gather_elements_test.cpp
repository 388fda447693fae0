// GatherElements: axes, negative indices, errors.
#include <gtest/gtest.h>

#include "tests/support/op_call.h"

namespace assay::test::gather_elements_test {
namespace {

const Tensor x = tensor({2, 3}, {1, 2, 3, 4, 5, 6});

TEST(GatherElements, BothAxes) {
  EXPECT_EQ(values(run_one({"GatherElements", {x, ints({1, 3}, {1, 0, -1})}})),
            (std::vector<float>{4, 2, 6}));
  EXPECT_EQ(values(run_one(
                {"GatherElements", {x, ints({2, 2}, {2, 2, 0, -3})}, {{"axis", std::int64_t{1}}}})),
            (std::vector<float>{3, 3, 4, 4}));
}

TEST(GatherElements, Errors) {
  const auto call = [](Tensor i) { return error_of([&] { run_one({"GatherElements", {x, i}}); }); };
  EXPECT_NE(call(ints({1, 3}, {2, 0, 0})).find("out of range"), std::string::npos);
  EXPECT_NE(call(ints({3}, {0, 0, 0})).find("rank"), std::string::npos);
  EXPECT_NE(call(ints({1, 4}, {0, 0, 0, 0})).find("larger"), std::string::npos);
}

}  // namespace
}  // namespace assay::test::gather_elements_test
