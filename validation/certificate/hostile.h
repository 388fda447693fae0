// Inputs that make a structural difference show: what a sample with small positive numbers hides.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/executor.h"

namespace assay {

struct HostileInput {
  std::string name;  ///< "sample 0 times -64", "one at element 12, else zero"
  Feeds feeds;
};

/// Variations of `sample`: scaled, negated, of mixed magnitudes, constant, single ones at the
/// corners and borders of every float32 input, signed zeros and subnormals. The same for the same
/// seed.
std::vector<HostileInput> hostile_inputs(const Feeds& sample, std::uint64_t seed);

/// Every float32 number of random sign, between 2^-8 and 2^9.
HostileInput mixed_input(const Feeds& sample, std::uint64_t seed);

}  // namespace assay
