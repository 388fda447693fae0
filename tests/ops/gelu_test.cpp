// Gelu: both forms against MPFR; the forms of com.microsoft.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/function_check.h"

namespace assay::test::gelu_test {
namespace {

void erf_form(mpfr_t y, const mpfr_t x) {
  mpfr_t root;
  mpfr_init2(root, 300);
  mpfr_sqrt_ui(root, 2, MPFR_RNDN);
  mpfr_div(y, x, root, MPFR_RNDN);
  mpfr_erf(y, y, MPFR_RNDN);
  mpfr_add_ui(y, y, 1, MPFR_RNDN);
  mpfr_mul(y, y, x, MPFR_RNDN);
  mpfr_div_ui(y, y, 2, MPFR_RNDN);
  mpfr_clear(root);
}

/// 0.044715 and sqrt(2/pi) are the real numbers of the operator's text.
void tanh_form(mpfr_t y, const mpfr_t x) {
  mpfr_t slope;
  mpfr_init2(slope, 300);
  mpfr_const_pi(slope, MPFR_RNDN);
  mpfr_ui_div(slope, 2, slope, MPFR_RNDN);
  mpfr_sqrt(slope, slope, MPFR_RNDN);
  mpfr_pow_ui(y, x, 3, MPFR_RNDN);
  mpfr_mul_ui(y, y, 44715, MPFR_RNDN);
  mpfr_div_ui(y, y, 1000000, MPFR_RNDN);
  mpfr_add(y, y, x, MPFR_RNDN);
  mpfr_mul(y, y, slope, MPFR_RNDN);
  mpfr_tanh(y, y, MPFR_RNDN);
  mpfr_add_ui(y, y, 1, MPFR_RNDN);
  mpfr_mul(y, y, x, MPFR_RNDN);
  mpfr_div_ui(y, y, 2, MPFR_RNDN);
  mpfr_clear(slope);
}

TEST(Gelu, AgainstMpfr) {
  check_function({"Gelu", erf_form, -3.0F, 5.0F});
  check_function({"Gelu", tanh_form, -3.0F, 5.0F, {{"approximate", std::string("tanh")}}});
}

TEST(Gelu, UnknownFormIsAnError) {
  const auto call = [] { at("Gelu", {1.0F}, {{"approximate", std::string("fast")}}); };
  EXPECT_NE(error_of(call).find("approximate"), std::string::npos);
}

TEST(Gelu, MicrosoftForms) {
  FunctionCase gelu{"Gelu", erf_form, -3.0F, 5.0F};
  gelu.domain = "com.microsoft";
  check_function(gelu);
  FunctionCase quick{"QuickGelu",
                     [](mpfr_t y, const mpfr_t x) {
                       mpfr_mul_d(y, x, -double{1.702F}, MPFR_RNDN);
                       mpfr_exp(y, y, MPFR_RNDN);
                       mpfr_add_ui(y, y, 1, MPFR_RNDN);
                       mpfr_div(y, x, y, MPFR_RNDN);
                     },
                     -4.0F, 4.0F};
  quick.domain = "com.microsoft";
  check_function(quick);
}

}  // namespace
}  // namespace assay::test::gelu_test
