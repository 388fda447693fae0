// What the two sides of a region do to inputs, at several precisions, against certified radii.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/executor.h"
#include "validation/certificate/difference.h"
#include "validation/certificate/equivalence.h"
#include "validation/certificate/regions.h"

namespace assay {

struct Measured {
  struct Level {
    std::string name;  ///< float32, float64 or dd
    Difference difference;
  };

  Difference f32;   ///< against both radii and the constants' measured effect
  Difference real;  ///< float64 against both float64 radii: what the constants as stored do
  /// float64 against both radii and what rounding the constants again could do; only without proof
  Difference unexplained;
  std::vector<Level> structure = {};  ///< with exact constants, per level
  double bound = 0;                   ///< of the float32 difference, at its worst element
  bool overflowed = false;   ///< every number of the original is finite, the fused result is not
  std::string missing = {};  ///< an operator without a bound; nothing else is filled then
  nlohmann::ordered_json witness = nullptr;  ///< the element where the difference is worst
  nlohmann::ordered_json domain = nullptr;   ///< pairs outside the domain

  nlohmann::ordered_json rounding_json() const;
  nlohmann::ordered_json scaling_json() const;
};

/// `segments`: of the proof; none: without proof. `own`: constants were rounded once.
Measured measure(const Region& r, const std::vector<Segment>& segments,
                 const std::vector<Feeds>& samples, bool own);

/// Tensor, index, channel and both values in hexadecimal.
nlohmann::ordered_json witness_json(const std::string& name, const Tensor& original,
                                    const Tensor& fused, std::int64_t index);
/// Index of the first element with other bits; -1 when there is none.
std::int64_t first_difference(const Tensor& a, const Tensor& b);

}  // namespace assay
