#include "quant/weights.h"

#include <gtest/gtest.h>

#include "tests/support/quant_graphs.h"

namespace assay::weights_test {
namespace {

using test::codes;
using test::f32;
using test::floats;
using Codes = std::vector<std::int64_t>;

TEST(Weights, S16_BiasRaisesTheScaleOfItsChannel) {
  const auto q = quantize_weights({.weight = f32({2, 1, 1, 1}, {1e-7F, -1e-7F}),
                                   .bias = f32({2}, {5, -4.5F}),
                                   .x_scale = 0.5F});
  EXPECT_EQ(q.raised, (Codes{0, 1}));
  EXPECT_GE(floats(q.scales)[0], 4.6566e-9F);  // 5 / (0.5 * (2^31 - 1))
  EXPECT_LE(floats(q.scales)[0], 4.6567e-9F);
  for (std::size_t c = 0; c < 2; ++c) {
    const double back =
        static_cast<double>(codes(q.bias_codes)[c]) * static_cast<double>(floats(q.bias_scales)[c]);
    EXPECT_NEAR(back, c == 0 ? 5 : -4.5, 1e-6);
  }
  EXPECT_EQ(codes(q.codes),
            (Codes{21, -24}));  // 1e-7 / 4.6566e-9 = 21.5 below the tie; 1e-7 / 4.1910e-9 = 23.86
}

TEST(Weights, S17_DeadChannel) {
  const auto q = quantize_weights({.weight = f32({2, 2, 1, 1}, {0, 0, 0.5F, -1}),
                                   .bias = f32({2}, {0.25F, 0}),
                                   .x_scale = 1.0F / 255});
  EXPECT_EQ(q.dead, Codes{0});
  EXPECT_EQ(codes(q.codes), (Codes{0, 0, 64, -127}));  // 63.5 goes to even
  EXPECT_GT(floats(q.scales)[0], 0);
  EXPECT_NEAR(
      static_cast<double>(codes(q.bias_codes)[0]) * static_cast<double>(floats(q.bias_scales)[0]),
      0.25, 1e-4);
  const auto none = quantize_weights({.weight = f32({1, 1, 1}, {0}), .x_scale = 1});
  EXPECT_EQ(floats(none.scales)[0], 1.0F);
  EXPECT_EQ(codes(none.codes), Codes{0});
  const auto tiny = quantize_weights({.weight = f32({2, 1, 1}, {1e-6F, 1}), .x_scale = 1});
  EXPECT_EQ(codes(tiny.codes), (Codes{127, 127}));
  EXPECT_TRUE(tiny.dead.empty());
}

TEST(Weights, S19_AxisOfTheOutput) {
  const Tensor w = f32({2, 2}, {1.2F, 150, 2, 200});
  const auto columns = quantize_weights({.weight = w, .axis = 1});
  EXPECT_EQ(floats(columns.scales), (std::vector<float>{2.0F / 127, 200.0F / 127}));
  EXPECT_EQ(codes(columns.codes), (Codes{76, 95, 127, 127}));
  const auto rows = quantize_weights({.weight = f32({2, 2}, {1.2F, 2, 150, 200}), .axis = 0});
  EXPECT_EQ(codes(rows.codes), (Codes{76, 127, 95, 127}));
  const auto transposed =
      quantize_weights({.weight = f32({2, 3, 1, 1}, {1.2F, 150, 0.25F, 2, 200, -1}), .axis = 1});
  EXPECT_EQ(transposed.scales.numel(), 3);
  EXPECT_EQ(codes(transposed.codes), (Codes{76, 95, 32, 127, 127, -127}));
}

TEST(Weights, PerTensor) {
  const auto q = quantize_weights({.weight = f32({2, 1, 1}, {1.27F, -0.5F}),
                                   .bias = f32({2}, {1, 2}),
                                   .per_channel = false,
                                   .x_scale = 0.5F});
  EXPECT_EQ(q.scales.shape().rank(), 0);
  EXPECT_EQ(codes(q.codes), (Codes{127, -50}));
  EXPECT_EQ(codes(q.bias_codes), (Codes{200, 400}));
}

TEST(Weights, NonFiniteIsNamed) {
  EXPECT_THROW(quantize_weights({.weight = f32({1, 1, 1}, {HUGE_VALF})}), Error);
  EXPECT_THROW(quantize_weights({.weight = f32({1, 1, 1}, {1}), .bias = f32({1}, {NAN})}), Error);
}

}  // namespace
}  // namespace assay::weights_test
