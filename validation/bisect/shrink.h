// The smallest case that still fails (delta debugging).
#pragma once

#include "validation/bisect/failing_case.h"

namespace assay {

struct ShrinkOptions {
  std::uint64_t seed = 1;     ///< of hostile inputs
  std::int64_t trials = 300;  ///< cases judged at most
};

struct Shrunk {
  FailingCase smallest;
  FusionCertificate certificate;  ///< of `smallest`
  std::int64_t trials = 0;
};

/// Makes the case smaller while it fails in the same way: fewer samples and smaller images, fewer
/// channels, fewer nodes. nullopt when the case does not fail so to begin with.
std::optional<Shrunk> shrink(const FailingCase& c, const Failure& failure,
                             const ShrinkOptions& options);

}  // namespace assay
