// Checking a compiled program before it is timed, step by step: each step's output is judged on
// that step's own inputs, so an error neither hides behind a later step nor is blamed on one.
#pragma once

#include <map>
#include <string>

#include "kernels/program.h"
#include "runtime/executor.h"

namespace assay::bench {

struct StepCheck {
  std::int64_t judged = 0;    ///< steps compared
  std::int64_t exact = 0;     ///< of these: integer steps and moved data, equal in every bit
  std::int64_t unjudged = 0;  ///< float operators without a rounding bound
  bool passed = true;
  std::string worst = {};  ///< step with the largest share of its bound, or the first that failed
  double share = 0;        ///< |kernel - reference| over the bound
};

/// Integer steps: the reference under the arithmetic that the step states, bit for bit. Float
/// steps: the canonical float32 value and the kernel's both lie within the any-order radius r of
/// the exact result, so they differ by at most 2 r.
StepCheck check_steps(const Graph& g, kernels::Program& program, const Feeds& feeds);

}  // namespace assay::bench
