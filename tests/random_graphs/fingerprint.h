// Structural identity of graphs, whatever their nodes and constants are called.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "runtime/graph.h"

namespace assay::testing {

/// Per graph output a hash of everything it is computed from: operators, attributes, wiring,
/// constants by their bits, inputs by name.
std::map<std::string, std::uint64_t> fingerprint(const Graph& g);

}  // namespace assay::testing
