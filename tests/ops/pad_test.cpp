// Pad: borders of every mode, negative pads, axes, older forms, radii.
#include <gtest/gtest.h>

#include "tests/support/op_call.h"

namespace assay::test::pad_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

Floats pad3(const char* mode, std::int64_t begin, std::int64_t end) {
  return values(run_one({"Pad",
                         {tensor({3}, {1, 2, 3}), ints({2}, {begin, end})},
                         {{"mode", std::string(mode)}},
                         19}));
}

TEST(Pad, Borders) {
  EXPECT_EQ(pad3("constant", 2, 1), (Floats{0, 0, 1, 2, 3, 0}));
  EXPECT_EQ(pad3("edge", 2, 1), (Floats{1, 1, 1, 2, 3, 3}));
  EXPECT_EQ(pad3("reflect", 2, 2), (Floats{3, 2, 1, 2, 3, 2, 1}));
  EXPECT_EQ(pad3("wrap", 2, 2), (Floats{2, 3, 1, 2, 3, 1, 2}));
}

TEST(Pad, BordersLongerThanTheAxis) {
  EXPECT_EQ(pad3("reflect", 5, 0), (Floats{2, 1, 2, 3, 2, 1, 2, 3}));
  EXPECT_EQ(pad3("wrap", 4, 0), (Floats{3, 1, 2, 3, 1, 2, 3}));
}

TEST(Pad, NegativePadsCrop) {
  EXPECT_EQ(pad3("constant", -1, 1), (Floats{2, 3, 0}));
  EXPECT_EQ(pad3("edge", -1, 1), (Floats{2, 3, 3}));
  EXPECT_EQ(pad3("constant", -3, 2), (Floats{0, 0}));
  EXPECT_NE(error_of([] { pad3("constant", -2, -2); }).find("pads"), std::string::npos);
}

TEST(Pad, ValueAndAxes) {
  const Tensor x = tensor({1, 2}, {1, 2});
  const Tensor y =
      run_one({"Pad", {x, ints({2}, {1, 0}), tensor({}, {9}), ints({1}, {-1})}, {}, 18});
  EXPECT_EQ(y.shape(), (Shape{1, 3}));
  EXPECT_EQ(values(y), (Floats{9, 1, 2}));
}

TEST(Pad, AttributeForm) {
  const Attributes a{{"pads", Ints{0, 1, 0, 1}}, {"value", 5.0F}};
  EXPECT_EQ(values(run_one({"Pad", {tensor({1, 1}, {1})}, a, 2})), (Floats{5, 1, 5}));
}

TEST(Pad, NothingToRepeat) {
  const Tensor empty = Tensor::zeros(DType::float32, {0});
  EXPECT_EQ(values(run_one({"Pad", {empty, ints({2}, {1, 1})}})), (Floats{0, 0}));
  const auto call = [&] {
    run_one({"Pad", {empty, ints({2}, {1, 1})}, {{"mode", std::string("edge")}}});
  };
  EXPECT_NE(error_of(call).find("without elements"), std::string::npos);
}

TEST(Pad, RadiusOfTheBorderIsZero) {
  const Attributes a{{"pads", Ints{1, 0}}, {"value", 5.0F}};
  const Tensor radius = radius_of({"Pad", {tensor({1}, {1})}, a, 2}, {tensor64({1}, {0.5})});
  EXPECT_EQ(to_doubles(radius), (std::vector<double>{0, 0.5}));
}

}  // namespace
}  // namespace assay::test::pad_test
