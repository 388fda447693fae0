// Squeeze: attribute and input forms, defaults, errors.
#include <gtest/gtest.h>

#include "tests/support/op_call.h"

namespace assay::test::squeeze_test {
namespace {

using Ints = std::vector<std::int64_t>;

Shape shape_of(const OpCall& call) { return run_one(call).shape(); }

const Tensor x = Tensor::zeros(DType::float32, {1, 3, 1, 2});

TEST(Squeeze, NamedAndAll) {
  EXPECT_EQ(shape_of({"Squeeze", {x}}), (Shape{3, 2}));
  EXPECT_EQ(shape_of({"Squeeze", {x, ints({1}, {-2})}}), (Shape{1, 3, 2}));
  EXPECT_EQ(shape_of({"Squeeze", {x}, {{"axes", Ints{0}}}, 11}), (Shape{3, 1, 2}));
}

TEST(Squeeze, AxisThatIsNotOne) {
  EXPECT_NE(error_of([] {
              run_one({"Squeeze", {x, ints({1}, {1})}});
            }).find("size of 1"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::test::squeeze_test
