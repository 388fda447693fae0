// Compress: flattened and along an axis, short conditions, errors.
#include <gtest/gtest.h>

#include "tests/support/op_call.h"

namespace assay::test::compress_test {
namespace {

const Tensor x = tensor({2, 3}, {1, 2, 3, 4, 5, 6});

Tensor flags(std::vector<std::int64_t> v) {
  return convert(ints({static_cast<std::int64_t>(v.size())}, v), DType::boolean);
}

TEST(Compress, FlattenedAndAlongAnAxis) {
  EXPECT_EQ(values(run_one({"Compress", {x, flags({0, 1, 0, 0, 1})}})), (std::vector<float>{2, 5}));
  EXPECT_EQ(values(run_one({"Compress", {x, flags({0, 1, 1})}, {{"axis", std::int64_t{1}}}})),
            (std::vector<float>{2, 3, 5, 6}));
  EXPECT_EQ(run_one({"Compress", {x, flags({0, 0})}, {{"axis", std::int64_t{0}}}}).shape(),
            (Shape{0, 3}));
}

TEST(Compress, TrueBeyondTheAxis) {
  const auto call = [] {
    run_one({"Compress", {x, flags({0, 0, 1})}, {{"axis", std::int64_t{0}}}});
  };
  EXPECT_NE(error_of(call).find("beyond"), std::string::npos);
}

}  // namespace
}  // namespace assay::test::compress_test
