// Fewer nodes for a failing case: cuts at pairs of inner values that stand for each other.
#pragma once

#include <vector>

#include "validation/bisect/failing_case.h"

namespace assay {

/// The case ending at such a pair, or beginning there with the original's tensor, smallest first.
/// A pair is a value of the fused graph and the value of the original that is nearest to it, at
/// most twice as far as the outputs are from each other.
std::vector<FailingCase> cuts(const FailingCase& c);

}  // namespace assay
