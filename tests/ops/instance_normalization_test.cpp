// InstanceNormalization, LayerNormalization, GroupNormalization against a long double loop.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/function_check.h"

namespace assay::test::instance_normalization_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

/// (x - mean) / sqrt(var + eps) * g + b of a row, in long double: 11 bits more than the double
/// oracle needs.
std::vector<double> oracle(const float* x, std::size_t n, float eps) {
  long double mean = 0, var = 0;
  for (std::size_t i = 0; i < n; ++i) mean += x[i];
  mean /= static_cast<long double>(n);
  for (std::size_t i = 0; i < n; ++i) var += (x[i] - mean) * (x[i] - mean);
  var /= static_cast<long double>(n);
  std::vector<double> y;
  for (std::size_t i = 0; i < n; ++i)
    y.push_back(static_cast<double>((x[i] - mean) / std::sqrt(var + eps)));
  return y;
}

/// Within half an ULP of float32, up to the oracle's own 2^-50.
void expect_rounded(float got, double exact) {
  EXPECT_NEAR(got, exact, std::fabs(exact) * 0x1.0001p-24 + 1e-30);
}

TEST(InstanceNormalization, AgainstTheFormula) {
  const Tensor x = random_tensor({2, 3, 4, 5}, -2, 3, 1);
  const Floats g{1.5F, -0.5F, 2}, b{0.25F, 1, -3};
  for (const Precision p : {Precision::cr, Precision::f64, Precision::dd}) {
    OpCall call{"InstanceNormalization", {x, tensor({3}, g), tensor({3}, b)}};
    call.precision = p;
    const auto y = values(run_one(call));
    for (std::size_t row = 0; row < 6; ++row) {
      const auto e = oracle(x.data<float>().data() + row * 20, 20, 1e-5F);
      for (std::size_t i = 0; i < 20; ++i) {
        const double exact = e[i] * double{g[row % 3]} + double{b[row % 3]};
        EXPECT_NEAR(y[row * 20 + i], exact, 0x1.01p-24 * std::fabs(exact) + 1e-14);
      }
    }
  }
}

TEST(LayerNormalization, AxisStatisticsAndAbsentBias) {
  const Tensor x = random_tensor({3, 2, 8}, -2, 3, 2);
  OpCall call{"LayerNormalization", {x, tensor({8}, Floats(8, 1.0F))}};
  call.outputs = 3;
  const auto out = run(call);
  EXPECT_EQ(out[1].shape(), (Shape{3, 2, 1}));
  for (std::size_t row = 0; row < 6; ++row) {
    const auto e = oracle(x.data<float>().data() + row * 8, 8, 1e-5F);
    double mean = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      expect_rounded(out[0].data<float>()[row * 8 + i], e[i]);
      mean += x.data<float>()[row * 8 + i] / 8;
    }
    EXPECT_EQ(out[1].data<float>()[row], static_cast<float>(mean));
  }
  OpCall all{"LayerNormalization",
             {x, tensor({2, 8}, Floats(16, 1.0F)), tensor({8}, Floats(8, 0.0F))},
             {{"axis", std::int64_t{1}}}};
  const auto e = oracle(x.data<float>().data(), 16, 1e-5F);
  const auto y = values(run_one(all));
  for (std::size_t i = 0; i < 16; ++i) expect_rounded(y[i], e[i]);
}

TEST(GroupNormalization, ScalePerGroupThenPerChannel) {
  const Tensor x = random_tensor({1, 4, 6}, -2, 3, 3);
  const Attributes a{{"num_groups", std::int64_t{2}}};
  const auto per_group =
      values(run_one({"GroupNormalization", {x, tensor({2}, {2, 4}), tensor({2}, {0, 0})}, a, 18}));
  const auto per_channel = values(run_one(
      {"GroupNormalization", {x, tensor({4}, {2, 2, 4, 4}), tensor({4}, {0, 0, 0, 0})}, a, 21}));
  EXPECT_EQ(per_group, per_channel);
  const auto e = oracle(x.data<float>().data(), 12, 1e-5F);
  for (std::size_t i = 0; i < 12; ++i) expect_rounded(per_group[i], 2 * e[i]);
  EXPECT_NE(error_of([&] {
              run_one({"GroupNormalization",
                       {x, tensor({3}, {1, 1, 1}), tensor({3}, {0, 0, 0})},
                       {{"num_groups", std::int64_t{3}}},
                       18});
            }).find("num_groups"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::test::instance_normalization_test
