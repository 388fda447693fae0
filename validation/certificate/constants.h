// Constants audit: every folded weight and bias of the fused graph against the exact value
// (budget.h).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "validation/certificate/budget.h"
#include "validation/certificate/normal_form.h"

namespace assay {

struct ConstantsAudit {
  bool comparable = true;     ///< same terms and shapes on both sides
  std::string mismatch = {};  ///< why not comparable
  bool exact = true;          ///< every constant equals its exact value
  bool inside = true;         ///< every constant is inside its budget
  double budget_use = 0;      ///< largest share of a budget that is used
  double max_ulp = 0;         ///< largest |c - c*| in units in the last place of c*
  std::int64_t constants = 0;
  std::int64_t rounded = 0;  ///< constants that differ from their exact value
  std::string worst = {};  ///< the constant with the largest budget use: "weight, channel 3, index
                           ///< 17: stored 0x1p-3, exact 0x1.1p-3"
  std::int64_t worst_channel = -1;
};

/// The constants of `fused` against the exact values that `original` asks for.
ConstantsAudit audit_constants(const NormalForm& original, const NormalForm& fused,
                               const Budget& budget);
/// Two audits as one.
void merge(ConstantsAudit& all, const ConstantsAudit& more);

nlohmann::ordered_json to_json(const ConstantsAudit& a);

}  // namespace assay
