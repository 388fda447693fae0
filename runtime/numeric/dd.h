#pragma once

// QD's configuration is fixed before its header is read: Debian builds it with the cheaper
// addition, whose error is not relative to the sum, and with the shorter product and quotient.
#define QD_IEEE_ADD 1
#include <qd/qd_config.h>
#undef QD_SLOPPY_MUL
#undef QD_SLOPPY_DIV
#include <qd/dd_real.h>

#include <cmath>
#include <limits>
#include <type_traits>

// Double-double numbers: an unevaluated sum hi + lo of two doubles, about 106 bits.
//
// The arithmetic is QD's dd_real (Hida, Li, Bailey), taken from its header, so that it is compiled
// with this project's -ffp-contract=off: its error-free transformations need every operation
// rounded alone. Exponents are those of double, so the low word underflows when hi is below 2^-969.
// Elementary functions of dd are in elementary.h: QD's own start from the platform's libm, whose
// last bits differ between machines, and print on domain errors.

namespace assay {

using dd = dd_real;

// A dd lives in raw tensor buffers: it is two doubles and copies as bytes.
static_assert(sizeof(dd) == 2 * sizeof(double) && alignof(dd) == alignof(double));
static_assert(std::is_trivially_copyable_v<dd> && std::is_trivially_destructible_v<dd>);

inline double dd_hi(const dd& value) { return value.x[0]; }
inline double dd_lo(const dd& value) { return value.x[1]; }

}  // namespace assay
