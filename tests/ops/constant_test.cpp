// Constant and ConstantOfShape: values by attribute, and a demand that is refused before anything
// is allocated (public case S-32).
#include <gtest/gtest.h>

#include "tests/support/op_call.h"

namespace assay::test::constant_test {
namespace {

using Ints = std::vector<std::int64_t>;

TEST(Constant, FormsOfTheValue) {
  EXPECT_EQ(values(run_one({"Constant", {}, {{"value_float", 1.5F}}})), (std::vector<float>{1.5F}));
  EXPECT_EQ(indices(run_one({"Constant", {}, {{"value_ints", Ints{3, 4}}}})), (Ints{3, 4}));
  EXPECT_EQ(values(run_one({"Constant", {}, {{"value", tensor({2}, {1, 2})}}})),
            (std::vector<float>{1, 2}));
  EXPECT_NE(error_of([] { run_one({"Constant", {}}); }).find("value"), std::string::npos);
}

TEST(ConstantOfShape, DefaultAndGivenValue) {
  EXPECT_EQ(values(run_one({"ConstantOfShape", {ints({2}, {1, 2})}})), (std::vector<float>{0, 0}));
  const Tensor y = run_one({"ConstantOfShape", {ints({1}, {3})}, {{"value", ints({1}, {7})}}});
  EXPECT_EQ(y.dtype(), DType::int64);
  EXPECT_EQ(indices(y), (Ints{7, 7, 7}));
  EXPECT_EQ(run_one({"ConstantOfShape", {ints({0}, {})}}).shape(), (Shape{}));
  EXPECT_EQ(run_one({"ConstantOfShape", {ints({2}, {0, 5})}}).shape(), (Shape{0, 5}));
}

TEST(ConstantOfShape, HugeDemandIsRefused) {
  const auto call = [] { run_one({"ConstantOfShape", {ints({1}, {17592186044800})}}); };
  EXPECT_NE(error_of(call).find("17592186044800"), std::string::npos);
}

TEST(ConstantOfShape, NegativeSize) {
  EXPECT_NE(error_of([] {
              run_one({"ConstantOfShape", {ints({1}, {-1})}});
            }).find("negative"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::test::constant_test
