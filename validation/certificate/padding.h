// Pad nodes with constant parameters, as the operator behind them sees them.
#pragma once

#include <optional>
#include <vector>

#include "runtime/graph.h"

namespace assay {

struct SpatialPadding {
  std::vector<std::int64_t> pads;  ///< begins, then ends, of the axes from 2 on; none negative
  double value = 0;
};

/// The padding that node `n` adds, when it is a Pad in constant mode of spatial axes only.
std::optional<SpatialPadding> spatial_padding(const Graph& g, const Node& n);

/// Sum of two lists of pads; `own` empty counts as zeros.
std::vector<std::int64_t> joined_pads(std::vector<std::int64_t> own,
                                      const std::vector<std::int64_t>& more);

}  // namespace assay
