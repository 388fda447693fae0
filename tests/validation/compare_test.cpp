// Scores at their edges: cases S-39 and S-40 of the public bug reports.
#include "validation/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace assay::compare_test {
namespace {

constexpr float nan_ = std::numeric_limits<float>::quiet_NaN();
constexpr float inf_ = std::numeric_limits<float>::infinity();

nlohmann::ordered_json scores(std::vector<float> reference, std::vector<float> other) {
  const auto n = static_cast<std::int64_t>(reference.size());
  return to_json(
      compare(Tensor::of<float>(Shape{n}, reference), Tensor::of<float>(Shape{n}, other)));
}

TEST(CompareS39, BothZeroPasses) {
  const auto s = scores({0, 0}, {0, 0});
  EXPECT_EQ(s["verdict"], "pass");
  EXPECT_EQ(s["cosine"], "both zero");
}

TEST(CompareS39, EqualIsExact) {
  const auto s = scores({3, 4}, {3, 4});
  EXPECT_EQ(s["verdict"], "pass");
  EXPECT_EQ(s["sqnr_db"], "exact");
  EXPECT_EQ(s.dump().find("Infinity"), std::string::npos);
}

TEST(CompareS39, SqnrByHand) {
  const auto s = scores({3, 4}, {3.1F, 4});
  // 3.1F - 3 = 0.0999999046...: the ratio 25 / 0.01 up to that error, 1e-5 dB
  EXPECT_NEAR(s["sqnr_db"].get<double>(), 10 * std::log10(25 / 0.01), 1e-5);
  EXPECT_NEAR(s["max_abs"].get<double>(), 0.1, 1e-6);
}

TEST(CompareS39, ZeroReferenceIsCountedApart) {
  const auto s = scores({0, 4}, {0.001F, 4});
  EXPECT_EQ(s["max_abs"].get<double>(), static_cast<double>(0.001F));
  EXPECT_EQ(s["max_rel"].get<double>(), 0.0);
  EXPECT_EQ(s["zero_reference"], 1);
}

TEST(CompareS39, Int8CosineDoesNotWrap) {
  const auto t = Tensor::of<std::int8_t>(Shape{2}, {100, 100});
  EXPECT_NEAR(to_json(compare(t, t))["cosine"].get<double>(), 1.0, 1e-12);
}

TEST(CompareS39, EmptyIsNeitherPassNorFail) { EXPECT_EQ(scores({}, {})["verdict"], "no elements"); }

TEST(CompareS39, NearTheFloatLimit) {
  const auto s = scores({3e38F, -3e38F}, {1.5e38F, -1.5e38F});
  EXPECT_NEAR(s["cosine"].get<double>(), 1.0, 1e-12);
  EXPECT_NEAR(s["sqnr_db"].get<double>(), 10 * std::log10(4.0), 1e-5);
}

TEST(CompareS40, NanInTheSamePlaceAgrees) {
  const auto s = scores({1, nan_}, {1, nan_});
  EXPECT_EQ(s["verdict"], "pass");
  EXPECT_EQ(s["nan"], (nlohmann::ordered_json{1, 1}));
}

TEST(CompareS40, NanOnOneSideFails) {
  const auto s = scores({1, 2}, {1, nan_});
  EXPECT_EQ(s["verdict"], "fail");
  EXPECT_EQ(s["position"], (nlohmann::ordered_json{1}));
}

TEST(CompareS40, Infinities) {
  EXPECT_EQ(scores({inf_}, {inf_})["verdict"], "pass");
  EXPECT_EQ(scores({inf_}, {-inf_})["verdict"], "fail");
}

TEST(CompareS40, NanPairDoesNotHideTheError) {
  const auto s = scores({nan_, 5}, {nan_, 9});
  EXPECT_EQ(s["verdict"], "fail");
  EXPECT_EQ(s["max_abs"].get<double>(), 4.0);
}

TEST(Compare, UnlikeShapesFail) {
  EXPECT_EQ(
      compare(Tensor::zeros(DType::float32, {2}), Tensor::zeros(DType::float32, {1, 2})).verdict,
      Comparison::Verdict::fail);
}

TEST(Compare, ToleranceInUlp) {
  const auto a = Tensor::of<float>(Shape{1}, {1.0F});
  const auto b = Tensor::of<float>(Shape{1}, {std::nextafter(1.0F, 2.0F)});
  EXPECT_EQ(compare(a, b).verdict, Comparison::Verdict::fail);
  EXPECT_EQ(compare(a, b, {.ulp = 1}).verdict, Comparison::Verdict::pass);
  EXPECT_EQ(to_json(compare(a, b))["max_ulp"].get<double>(), 1.0);
}

TEST(Compare, LargeIntegersAreNotComparedAsDoubles) {
  const auto a = Tensor::of<std::int64_t>(Shape{1}, {(std::int64_t{1} << 60)});
  const auto b = Tensor::of<std::int64_t>(Shape{1}, {(std::int64_t{1} << 60) + 1});
  EXPECT_EQ(compare(a, b).verdict, Comparison::Verdict::fail);
}

}  // namespace
}  // namespace assay::compare_test
