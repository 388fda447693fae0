// How far a stored constant may lie from its exact value (docs/certificates.md, "Constants").
//
// u = 2^-24; a star marks exact values; T is the sum of the magnitudes that were scaled, beta what
// was added unscaled.
//   own folds    |c - c*| <= ulp(c*) / 2: the exact value rounded once to nearest
//     and where the fused side scales at run time, so that its coefficients are products of stored
//     numbers:  |w - w*| <= u |w*|,  |b - b*| <= u (2 T + |beta| + |b*|)
//   other tools  |w - w*| <= ulp(w*) / 2 + 3.5 u |w*|
//                |b - b*| <= u (5.5 T + |beta| + |b*|) (1 + 2^-20) + 4 * 2^-149 (1 + |s*|)
//                with 1 u more on the scale and on T for each further operation of the chain
#pragma once

#include <algorithm>
#include <cmath>

#include "runtime/numeric/float_ulp.h"
#include "validation/certificate/normal_form.h"

namespace assay {

/// Who made the constants, and in which type they are stored.
struct Budget {
  bool own = false;        ///< Assay's rules: rounded once
  bool is_double = false;  ///< stored as float64 (own only): the refold of a rule
  bool scaled = false;     ///< own: the fused side scales at run time
};

/// u of the stored type.
inline double unit(const Budget& b) { return b.is_double ? 0x1p-53 : 0x1p-24; }

/// Spacing of the stored type at `x`.
inline double spacing(double x, const Budget& b) {
  if (!b.is_double) return float_ulp(x);
  const double size = std::fabs(x);
  return size < 0x1p-1022 ? 0x1p-1074 : std::ldexp(1.0, std::ilogb(size) - 52);
}

/// Budget of the weight whose exact value is `star`, behind `steps` affine steps.
inline double weight_budget(double star, int steps, const Budget& b) {
  if (b.own && b.scaled) return unit(b) * std::fabs(star) * (1 + 0x1p-20);
  const double extra = b.own ? 0.0 : (2.5 + std::max(1, steps)) * 0x1p-24 * std::fabs(star);
  return 0.5 * spacing(star, b) * (1 + 0x1p-40) + extra;
}

/// Budget of the shift of channel `c` of the original's form.
inline double shift_budget(const NormalForm& o, std::size_t c, const Budget& b) {
  const double star = o.shift[c].to_double();
  if (b.own && b.scaled)
    return unit(b) * (2 * o.magnitude[c].to_double() + o.beta[c].to_double() + std::fabs(star)) *
           (1 + 0x1p-20);
  if (b.own) return 0.5 * spacing(star, b) * (1 + 0x1p-40);
  const double scale = o.linear.empty() ? 1.0 : std::fabs(o.linear[0].coeff[c].to_double());
  const double further = std::max(0, o.steps - 1);
  return 0x1p-24 *
             ((5.5 + further) * o.magnitude[c].to_double() + o.beta[c].to_double() +
              std::fabs(star)) *
             (1 + 0x1p-20) +
         4 * 0x1p-149 * (1 + scale);
}

}  // namespace assay
