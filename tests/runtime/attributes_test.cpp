// Attributes and errors: typed access, one-line messages.
#include "runtime/attributes.h"

#include "runtime/graph.h"
#include "tests/support/matchers.h"

namespace assay::test::attributes_test {
namespace {

TEST(AttributesTest, TypedAccess) {
  const Attributes a{{"i", std::int64_t{3}}, {"f", 0.5F}, {"v", std::vector<std::int64_t>{1, 2}}};
  EXPECT_EQ(a.int_or("i", 0), 3);
  EXPECT_EQ(a.int_or("none", 7), 7);
  EXPECT_EQ(a.required_ints("v"), (std::vector<std::int64_t>{1, 2}));
  expect_error([&] { a.int_or("f", 0); }, ErrorKind::bad_input, {"'f'", "wrong kind"});
  expect_error([&] { a.required_int("none"); }, ErrorKind::bad_input, {"'none'", "missing"});
  expect_error([&] { a.required_tensor("i"); }, ErrorKind::bad_input, {"'i'"});
}

TEST(AttributesTest, SameComparesTensorsByBits) {
  const Attributes a{{"t", Tensor::scalar(0.0F)}};
  EXPECT_TRUE(same(a, Attributes{{"t", Tensor::scalar(0.0F)}}));
  EXPECT_FALSE(same(a, Attributes{{"t", Tensor::scalar(-0.0F)}}));
  EXPECT_FALSE(same(a, Attributes{{"u", Tensor::scalar(0.0F)}}));
  EXPECT_FALSE(same(Attributes{{"x", std::int64_t{1}}}, Attributes{{"x", 1.0F}}));
}

TEST(ErrorTest, MessageIsOneLineInAFixedOrder) {
  const Error e({.what = "shape\nmismatch",
                 .where = "node 'a'",
                 .got = "1",
                 .expected = "2",
                 .advice = "fix it"});
  EXPECT_STREQ(e.what(), "node 'a': shape mismatch, got 1, expected 2; fix it");
  EXPECT_STREQ(e.at("m.onnx").what(),
               "m.onnx: node 'a': shape mismatch, got 1, expected 2; fix it");
  EXPECT_EQ(Error({.what = "w", .kind = ErrorKind::unsupported}).at("x").kind(),
            ErrorKind::unsupported);
}

TEST(ErrorTest, AssertionsAreInternalErrors) {
  expect_error([] { ASSAY_ASSERT(1 == 2); }, ErrorKind::internal,
               {"1 == 2", "attributes_test.cpp"});
}

}  // namespace
}  // namespace assay::test::attributes_test
