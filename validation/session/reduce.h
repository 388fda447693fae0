// The smallest failing case of a fused model (`assay reduce`).
#pragma once

#include "validation/session/validate.h"

namespace assay {

/// Judges every fused instance, takes the first that fails (E5, else E4, with options.strict also
/// U; or the one that computes `output`), makes it small and writes options.out. Exit code 0 and no
/// folder when nothing fails; 1 for E5 and E4, 4 for U. Throws Error for bad input.
ValidateResult reduce(const ValidateOptions& options, const std::string& output,
                      const Progress& progress);

}  // namespace assay
