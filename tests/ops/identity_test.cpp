// Identity: bits are kept, for every type.
#include <gtest/gtest.h>

#include <bit>

#include "tests/support/op_call.h"

namespace assay::test::identity_test {
namespace {

TEST(Identity, KeepsBits) {
  const Tensor x = tensor({2}, {std::bit_cast<float>(0xFFC12345U), -0.0F});
  EXPECT_TRUE(same_bits(run_one({"Identity", {x}}), x));
  const Tensor b = Tensor::of<bool>({2}, {true, false});
  EXPECT_TRUE(same_bits(run_one({"Identity", {b}}), b));
}

}  // namespace
}  // namespace assay::test::identity_test
