// High-precision numbers of the certificates: MPFR at 256 bits, as values.
//
// Every operation rounds once to 256 bits; a fold's chain has a handful of them, so coefficients
// are known to about 2^-245 relative, far below anything that is compared with them (float32
// storage, 2^-24).
#pragma once

#include <gmp.h>
#include <mpfr.h>

namespace assay {

class Real {
 public:
  Real(double x = 0) {  // NOLINT(google-explicit-constructor): numbers mix freely in formulas
    init();
    mpfr_set_d(v_, x, MPFR_RNDN);
  }
  Real(const Real& o) {
    init();
    mpfr_set(v_, o.v_, MPFR_RNDN);
  }
  Real& operator=(const Real& o) {
    if (this != &o) mpfr_set(v_, o.v_, MPFR_RNDN);
    return *this;
  }

  friend Real operator+(Real a, const Real& b) {
    mpfr_add(a.v_, a.v_, b.v_, MPFR_RNDN);
    return a;
  }
  friend Real operator-(Real a, const Real& b) {
    mpfr_sub(a.v_, a.v_, b.v_, MPFR_RNDN);
    return a;
  }
  friend Real operator*(Real a, const Real& b) {
    mpfr_mul(a.v_, a.v_, b.v_, MPFR_RNDN);
    return a;
  }
  friend Real operator/(Real a, const Real& b) {
    mpfr_div(a.v_, a.v_, b.v_, MPFR_RNDN);
    return a;
  }
  Real sqrt() const {
    Real r(*this);
    mpfr_sqrt(r.v_, v_, MPFR_RNDN);
    return r;
  }
  Real abs() const {
    Real r(*this);
    mpfr_abs(r.v_, v_, MPFR_RNDN);
    return r;
  }
  friend bool operator<(const Real& a, const Real& b) { return mpfr_less_p(a.v_, b.v_) != 0; }
  friend bool operator<=(const Real& a, const Real& b) { return mpfr_lessequal_p(a.v_, b.v_) != 0; }
  friend bool operator==(const Real& a, const Real& b) { return mpfr_equal_p(a.v_, b.v_) != 0; }
  double to_double() const { return mpfr_get_d(v_, MPFR_RNDN); }
  long double to_long_double() const { return mpfr_get_ld(v_, MPFR_RNDN); }
  float to_float() const { return mpfr_get_flt(v_, MPFR_RNDN); }
  bool finite() const { return mpfr_number_p(v_) != 0; }

 private:
  static constexpr mpfr_prec_t bits = 256;
  /// The limbs live in the object (MPFR's custom interface): nothing is allocated.
  void init() {
    mpfr_custom_init(limbs_, bits);
    mpfr_custom_init_set(v_, MPFR_ZERO_KIND, 0, bits, limbs_);
  }
  mpfr_t v_;
  mp_limb_t limbs_[(bits - 1) / GMP_NUMB_BITS + 1];
};

}  // namespace assay
