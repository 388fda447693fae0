// One region's verdict (docs/certificates.md, "How a verdict is found").
#pragma once

#include <vector>

#include "validation/certificate/certify.h"
#include "validation/certificate/regions.h"

namespace assay {

/// `samples`: the original's own tensors at the region's inputs. `own`: made by Assay's rules.
/// `original`: the graph of the region; options.samples are its inputs.
FusionCertificate judge_region(const Region& r, bool own, const std::vector<Feeds>& samples,
                               const CertifyOptions& options, const Graph& original);

}  // namespace assay
