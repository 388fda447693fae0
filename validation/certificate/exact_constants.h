// The fused structure with its constants' storage error taken out (docs/certificates.md,
// "Structure").
#pragma once

#include <optional>
#include <vector>

#include "validation/certificate/equivalence.h"

namespace assay {

/// `plain` with every constant that storage rounded replaced by its exact value rounded to `level`
/// (float32, float64 or dd); nullopt when there is none, or one that is no weight or bias of a
/// linear operator.
std::optional<Graph> with_exact_constants(const Graph& plain, const std::vector<Segment>& segments,
                                          DType level);

}  // namespace assay
