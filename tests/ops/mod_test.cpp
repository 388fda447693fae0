// Mod: signs of both forms.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/function_check.h"

namespace assay::test::mod_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

TEST(Mod, Signs) {
  const Tensor a = ints({6}, {-4, 7, 5, 4, -7, 8}), b = ints({6}, {2, -3, 8, -2, 3, 5});
  EXPECT_EQ(indices(run_one({"Mod", {a, b}})), (Ints{0, -2, 5, 0, 2, 3}));
  EXPECT_EQ(indices(run_one({"Mod", {a, b}, {{"fmod", std::int64_t{1}}}})),
            (Ints{0, 1, 5, 0, -1, 3}));
  const auto f = values(run_one(
      {"Mod", {tensor({2}, {-4.25F, 7}), tensor({2}, {2, -3})}, {{"fmod", std::int64_t{1}}}}));
  EXPECT_EQ(f, (Floats{-0.25F, 1}));
}

TEST(Mod, Errors) {
  EXPECT_NE(error_of([] {
              run_one({"Mod", {ints({1}, {1}), ints({1}, {0})}});
            }).find("by zero"),
            std::string::npos);
  EXPECT_NE(error_of([] {
              run_one({"Mod", {tensor({1}, {1}), tensor({1}, {1})}});
            }).find("fmod"),
            std::string::npos);
  const Tensor least = ints({1}, {std::numeric_limits<std::int64_t>::min()});
  EXPECT_EQ(indices(run_one({"Mod", {least, ints({1}, {-1})}})), (Ints{0}));
}

}  // namespace
}  // namespace assay::test::mod_test
