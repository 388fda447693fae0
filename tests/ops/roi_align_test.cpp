// RoiAlign: averages, maximum, both coordinate forms, samples outside, errors.
#include <gtest/gtest.h>

#include "tests/support/op_call.h"

namespace assay::test::roi_align_test {
namespace {

using Floats = std::vector<float>;

// v[y][x] = 4 y + x: bilinear samples inside are 4 y + x themselves.
const Tensor image = [] {
  Floats v;
  for (int i = 0; i < 16; ++i) v.push_back(static_cast<float>(i));
  return tensor({1, 1, 4, 4}, v);
}();

Floats align(Floats roi, Attributes a, std::int64_t opset = 16) {
  return values(
      run_one({"RoiAlign", {image, tensor({1, 4}, roi), ints({1}, {0})}, std::move(a), opset}));
}

TEST(RoiAlign, OneBinReadsItsMiddle) {
  // Region (0, 0) to (2, 2), one sample at its middle (1, 1), half a place less with half_pixel.
  const Attributes one{{"sampling_ratio", std::int64_t{1}}};
  EXPECT_EQ(align({0, 0, 2, 2}, one, 10), (Floats{5}));
  EXPECT_EQ(align({0, 0, 2, 2}, one, 16), (Floats{2.5F}));
}

TEST(RoiAlign, BinsAndSpatialScale) {
  const Attributes a{{"sampling_ratio", std::int64_t{1}},
                     {"output_height", std::int64_t{2}},
                     {"output_width", std::int64_t{2}},
                     {"spatial_scale", 0.5F}};
  // Region (0, 0) to (2, 2) after scaling: middles 0.5 and 1.5.
  EXPECT_EQ(align({0, 0, 4, 4}, a, 10), (Floats{2.5F, 3.5F, 6.5F, 7.5F}));
}

TEST(RoiAlign, MaximumOfWeightedCorners) {
  // Sample (1, 1) has one corner of weight 1.
  const Attributes a{{"sampling_ratio", std::int64_t{1}}, {"mode", std::string("max")}};
  EXPECT_EQ(align({0, 0, 2, 2}, a, 10), (Floats{5}));
}

TEST(RoiAlign, FarOutsideIsZero) { EXPECT_EQ(align({20, 20, 22, 22}, {}, 10), (Floats{0})); }

TEST(RoiAlign, Errors) {
  const auto batch = [] {
    run_one({"RoiAlign", {image, tensor({1, 4}, {0, 0, 1, 1}), ints({1}, {1})}});
  };
  EXPECT_NE(error_of(batch).find("batch index"), std::string::npos);
  EXPECT_NE(error_of([] {
              align({0, 0, 1, 1}, {{"mode", std::string("sum")}});
            }).find("sum"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::test::roi_align_test
