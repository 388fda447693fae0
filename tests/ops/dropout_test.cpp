// Dropout at inference: the input and a mask of the opset's type; training is refused.
#include <gtest/gtest.h>

#include "tests/support/op_call.h"

namespace assay::test::dropout_test {
namespace {

TEST(Dropout, PassesTheInput) {
  const Tensor x = tensor({2}, {1.5F, -2.0F});
  EXPECT_TRUE(same_bits(run_one({"Dropout", {x}, {}, 7}), x));
  OpCall call{"Dropout", {x}, {}, 12};
  call.outputs = 2;
  EXPECT_EQ(indices(run(call)[1]), (std::vector<std::int64_t>{1, 1}));
  call.opset = 7;
  EXPECT_EQ(values(run(call)[1]), (std::vector<float>{1.0F, 1.0F}));
}

TEST(Dropout, RefusesTraining) {
  const Tensor x = tensor({2}, {1, 2}), yes = Tensor::of<bool>({}, {true});
  const auto call = [&] { run_one({"Dropout", {x, tensor({}, {0.5F}), yes}}); };
  EXPECT_NE(error_of(call).find("training"), std::string::npos);
  EXPECT_TRUE(same_bits(run_one({"Dropout", {x, tensor({}, {0.0F}), yes}}), x));
}

}  // namespace
}  // namespace assay::test::dropout_test
