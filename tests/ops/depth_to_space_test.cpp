// DepthToSpace and SpaceToDepth: both channel orders, the way back, errors.
#include <gtest/gtest.h>

#include "tests/support/op_call.h"

namespace assay::test::depth_to_space_test {
namespace {

using Floats = std::vector<float>;
const Attributes two{{"blocksize", std::int64_t{2}}};

// Channel c of the one place holds the value c.
const Tensor x = tensor({1, 8, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7});

TEST(DepthToSpace, DepthColumnRow) {
  const Tensor y = run_one({"DepthToSpace", {x}, two});
  EXPECT_EQ(y.shape(), (Shape{1, 2, 2, 2}));
  EXPECT_EQ(values(y), (Floats{0, 2, 4, 6, 1, 3, 5, 7}));
  EXPECT_EQ(values(run_one({"SpaceToDepth", {y}, two})), values(x));
}

TEST(DepthToSpace, ColumnRowDepth) {
  Attributes crd = two;
  crd.set("mode", std::string("CRD"));
  EXPECT_EQ(values(run_one({"DepthToSpace", {x}, crd})), (Floats{0, 1, 2, 3, 4, 5, 6, 7}));
  const Tensor y = run_one({"DepthToSpace", {x}, crd});
  EXPECT_EQ(values(run_one({"SpaceToDepth", {y}, crd})), values(x));
}

TEST(DepthToSpace, Errors) {
  const Attributes three{{"blocksize", std::int64_t{3}}}, none{{"blocksize", std::int64_t{0}}};
  const auto error = [](const char* op, const Attributes& a) {
    return error_of([&] { run_one({op, {x}, a}); });
  };
  EXPECT_NE(error("DepthToSpace", three).find("multiple"), std::string::npos);
  EXPECT_NE(error("SpaceToDepth", two).find("height"), std::string::npos);
  EXPECT_NE(error("SpaceToDepth", none).find("blocksize"), std::string::npos);
}

}  // namespace
}  // namespace assay::test::depth_to_space_test
