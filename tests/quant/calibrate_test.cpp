#include "quant/calibrate.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <limits>

#include "tests/support/quant_graphs.h"

namespace assay::calibrate_test {
namespace {

using test::f32;

/// Shows fed tensors under their own names, without a graph to run.
class Fake {
 public:
  explicit Fake(const std::vector<std::string>& names) {
    for (const std::string& n : names) maker_.input(n, DType::float32, {-1, -1});
  }
  RunWithObserver run() {
    return [this](const Feeds& feeds, Observer& o) {
      for (const auto& [name, t] : feeds)
        o.on_value(maker_.graph, *maker_.graph.find_value(name), t);
    };
  }

 private:
  test::GraphMaker maker_;
};

CalibrationTable calibrate(const CalibrationOptions& options, const std::vector<Feeds>& batches) {
  Fake fake({"a", "b"});
  Calibrator c(options);
  for (const Feeds& feeds : batches) c.feed(feeds, fake.run());
  return c.finish();
}

TEST(Calibrate, OrderAndBatchesPlayNoPart) {
  for (const std::string& algorithm : algorithm_names()) {
    const CalibrationOptions o{.algorithm = algorithm};
    const Tensor a = f32({3, 2}, {1, -2, 3, 4, 5, 6}), b = f32({3, 1}, {0, 1, 7});
    const auto one = calibrate(o, {{{"a", a}, {"b", b}}});
    const auto two = calibrate(o, {{{"a", a.rows(1, 3)}, {"b", b.rows(1, 3)}},
                                   {{"a", a.rows(0, 1)}, {"b", b.rows(0, 1)}}});
    EXPECT_EQ(one.to_json(), two.to_json()) << algorithm;
    EXPECT_EQ(one.samples, 3);
    const auto other = calibrate(o, {{{"a", a}, {"b", f32({3, 1}, {0, 1, 8})}}});
    EXPECT_NE(one.data_digest, other.data_digest);
  }
}

TEST(Calibrate, MinMaxIsTheRange) {
  const auto t = calibrate({.algorithm = "min-max"},
                           {{{"a", f32({1, 3}, {-2, 1, 5})}}, {{"a", f32({1, 1}, {9})}}});
  EXPECT_EQ(t.find("a")->chosen.low, -2.0F);
  EXPECT_EQ(t.find("a")->chosen.high, 9.0F);
  EXPECT_EQ(t.find("b"), nullptr);
}

TEST(Calibrate, PercentileDropsTheRarestValues) {
  Tensor a(DType::float32, {1, 1000});
  for (std::size_t i = 0; i < 1000; ++i) a.mutable_data<float>()[i] = static_cast<float>(i) / 1000;
  a.mutable_data<float>()[0] = 1024;  // one outlier
  CalibrationOptions o{.algorithm = "percentile"};
  o.parameters.percentile = 99.9;
  const auto t = calibrate(o, {{{"a", a}}});
  EXPECT_LE(t.find("a")->chosen.high, 1.5F);
  EXPECT_GE(t.find("a")->chosen.high, 0.999F);
  EXPECT_EQ(t.find("a")->seen.high, 1024.0F);
}

// N = 100,000 values spread over [0, 10) and one at R = 100. Covering [0, c] costs N (c/255)^2 / 12
// + (R - c)^2, least at c = R / (1 + N / (12 * 255^2)) = 88.6.
TEST(Calibrate, MseClipsALoneOutlier) {
  Tensor a(DType::float32, {1, 100001});
  for (std::size_t i = 0; i < 100001; ++i)
    a.mutable_data<float>()[i] = static_cast<float>(i % 997) / 99.7F;
  a.mutable_data<float>()[5] = 100;
  const auto t = calibrate({}, {{{"a", a}}});
  EXPECT_GT(t.find("a")->chosen.high, 84.0F);
  EXPECT_LT(t.find("a")->chosen.high, 93.0F);
  EXPECT_EQ(t.find("a")->seen.high, 100.0F);
  const auto entropy = calibrate({.algorithm = "entropy"}, {{{"a", a}}});
  EXPECT_LT(entropy.find("a")->chosen.high, 60.0F);
  EXPECT_GT(entropy.find("a")->chosen.high, 6.0F);
}

TEST(Calibrate, S28_NanIsNamed) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto t = calibrate({}, {{{"a", f32({1, 3}, {1, nan, 3})}, {"b", f32({1, 1}, {nan})}}});
  EXPECT_EQ(t.ranges.at("a").nan, 1);
  EXPECT_EQ(t.ranges.at("a").seen.high, 3.0F);
  EXPECT_EQ(t.ranges.at("b").nan, 1);
  EXPECT_EQ(t.find("b"), nullptr);
}

TEST(Calibrate, TableSurvivesItsText) {
  const auto t = calibrate({.algorithm = "min-max"}, {{{"a", f32({1, 2}, {-0.1F, 1e-30F})}}});
  const CalibrationTable again = parse_calibration(t.to_json(), "t.json");
  EXPECT_EQ(again.to_json(), t.to_json());
  EXPECT_EQ(again.ranges.at("a"), t.ranges.at("a"));
  EXPECT_THROW(parse_calibration("{", "t.json"), Error);
  EXPECT_THROW(parse_calibration("{\"schema\": \"x\"}", "t.json"), Error);
}

TEST(Calibrate, RefusesUnknownAlgorithmAndPercentile) {
  EXPECT_THROW(Calibrator({.algorithm = "nope"}), Error);
  CalibrationOptions o;
  o.parameters.percentile = 50;
  EXPECT_THROW(Calibrator{o}, Error);
}

long peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// [1, 64, 112, 112] float32 is 3.2 MB per sample: keeping 60 of them would take 193 MB.
TEST(Calibrate, S29_MemoryDoesNotGrowWithTheData) {
  Fake fake({"a"});
  Calibrator c(CalibrationOptions{.algorithm = "min-max"});
  Tensor sample(DType::float32, {64, 112 * 112});
  const auto feed = [&](int i) {
    for (float& v : sample.mutable_data<float>()) v = static_cast<float>(i % 1000 - 500);
    fake.run()({{"a", sample}}, c);
  };
  for (int i = 0; i < 10; ++i) feed(i);
  const long after_ten = peak_kilobytes();
  for (int i = 10; i < 70; ++i) feed(i);
  EXPECT_LT(peak_kilobytes() - after_ten, 8192);
  EXPECT_EQ(c.finish().find("a")->seen.low, -500.0F);
  EXPECT_EQ(c.finish().find("a")->count, 70 * 64 * 112 * 112);
}

}  // namespace
}  // namespace assay::calibrate_test
