// Tensor: limits, conversion, views.
#include "runtime/tensor.h"

#include <limits>

#include "tests/support/matchers.h"

namespace assay::test::tensor_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

class LimitedMemory : public ::testing::Test {
 protected:
  void TearDown() override { set_max_tensor_bytes(before); }
  std::int64_t before = max_tensor_bytes();
};

TEST_F(LimitedMemory, S32_RefusedBeforeAllocating) {
  expect_error([] { Tensor(DType::float32, {17592186044800}); }, ErrorKind::bad_input,
               {"limit", "--max-tensor-bytes"});
  set_max_tensor_bytes(15);
  expect_error([] { Tensor(DType::float32, {4}); }, ErrorKind::bad_input, {"15 bytes"});
  set_max_tensor_bytes(16);
  EXPECT_EQ(Tensor(DType::float32, {4}).bytes(), 16);
}

TEST(TensorTest, SizesAreChecked) {
  expect_error([] { Tensor(DType::float32, {-1}); }, ErrorKind::bad_input, {"negative"});
  expect_error(
      [] {
        Tensor(DType::float32, {std::int64_t{1} << 62, 4});
      },
      ErrorKind::bad_input, {"2^63"});
  expect_error([] { bytes_of(DType::float64, {std::int64_t{1} << 61}); }, ErrorKind::bad_input,
               {"2^63 bytes"});
  expect_error([] { Tensor(DType::string, {1}); }, ErrorKind::unsupported, {"string"});
  EXPECT_EQ(Tensor(DType::float32, {std::int64_t{1} << 40, 0}).numel(), 0);
}

TEST(TensorTest, ScalarsAndEmpties) {
  EXPECT_EQ(Tensor::scalar(2.0F).numel(), 1);
  EXPECT_EQ(describe(Tensor::scalar(2.0F)), "float32 []");
  EXPECT_TRUE(same_bits(Tensor(DType::float32, {0, 3}), Tensor(DType::float32, {0, 3})));
  EXPECT_FALSE(same_bits(Tensor(DType::float32, {0, 3}), Tensor(DType::float32, {3, 0})));
}

TEST(TensorTest, ViewsShareTheBuffer) {
  Tensor t = Tensor::of<float>({3, 2}, {0, 1, 2, 3, 4, 5});
  expect_values(t.rows(1, 3), {2, 2}, {2, 3, 4, 5});
  expect_values(t.reshaped({2, 3}), {2, 3}, {0, 1, 2, 3, 4, 5});
  const Tensor copy = t.clone();
  t.mutable_data<float>()[0] = 9;
  expect_values(copy.rows(0, 1), {1, 2}, {0, 1});
  expect_values(t.rows(0, 1), {1, 2}, {9, 1});
  expect_error([&] { t.reshaped({5}); }, ErrorKind::bad_input, {"6 elements"});
}

TEST(TensorTest, FloatToIntegerClampsAndRoundsToEven) {
  const Tensor t = Tensor::of<double>({8}, {0.5, 1.5, -2.5, 1e30, -1e30, inf, -inf, nan});
  expect_values(convert(t, DType::int8), {8}, {0, 2, -2, 127, -128, 127, -128, 0});
  expect_values(convert(t, DType::uint8), {8}, {0, 2, 0, 255, 0, 255, 0, 0});
  const auto wide = to_ints(convert(t, DType::int64));
  EXPECT_EQ(wide[3], std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(wide[4], std::numeric_limits<std::int64_t>::min());
}

TEST(TensorTest, OneRoundingFromWideTypes) {
  // 2^53 + 1 is a tie of float64; float32 takes it in one step to 2^53.
  expect_values(
      convert(Tensor::of<std::int64_t>({1}, {(std::int64_t{1} << 53) + 1}), DType::float32), {1},
      {0x1p53});
  // 1 + 2^-24 + 2^-60: through float64 it would be the tie 1 + 2^-24 and go to 1; it lies above the
  // tie.
  const Tensor t = Tensor::of<dd>({1}, {dd(1.0 + 0x1p-24) + dd(0x1p-60)});
  expect_values(convert(t, DType::float32), {1}, {1.0 + 0x1p-23});
}

TEST(TensorTest, IntegersWrapBetweenThemselves) {
  expect_values(convert(Tensor::of<std::int32_t>({2}, {300, -1}), DType::uint8), {2}, {44, 255});
}

TEST(TensorTest, SameBitsSeesTheSignOfZero) {
  EXPECT_FALSE(same_bits(Tensor::scalar(0.0F), Tensor::scalar(-0.0F)));
  expect_error([] { to_ints(Tensor::scalar(1.0F)); }, ErrorKind::bad_input, {"not an integer"});
}

}  // namespace
}  // namespace assay::test::tensor_test
