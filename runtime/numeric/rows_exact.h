#pragma once

#include "runtime/numeric/elementary_mpfr.h"
#include "runtime/numeric/exact_accumulator.h"

// Exact decisions behind the fast paths of rows.h: sums as MPFR numbers without rounding, and the
// one irrational form that normalizations share. Internal.

namespace assay {

// Enough for every product and sum of a few float-derived exact numbers below (each at most 700
// bits wide).
inline constexpr mpfr_prec_t kExactRow = 3000;

// The accumulator's value, exactly; sets y's precision.
void to_mpfr(mpfr_ptr y, const FloatAccumulator& sum);
void to_mpfr(mpfr_ptr y, const DoubleAccumulator& sum);

// a / b, a and b exact.
Tailed exact_quotient(mpfr_srcptr a, mpfr_srcptr b);

// a / sqrt(d) + b for exact a, d > 0 and b. Ends always: when d is the square of a dyadic number
// the value is a quotient of exact numbers; otherwise a / sqrt(d) is irrational (or a = 0), so is
// the sum, and Ziv's loop stops.
Tailed exact_normalized(mpfr_srcptr a, mpfr_srcptr d, double b);

}  // namespace assay
