// Tile: repeats per axis, the form of opset 1, a demand beyond the limit (public case S-32).
#include <gtest/gtest.h>

#include "tests/support/op_call.h"

namespace assay::test::tile_test {
namespace {

TEST(Tile, RepeatsPerAxis) {
  const Tensor y = run_one({"Tile", {tensor({1, 2}, {1, 2}), ints({2}, {2, 2})}});
  EXPECT_EQ(y.shape(), (Shape{2, 4}));
  EXPECT_EQ(values(y), (std::vector<float>{1, 2, 1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(run_one({"Tile", {tensor({2}, {1, 2}), ints({1}, {0})}}).shape(), (Shape{0}));
}

TEST(Tile, Opset1) {
  const Tensor y =
      run_one({"Tile", {tensor({2, 1}, {1, 2}), ints({1}, {3}), ints({1}, {1})}, {}, 1});
  EXPECT_EQ(values(y), (std::vector<float>{1, 1, 1, 2, 2, 2}));
}

TEST(Tile, WrongRepeats) {
  const Tensor x = tensor({2}, {1, 2});
  EXPECT_NE(error_of([&] {
              run_one({"Tile", {x, ints({2}, {1, 1})}});
            }).find("repeats"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              run_one({"Tile", {x, ints({1}, {-1})}});
            }).find("repeats"),
            std::string::npos);
  EXPECT_NE(error_of([&] { run_one({"Tile", {x, ints({1}, {100000000000})}}); }).size(), 0U);
}

}  // namespace
}  // namespace assay::test::tile_test
