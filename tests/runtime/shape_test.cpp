// Shape: products, strides, broadcasting.
#include "runtime/shape.h"

#include "tests/support/matchers.h"

namespace assay::test::shape_test {
namespace {

TEST(ShapeTest, Products) {
  EXPECT_EQ(Shape{}.numel(), 1);
  EXPECT_EQ((Shape{2, 3, 4}).numel(), 24);
  EXPECT_EQ((Shape{2, 3, 4}).numel(1, 3), 12);
  EXPECT_EQ((Shape{std::int64_t{1} << 62, 0}).numel(), 0);
  expect_error([] { (void)Shape{4294967296, 4294967296}.numel(); }, ErrorKind::bad_input, {"2^63"});
  expect_error([] { (void)Shape{2, -1}.numel(); }, ErrorKind::bad_input, {"negative", "[2, -1]"});
}

TEST(ShapeTest, StridesAndIndexing) {
  EXPECT_EQ((Shape{2, 3, 4}).strides(), (std::vector<std::int64_t>{12, 4, 1}));
  EXPECT_EQ((Shape{2, 3, 4})[-1], 4);
  EXPECT_EQ(to_string(Shape{2, 3}), "[2, 3]");
}

TEST(ShapeTest, Broadcasting) {
  EXPECT_EQ(broadcast({2, 1, 4}, {3, 1}), (Shape{2, 3, 4}));
  EXPECT_EQ(broadcast({}, {5}), (Shape{5}));
  EXPECT_EQ(broadcast({1}, {0}), (Shape{0}));
  EXPECT_EQ(broadcast({2}, {3}), std::nullopt);
  EXPECT_EQ(broadcast_strides({3, 1}, {2, 3, 4}), (std::vector<std::int64_t>{0, 1, 0}));
}

TEST(ShapeTest, Axes) {
  EXPECT_EQ(normalize_axis(-1, 3), 2);
  EXPECT_EQ(normalize_axis(0, 1), 0);
  expect_error([] { normalize_axis(3, 3); }, ErrorKind::bad_input, {"got 3", "[-3, 3)"});
  expect_error([] { normalize_axis(0, 0); }, ErrorKind::bad_input, {"axis"});
}

}  // namespace
}  // namespace assay::test::shape_test
