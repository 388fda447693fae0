#include "quant/causes.h"

#include <gtest/gtest.h>

#include "quant/quantize.h"
#include "tests/support/quant_graphs.h"

namespace assay::causes_test {
namespace {

using test::f32;
using test::GraphMaker;

struct Case {
  GraphMaker m;
  CalibrationTable table;
};

/// y = Gemm(x, w) + b feeding a second Gemm, so that y is quantized; ranges chosen by hand.
Case two_gemms(const Tensor& w, Range x, Range y) {
  Case c;
  c.m.input("x", DType::float32, {1, 2})
      .constant("w", w)
      .constant("b", f32({1}, {0.5F}))
      .constant("v", f32({1, 1}, {1}));
  c.m.node("Gemm", {"x", "w", "b"}, {"y"}).node("Gemm", {"y", "v"}, {"z"}).output("z");
  c.table.ranges["x"] = {.chosen = x, .seen = x, .count = 1};
  c.table.ranges["y"] = {.chosen = y, .seen = y, .count = 1};
  return c;
}

LayerCauses first_layer(const Case& c, const Tensor& x, const Tensor& x_actual) {
  const auto q = quantize(c.m.graph, c.table);
  CauseSplitter splitter(c.m.graph, q.graph);
  EXPECT_EQ(splitter.values(), (std::set<std::string>{"x", "y"}));
  EXPECT_TRUE(splitter.skipped().empty());
  auto golden = Executor(c.m.graph, Precision::f64).run({{"x", x}}, nullptr, {"x", "y"});
  auto actual = Executor(q.graph, Precision::cr).run({{"x", x_actual}}, nullptr, {"x", "y"});
  golden.emplace("x", x);
  actual.emplace("x", x_actual);
  splitter.add(golden, actual);
  return splitter.layers().at(0);
}

// x scale 1/85 (range 0..3), w scale 1/127. x = [1, 2]: codes 85 and 170, exact up to float32. w =
// [1, 0.5]: 127 and 63.5 -> 64. Weight error 0.5/127 on the second, times x = 2: 1/127.
TEST(Causes, WeightRoundingAlone) {
  const LayerCauses c = first_layer(two_gemms(f32({2, 1}, {1, 0.5F}), {0, 3}, {0, 255.0F / 64}),
                                    f32({1, 2}, {1, 2}), f32({1, 2}, {1, 2}));
  EXPECT_EQ(c.node, "y_node");
  EXPECT_NEAR(c.weight_rounding, 1.0 / 127 / 127, 1e-7);
  EXPECT_EQ(c.weight_clipping, 0);
  EXPECT_NEAR(c.activation_rounding, 0, 1e-12);
  EXPECT_EQ(c.activation_clipping, 0);
  EXPECT_NEAR(c.bias, 0, 1e-6);
  EXPECT_EQ(c.inherited, 0);
  EXPECT_NEAR(c.signal, 2.5 * 2.5, 1e-9);   // 1 + 2 * 0.5 + 0.5
  EXPECT_NEAR(c.requantization, 0, 1e-10);  // 2.5 = 160 / 64
}

// x = 4 clips at 3: error 1 on w = 1.
TEST(Causes, ActivationClippingAlone) {
  const LayerCauses c = first_layer(two_gemms(f32({2, 1}, {1, 1}), {0, 3}, {0, 255.0F / 32}),
                                    f32({1, 2}, {4, 1}), f32({1, 2}, {4, 1}));
  EXPECT_NEAR(c.activation_clipping, 1, 1e-5);
  EXPECT_NEAR(c.activation_rounding, 0, 1e-12);
  EXPECT_NEAR(c.weight_rounding, 0, 1e-12);
}

// The quantized graph had x = [1, 1] instead of [1, 2]: inherited error 1 on w = 1.
TEST(Causes, InheritedError) {
  const LayerCauses c = first_layer(two_gemms(f32({2, 1}, {1, 1}), {0, 3}, {0, 255.0F / 32}),
                                    f32({1, 2}, {1, 2}), f32({1, 2}, {1, 1}));
  EXPECT_NEAR(c.inherited, 1, 1e-9);
  EXPECT_NEAR(c.total, 1, 0.02);
}

// y = 2.5 in steps of 1 (range 0..255) goes to 2: requantization error 0.5.
TEST(Causes, RequantizationAlone) {
  const LayerCauses c = first_layer(two_gemms(f32({2, 1}, {1, 0.5F}), {0, 3}, {0, 255}),
                                    f32({1, 2}, {1, 2}), f32({1, 2}, {1, 2}));
  EXPECT_NEAR(c.requantization, 0.25, 1e-9);
}

}  // namespace
}  // namespace assay::causes_test
