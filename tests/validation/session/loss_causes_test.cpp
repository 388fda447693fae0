#include "validation/session/loss_causes.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/quant_graphs.h"

namespace assay::loss_causes_test {
namespace {

using test::f32;
using test::GraphMaker;

class OneSample : public Dataset {
 public:
  explicit OneSample(Tensor x) : x_(std::move(x)) {
    info_ = {.source = "test", .digest = "", .batch = 1};
  }
  std::int64_t size() const override { return 1; }
  Sample load(std::int64_t) const override { return {.id = "0", .inputs = {{"x", x_}}}; }

 private:
  Tensor x_;
};

/// y = Gemm(x, w) with x quantized at 1/85, y at 1/64 and w at 1/127; a second Gemm reads y.
Forms two_gemms(const Tensor& w) {
  GraphMaker m;
  m.input("x", DType::float32, {1, 2})
      .constant("w", w)
      .constant("b", f32({1}, {0.5F}))
      .constant("v", f32({1, 1}, {1}));
  m.node("Gemm", {"x", "w", "b"}, {"y"}).node("Gemm", {"y", "v"}, {"z"}).output("z");
  CalibrationTable table;
  const Range x{0, 3}, y{0, 255.0F / 64};
  table.ranges["x"] = {.chosen = x, .seen = x, .count = 1};
  table.ranges["y"] = {.chosen = y, .seen = y, .count = 1};
  Forms forms;
  forms.quantized = quantize(m.graph, table);
  forms.quantized_from = m.graph;
  return forms;
}

const auto quiet = [](std::int64_t, std::int64_t) {};

// Weight codes 127 and 63.5 -> 64; x = [1, 2] and the result 2.5 = 160 / 64 are codes exactly. What
// is wrong before the last rounding is the second weight, by 0.5/127; that rounding takes it back:
// 2.5 + 1/127 rounds to 2.5 + 1/64 or 2.5 (1/127 > half of 1/64 = 1/128: it goes up).
TEST(LossCauses, WeightRoundingIsNamed) {
  const auto found =
      split_losses(two_gemms(f32({2, 1}, {1, 0.5F})), OneSample(f32({1, 2}, {1, 2})), 1, quiet);
  const auto& shares = found.shares.at("y");
  // Error 1/64 in all, 1/127 of it from the weight: (64/127)^2.
  EXPECT_NEAR(shares.at("weight_rounding"), 64.0 * 64 / 127 / 127, 1e-4);
  EXPECT_EQ(shares.at("inherited"), 0);
  EXPECT_EQ(shares.at("weight_clipping"), 0);
  EXPECT_NEAR(shares.at("activation_rounding"), 0, 1e-6);
}

TEST(LossCauses, EntersTheLayersOfTheReport) {
  nlohmann::ordered_json q = {{"layers", {{{"output", "y"}}, {{"output", "other"}}}}};
  LossCauses causes;
  causes.shares["y"] = {{"bias", 0.25}};
  causes.skipped["n"] = "no weights";
  add_causes(q, causes, 3);
  EXPECT_EQ(q["layers"][0]["causes"]["bias"], 0.25);
  EXPECT_FALSE(q["layers"][1].contains("causes"));
  EXPECT_EQ(q["causes_measured_on_samples"], 3);
  EXPECT_EQ(q["causes_not_split"]["n"], "no weights");
}

TEST(LossCauses, NothingWithoutAnIntegerForm) {
  EXPECT_TRUE(split_losses(Forms{}, OneSample(f32({1, 2}, {1, 2})), 1, quiet).shares.empty());
}

}  // namespace
}  // namespace assay::loss_causes_test
