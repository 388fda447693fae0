#pragma once

#include <mpfr.h>

#include <functional>

#include "runtime/numeric/dd.h"
#include "runtime/numeric/ziv.h"

// MPFR behind the fast paths: numbers with an owner, and Ziv's loop.

namespace assay {

class Mpfr {
 public:
  explicit Mpfr(mpfr_prec_t precision) { mpfr_init2(value_, precision); }
  // The exact value of a double or of a double-double whose words are less than `precision` bits
  // apart.
  Mpfr(mpfr_prec_t precision, double value) : Mpfr(precision) {
    mpfr_set_d(value_, value, MPFR_RNDN);
  }
  ~Mpfr() { mpfr_clear(value_); }
  Mpfr(const Mpfr&) = delete;
  Mpfr& operator=(const Mpfr&) = delete;

  operator mpfr_ptr() { return value_; }
  operator mpfr_srcptr() const { return value_; }
  // For MPFR's macros, which do not see conversions.
  mpfr_ptr get() { return value_; }
  mpfr_prec_t precision() const { return mpfr_get_prec(value_); }

 private:
  mpfr_t value_;
};

// Sets y, at y's own precision p, within 2^(10-p) |y| of the exact value (which is neither zero nor
// infinite).
using MpfrApproximation = std::function<void(mpfr_ptr y)>;

// The exact value as the nearest double and the sign of the rest. The loop doubles the precision
// until 60 bits of the value are certain; the caller knows that the value has no finite expansion
// of 60 bits, so that it ends. Outside double's range the result is an infinity, or a zero with a
// tail.
Tailed mpfr_ziv(const MpfrApproximation& approximate);

// The same from `y`, which holds the exact value rounded toward zero to 60 bits; `inexact` is
// MPFR's ternary value.
Tailed to_tailed(mpfr_ptr y, int inexact);

// Exact (y has 2200 bits); and back, to 106 bits.
inline constexpr mpfr_prec_t kDdPrecision = 2200;
void set_dd(mpfr_ptr y, const dd& value);
dd get_dd(mpfr_srcptr y);

}  // namespace assay
