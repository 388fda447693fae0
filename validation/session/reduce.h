// The smallest failing case of a fused model (`assay reduce`).
#pragma once

#include "validation/bisect/failing_case.h"
#include "validation/session/validate.h"

namespace assay {

/// Which failing instance is made small.
struct ReduceTarget {
  std::string output = {};  ///< the one that computes this value; empty: the first
  /// Set: one that is not wrong itself, but whose kernel is outside its bound.
  KernelCheck kernel_check = {};
};

/// Judges every fused instance, takes the first that fails (E5, else E4, with options.strict also
/// U; or what `target` asks for), makes it small and writes options.out. Exit code 0 and no folder
/// when nothing fails; 1 for E5, E4 and kernels, 4 for U. Throws Error for bad input.
ValidateResult reduce(const ValidateOptions& options, const ReduceTarget& target,
                      const Progress& progress);

}  // namespace assay
