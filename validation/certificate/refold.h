// Assay's own rules run again in float64: the fold code at another precision.
//
// A wrong formula may leave every float32 constant as it was (an epsilon off by 1e-3 often does).
// In float64 the same rule must give every constant as the exact value rounded once to float64,
// where such an error is off by 10^6 units and more.
#pragma once

#include <string>

#include "validation/certificate/constants.h"
#include "validation/certificate/regions.h"
#include "validation/certificate/structure.h"

namespace assay {

struct Refold {
  bool done = false;      ///< the rules fired on the float64 copy and left comparable forms
  std::string note = {};  ///< why not
  ConstantsAudit audit;   ///< against the exact values, in units of float64
};

/// Runs the rules of `r.rule` on the region in float64. Of each weight tensor the first few numbers
/// of every channel take part, the rest is zero: the formula is the same for all.
Refold refold(const Region& r, const RegionShapes& run);

}  // namespace assay
