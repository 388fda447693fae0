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

#include "runtime/numeric/proved.h"

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

/// Bound on the relative error of one dd + - * /, with v = 2^-106: 3 v for a sum and 7 v for a
/// product (Joldes, Muller, Popescu, "Tight and rigorous error bounds for basic building blocks of
/// double-word arithmetic", 2017). A quotient multiplies its first digit by the divisor (3 v),
/// subtracts (3 v of a small rest) and adds two more digits (3 v): below 7 v too.
inline double dd_unit() { return proved<"dd, one operation">(0x1p-103).value; }

inline double dd_hi(const dd& value) { return value.x[0]; }
inline double dd_lo(const dd& value) { return value.x[1]; }

}  // namespace assay
