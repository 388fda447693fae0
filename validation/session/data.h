// The samples of a run.
#pragma once

#include "datasets/dataset.h"
#include "validation/session/options.h"

namespace assay {

/// --input, else --data, else a synthetic fill.
DatasetPtr open_data(const ValidateOptions& options, const Graph& graph);
/// The inputs of the first `n` samples, or of all when there are fewer.
std::vector<Feeds> first_samples(const Dataset& data, std::int64_t n);

}  // namespace assay
