#include "tests/support/function_check.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::test {
namespace {

struct Number {
  mpfr_t v;
  explicit Number(mpfr_prec_t bits = 300) { mpfr_init2(v, bits); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  ~Number() { mpfr_clear(v); }
};

void exact_at(const FunctionCase& c, double x, Number& y) {
  Number in;
  mpfr_set_d(in.v, x, MPFR_RNDN);
  c.exact(y.v, in.v);
}

/// The 300-bit value rounded to a format of `bits` bits, subnormals included.
double rounded(const Number& y, int bits, int low) {
  if (!mpfr_number_p(y.v) || mpfr_zero_p(y.v)) return mpfr_get_d(y.v, MPFR_RNDN);
  // Below the least subnormal the conversion to the format rounds; 53 bits are enough to tell its
  // half.
  const int kept = std::min(bits, static_cast<int>(mpfr_get_exp(y.v)) - low);
  Number r(kept >= 1 ? kept : 53);
  mpfr_set(r.v, y.v, MPFR_RNDN);
  return mpfr_get_d(r.v, MPFR_RNDN);
}

OpCall call_of(const FunctionCase& c, Tensor x, Precision p) {
  OpCall call{c.type, {std::move(x)}, c.attributes, c.opset};
  call.domain = c.domain;
  call.precision = p;
  return call;
}

void check_rounding(const FunctionCase& c, const Tensor& x) {
  const Tensor y = run_one(call_of(c, x, Precision::cr));
  const Tensor half_x = convert(x, DType::float16);
  const Tensor half_y = run_one(call_of(c, half_x, Precision::cr));
  const auto hx = to_doubles(half_x);
  Number exact;
  for (std::size_t i = 0; i < hx.size(); ++i) {
    exact_at(c, x.data<float>()[i], exact);
    const auto expected = static_cast<float>(rounded(exact, 24, -149));
    ASSERT_EQ(y.data<float>()[i], expected) << c.type << " at " << x.data<float>()[i];
    exact_at(c, hx[i], exact);
    const Half narrow(rounded(exact, 11, -24));
    ASSERT_EQ(half_y.data<Half>()[i].bits, narrow.bits) << c.type << " (float16) at " << hx[i];
  }
}

void check_wide(const FunctionCase& c, const Tensor& x, Precision p, double limit) {
  const Tensor y = run_one(call_of(c, x, p));
  Number exact, got, difference;
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    exact_at(c, x.data<float>()[k], exact);
    if (!mpfr_number_p(exact.v)) continue;
    const dd value = convert(y, DType::dd).data<dd>()[k];
    mpfr_set_d(got.v, dd_hi(value), MPFR_RNDN);
    mpfr_add_d(got.v, got.v, dd_lo(value), MPFR_RNDN);
    mpfr_sub(difference.v, got.v, exact.v, MPFR_RNDN);
    const double error = std::fabs(mpfr_get_d(difference.v, MPFR_RNDN));
    ASSERT_LE(error, limit * std::fabs(mpfr_get_d(exact.v, MPFR_RNDN)) + 1e-300)
        << c.type << " " << to_string(p) << " at " << x.data<float>()[k];
  }
}

/// |f(x + d) - f(x)| for |d| <= r must stay inside the radius of an input known to r.
void check_radius(const FunctionCase& c, const Tensor& x) {
  Tensor r = Tensor::zeros(DType::float64, x.shape());
  const double width = (double{c.high} - c.low) / 1024;
  for (double& v : r.mutable_data<double>()) v = width;
  const Tensor bound = radius_of(call_of(c, x, Precision::f32), {r});
  Number moved, exact;
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    exact_at(c, x.data<float>()[k], exact);
    for (const double side : {-1.0, -0.5, 0.5, 1.0}) {
      exact_at(c, x.data<float>()[k] + side * width, moved);
      const double move =
          std::fabs(mpfr_get_d(moved.v, MPFR_RNDN) - mpfr_get_d(exact.v, MPFR_RNDN));
      if (!std::isfinite(move)) continue;
      ASSERT_LE(move, bound.data<double>()[k] * (1 + 1e-12)) << c.type;
    }
  }
}

}  // namespace

void check_function(const FunctionCase& c) {
  const Tensor x = random_tensor({4000}, c.low, c.high, 11);
  check_rounding(c, x);
  const Tensor few = random_tensor({300}, c.low, c.high, 12);
  check_wide(c, few, Precision::f64, 0x1p-47);
  check_wide(c, few, Precision::dd, 0x1p-90);
  if (c.monotone_radius) check_radius(c, few);
}

std::vector<float> at(const std::string& type, std::vector<float> x, const Attributes& attributes,
                      std::int64_t opset, const std::string& domain) {
  const auto n = static_cast<std::int64_t>(x.size());
  OpCall call{type, {tensor({n}, std::move(x))}, attributes, opset};
  call.domain = domain;
  return values(run_one(call));
}

void expect_canonical_nan(float v) { EXPECT_EQ(bits(v), 0x7FC00000U); }

}  // namespace assay::test
