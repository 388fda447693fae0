// A region on the compiled kernels (oneDNN), so that "the rewrite is wrong" and "the kernel is
// wrong" are told apart.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "runtime/executor.h"
#include "validation/certificate/regions.h"

namespace assay {

/// The kernel's results on `feeds` against the exact value, within the radius for any order of
/// summation: max_abs, max_ulp, bound_usage, inside, kernel; or a note why nothing is said.
nlohmann::ordered_json check_kernels(const Region& r, const std::vector<Feeds>& feeds);

}  // namespace assay
