// Networks between the original and the fused one: some instances fused, the others as they were.
#pragma once

#include <vector>

#include "validation/certificate/certify.h"

namespace assay {

/// The original of `c` with the regions for which `fused` is true in their fused form. Every
/// choice is possible, because a region reads values of the original and writes one. Inner values
/// of region i are called "instance i: NAME", the same in every such network.
Graph with_instances(const Comparison& c, const std::vector<bool>& fused);

}  // namespace assay
