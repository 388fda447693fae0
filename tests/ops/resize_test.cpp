// Resize and Upsample: coordinates, modes, sizes against scales, antialias, extrapolation. Values
// by hand from the formulas of ONNX.
#include <gtest/gtest.h>

#include "tests/support/op_call.h"

namespace assay::test::resize_test {
namespace {

using Floats = std::vector<float>;

Attributes mode(const char* mode, const char* coordinates, Attributes more = {}) {
  more.set("mode", std::string(mode));
  more.set("coordinate_transformation_mode", std::string(coordinates));
  return more;
}

OpCall by_scale(Floats x, float scale, Attributes a, std::int64_t opset = 19) {
  const auto n = static_cast<std::int64_t>(x.size());
  return {"Resize", {tensor({n}, x), Tensor(), tensor({1}, {scale})}, std::move(a), opset};
}

OpCall by_size(Floats x, std::int64_t size, Attributes a) {
  const auto n = static_cast<std::int64_t>(x.size());
  return {"Resize", {tensor({n}, x), Tensor(), Tensor(), ints({1}, {size})}, std::move(a), 19};
}

TEST(Resize, NearestPicksByRule) {
  // asymmetric, 3 places from 2: 0, 2/3, 4/3.
  const auto near = [](const char* rule) {
    return values(run_one(
        by_size({1, 2}, 3, mode("nearest", "asymmetric", {{"nearest_mode", std::string(rule)}}))));
  };
  EXPECT_EQ(near("floor"), (Floats{1, 1, 2}));
  EXPECT_EQ(near("ceil"), (Floats{1, 2, 2}));
  EXPECT_EQ(near("round_prefer_floor"), (Floats{1, 2, 2}));
  // half_pixel down by 2: 0.5 and 2.5, both halves.
  const auto half = [](const char* rule) {
    return values(run_one(by_scale(
        {1, 2, 3, 4}, 0.5F, mode("nearest", "half_pixel", {{"nearest_mode", std::string(rule)}}))));
  };
  EXPECT_EQ(half("round_prefer_floor"), (Floats{1, 3}));
  EXPECT_EQ(half("round_prefer_ceil"), (Floats{2, 4}));
}

TEST(Resize, LinearCoordinates) {
  // Twice as many places: half_pixel reads -0.25, 0.25, 0.75, 1.25.
  EXPECT_EQ(values(run_one(by_scale({0, 4}, 2, mode("linear", "half_pixel")))),
            (Floats{0, 1, 3, 4}));
  EXPECT_EQ(values(run_one(by_scale({0, 4}, 2, mode("linear", "asymmetric")))),
            (Floats{0, 2, 4, 4}));
  EXPECT_EQ(values(run_one(by_size({0, 3}, 4, mode("linear", "align_corners")))),
            (Floats{0, 1, 2, 3}));
  EXPECT_EQ(values(run_one(by_size({0, 4}, 1, mode("linear", "pytorch_half_pixel")))), (Floats{0}));
}

TEST(Resize, HalfPixelSymmetric) {
  // 3 places, scale 0.5: one output, adjustment 1 / 1.5, offset 1.5 (1 - 2/3) = 0.5, place 1.
  EXPECT_EQ(values(run_one(by_scale({5, 7, 9}, 0.5F, mode("linear", "half_pixel_symmetric")))),
            (Floats{7}));
}

TEST(Resize, CubicWeights) {
  // Place 0.5 of 4 values with a = -0.75: weights -3/32, 19/32, 19/32, -3/32. Asymmetric, scale 2,
  // output 3 is place 1.5.
  const auto y = values(run_one(by_scale({1, 2, 3, 8}, 2, mode("cubic", "asymmetric"))));
  EXPECT_FLOAT_EQ(y[3], (-3.0F * 1 + 19 * 2 + 19 * 3 - 3 * 8) / 32.0F);
  EXPECT_EQ(y[2], 2.0F);
  // Output 7 is place 3.5: the border is read for places 4 and 5.
  EXPECT_FLOAT_EQ(y[7], (-3.0F * 3 + 19 * 8 + 19 * 8 - 3 * 8) / 32.0F);
}

TEST(Resize, ExcludeOutside) {
  // Place 3.5 without places 4 and 5: (-3 * 3 + 19 * 8) / 16.
  const auto y = values(run_one(by_scale(
      {1, 2, 3, 8}, 2, mode("cubic", "asymmetric", {{"exclude_outside", std::int64_t{1}}}))));
  EXPECT_FLOAT_EQ(y[7], (-3.0F * 3 + 19 * 8) / 16.0F);
}

TEST(Resize, Antialias) {
  // Half as many places: the triangle is twice as wide, places 0.5 and 2.5 weigh their four
  // neighbours 1/8, 3/8, 3/8, 1/8; the border is read outside.
  const auto y = values(run_one(by_scale(
      {1, 2, 3, 4}, 0.5F, mode("linear", "half_pixel", {{"antialias", std::int64_t{1}}}))));
  EXPECT_EQ(y, (Floats{(1 + 3 + 6 + 3) / 8.0F, (2 + 9 + 12 + 4) / 8.0F}));
}

TEST(Resize, CropAndExtrapolation) {
  OpCall call =
      by_size({1, 2, 3}, 3, mode("linear", "tf_crop_and_resize", {{"extrapolation_value", -1.0F}}));
  call.inputs[1] = tensor({2}, {0.5F, 1.5F});  // places 1, 2, 3: the last lies outside
  EXPECT_EQ(values(run_one(call)), (Floats{2, 3, -1}));
}

TEST(Resize, KeepAspectRatioAndAxes) {
  const Tensor x = Tensor::zeros(DType::float32, {1, 2, 4});
  const auto shape = [&](const char* policy) {
    return run_one({"Resize",
                    {x, Tensor(), Tensor(), ints({2}, {6, 8})},
                    mode("nearest", "asymmetric",
                         {{"axes", std::vector<std::int64_t>{1, 2}},
                          {"keep_aspect_ratio_policy", std::string(policy)}}),
                    18})
        .shape();
  };
  EXPECT_EQ(shape("not_larger"), (Shape{1, 4, 8}));
  EXPECT_EQ(shape("not_smaller"), (Shape{1, 6, 12}));
}

TEST(Resize, OldForms) {
  const Tensor x = tensor({1, 1, 1, 2}, {1, 2});
  const Tensor scales = tensor({4}, {1, 1, 1, 2});
  EXPECT_EQ(values(run_one({"Resize", {x, scales}, {}, 10})), (Floats{1, 1, 2, 2}));
  EXPECT_EQ(values(run_one({"Upsample", {x, scales}, {}, 9})), (Floats{1, 1, 2, 2}));
  const Attributes a{{"mode", std::string("linear")}, {"scales", std::vector<float>{1, 1, 1, 2}}};
  EXPECT_EQ(values(run_one({"Upsample", {x}, a, 7})), (Floats{1, 1.5F, 2, 2}));
}

TEST(Resize, TwoAxesRoundOnce) {
  // The middle of four float32 values: (1 + 3 * 2^-24) / 4, a tie, goes to even.
  const Tensor x = tensor({2, 2}, {1.0F, 0x1p-24F, 0x1p-24F, 0x1p-24F});
  const Tensor y =
      run_one({"Resize", {x, Tensor(), tensor({2}, {0.5F, 0.5F})}, mode("linear", "half_pixel")});
  EXPECT_EQ(values(y), (Floats{0.25F + 0x1p-24F}));
}

TEST(Resize, IntegersAreTruncated) {
  OpCall call = by_scale({0, 0}, 2, mode("linear", "half_pixel"));
  call.inputs[0] = convert(ints({2}, {0, 255}), DType::uint8);
  EXPECT_EQ(indices(run_one(call)), (std::vector<std::int64_t>{0, 63, 191, 255}));
}

TEST(Resize, EmptyBatch) {
  const Tensor x = Tensor::zeros(DType::float32, {0, 2});
  EXPECT_EQ(run_one({"Resize", {x, Tensor(), tensor({2}, {1, 2})}}).shape(), (Shape{0, 4}));
}

TEST(Resize, BadRequests) {
  const auto error = [](OpCall call) { return error_of([&] { run_one(call); }); };
  EXPECT_NE(error(by_scale({1}, 0, {})).find("positive"), std::string::npos);
  EXPECT_NE(error(by_scale({1}, 1, mode("linear", "nowhere"))).find("nowhere"), std::string::npos);
  EXPECT_NE(error(by_scale({1}, 1, mode("wavy", "asymmetric"))).find("wavy"), std::string::npos);
  OpCall both = by_scale({1}, 1, {});
  both.inputs.push_back(ints({1}, {1}));
  EXPECT_NE(error(both).find("exactly one"), std::string::npos);
}

TEST(Resize, RadiusIsSoundAndPasses) {
  const OpCall linear{"Resize",
                      {random_tensor({7, 9}, -1, 1, 3), Tensor(), tensor({2}, {1.7F, 0.6F})},
                      mode("cubic", "half_pixel")};
  EXPECT_LE(radius_use(linear), 1.0);
  EXPECT_GT(radius_use(linear), 0.0);
  const Tensor moved =
      radius_of(by_scale({1, 2}, 2, mode("nearest", "asymmetric")), {tensor64({2}, {0.5, 0.25})});
  EXPECT_EQ(to_doubles(moved), (std::vector<double>{0.5, 0.5, 0.25, 0.25}));
}

}  // namespace
}  // namespace assay::test::resize_test
