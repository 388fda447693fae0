// Random numbers: reproducible, different per seed and node, the right distribution.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/op_call.h"

namespace assay::test::random_test {
namespace {

const std::vector<std::int64_t> many{200, 100};

Tensor draw(const char* op, Attributes a) {
  a.set("shape", many);
  return run_one({op, {}, std::move(a)});
}

TEST(RandomUniform, ReproducibleAndSeeded) {
  const Tensor a = draw("RandomUniform", {{"seed", 1.0F}});
  EXPECT_TRUE(same_bits(a, draw("RandomUniform", {{"seed", 1.0F}})));
  EXPECT_FALSE(same_bits(a, draw("RandomUniform", {{"seed", 2.0F}})));
}

// Mean of n numbers: 5 standard errors. The draw is fixed, so this cannot fail by chance.
void expect_moments(const Tensor& t, double mean, double deviation) {
  double sum = 0.0, squares = 0.0;
  for (const double v : to_doubles(t)) sum += v;
  const auto n = static_cast<double>(t.numel());
  for (const double v : to_doubles(t)) squares += (v - mean) * (v - mean);
  EXPECT_NEAR(sum / n, mean, 5 * deviation / std::sqrt(n));
  EXPECT_NEAR(squares / n, deviation * deviation, 10 * deviation * deviation / std::sqrt(n));
}

TEST(RandomUniform, Moments) {
  const Tensor t = draw("RandomUniform", {{"low", -1.0F}, {"high", 3.0F}, {"seed", 7.0F}});
  expect_moments(t, 1.0, 4.0 / std::sqrt(12.0));
  for (const double v : to_doubles(t)) ASSERT_TRUE(v >= -1.0 && v <= 3.0);
}

TEST(RandomNormal, Moments) {
  expect_moments(draw("RandomNormal", {{"mean", 2.0F}, {"scale", 0.5F}, {"seed", 7.0F}}), 2.0, 0.5);
}

TEST(RandomLike, TakesShapeAndType) {
  const Tensor y = run_one({"RandomNormalLike", {tensor64({2, 0}, {})}});
  EXPECT_EQ(y.dtype(), DType::float64);
  EXPECT_EQ(y.shape(), (Shape{2, 0}));
  EXPECT_NE(error_of([] {
              run_one({"RandomUniformLike", {ints({1}, {1})}});
            }).find("float type"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::test::random_test
