// Shrink.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/function_check.h"

namespace assay::test::shrink_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

TEST(Shrink, Literals) {
  const Tensor x = tensor({5}, {-2, -1, 0, 1, 2});
  EXPECT_EQ(values(run_one({"Shrink", {x}, {{"lambd", 1.5F}}})), (Floats{-2, 0, 0, 0, 2}));
  EXPECT_EQ(values(run_one({"Shrink", {x}, {{"lambd", 1.5F}, {"bias", 1.5F}}})),
            (Floats{-0.5F, 0, 0, 0, 0.5F}));
  EXPECT_EQ(indices(run_one({"Shrink", {ints({2}, {-3, 3})}, {{"lambd", 1.0F}, {"bias", 1.5F}}})),
            (Ints{-1, 1}));
}

}  // namespace
}  // namespace assay::test::shrink_test
