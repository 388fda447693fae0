// Declared types of the inputs of a graph that was cut out of another one.
#pragma once

#include "runtime/executor.h"

namespace assay {

/// `cut` with the types and fixed sizes of `feeds`: a cut graph does not state those of values in
/// its middle.
Graph with_input_types(const Graph& cut, const Feeds& feeds);

}  // namespace assay
