// The fused side of a region as part of the original's graph.
#pragma once

#include <string>

#include "validation/certificate/regions.h"

namespace assay {

/// Adds the nodes of the region's fused side to `g`, which holds the values that they read, and
/// answers their output. Values and nodes inside are called PREFIX + NAME.
ValueId insert_region(Graph& g, const Region& r, const std::string& prefix);

}  // namespace assay
