#include <gtest/gtest.h>

#include "tests/support/quant_graphs.h"

namespace assay::test::dynamic_quantize_linear_test {
namespace {

struct Found {
  std::vector<std::int64_t> y;
  float scale;
  std::int64_t zero;
};

Found quantize(const Tensor& x) {
  const auto out = run_op("DynamicQuantizeLinear", {x}, {}, 13, 3);
  return {codes(out[0]), floats(out[1])[0], codes(out[2])[0]};
}

TEST(DynamicQuantizeLinear, S20_ZeroPointRoundsToEven) {
  const Found found = quantize(f32({2}, {-253, 257}));
  EXPECT_EQ(found.scale, 2.0F);
  EXPECT_EQ(found.zero, 126);
  EXPECT_EQ(found.y, (std::vector<std::int64_t>{0, 254}));
}

TEST(DynamicQuantizeLinear, S25_RangeIsWidenedToZero) {
  EXPECT_EQ(quantize(f32({2}, {1, 3})).y, (std::vector<std::int64_t>{85, 255}));
  EXPECT_EQ(quantize(f32({2}, {1, 3})).zero, 0);
  EXPECT_EQ(quantize(f32({2}, {-3, -1})).y, (std::vector<std::int64_t>{0, 170}));
  EXPECT_EQ(quantize(f32({2}, {-3, -1})).zero, 255);
  EXPECT_EQ(quantize(f32({2}, {2, 2})).y, (std::vector<std::int64_t>{255, 255}));
  EXPECT_EQ(quantize(f32({2}, {0, 0})).y, (std::vector<std::int64_t>{0, 0}));
  EXPECT_EQ(quantize(f32({2}, {0, 0})).scale, 1.0F);
}

}  // namespace
}  // namespace assay::test::dynamic_quantize_linear_test
