// PRelu: slopes per channel in both conventions.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/function_check.h"

namespace assay::test::prelu_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

TEST(PRelu, Literals) {
  const Tensor x = tensor({1, 2, 2}, {-1, 2, -3, 4});
  EXPECT_EQ(values(run_one({"PRelu", {x, tensor({2, 1}, {0.5F, 2})}})), (Floats{-0.5F, 2, -6, 4}));
  EXPECT_EQ(values(run_one({"PRelu", {x, tensor({2}, {0.5F, 2})}, {}, 6})),
            (Floats{-0.5F, 2, -6, 4}));
  EXPECT_EQ(values(run_one({"PRelu", {x, tensor({1}, {0.25F})}})), (Floats{-0.25F, 2, -0.75F, 4}));
  EXPECT_NE(error_of([&] {
              run_one({"PRelu", {x, tensor({3}, {1, 1, 1})}});
            }).find("does not broadcast"),
            std::string::npos);
}

TEST(PRelu, RadiusHolds) {
  const double use = radius_use(
      {"PRelu", {random_tensor({1, 3, 100}, -1, 1, 1), tensor({3, 1}, {0.3F, 0.7F, 1.9F})}});
  EXPECT_LE(use, 1.0);
  EXPECT_GE(use, 1.0 / 200);
}

}  // namespace
}  // namespace assay::test::prelu_test
