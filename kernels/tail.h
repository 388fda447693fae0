// The elementwise end of a convolution: steps that its kernel applies to each result before it
// stores it, so that the nodes behind cost no pass over memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/chain.h"

namespace assay::kernels {

/// An elementwise function by ONNX name, or Linear: alpha x + beta. `low`, `high` are Clip's
/// bounds; `alpha` and `beta` those of LeakyRelu, Elu and HardSigmoid.
struct ActivationParts {
  std::string name;
  float low = 0, high = 0, alpha = 0, beta = 0;
  std::string approximate = "none";  ///< of Gelu
};

/// The chain as such steps: scalar additions, subtractions, products and divisions by a power of
/// two, Relu, Clip, HardSigmoid, and HardSwish in the spellings that
/// fusion/rules/recognize_hard_swish.cpp lists. nullopt when it reads more than input 0 and
/// scalars, or holds anything else.
std::optional<std::vector<ActivationParts>> tail_of(const ChainSpec& spec);

}  // namespace assay::kernels
