// Calibration algorithms: from what was observed of a tensor to the range that the quantizer
// covers.
//
// One file per algorithm in quant/algorithms/, registering itself.
#pragma once

#include <string>
#include <vector>

#include "quant/observer.h"

namespace assay {

struct AlgorithmOptions {
  ActivationScheme scheme = ActivationScheme::u8;
  /// Share of the values, in percent, that each end keeps (percentile).
  double percentile = 99.999;
};

struct CalibrationAlgorithm {
  std::string name;
  std::string summary;
  /// The range to cover, inside the observed one (which may exclude 0). Called with at least one
  /// finite value.
  Range (*choose)(const StreamingHistogram&, const AlgorithmOptions&) = nullptr;
};

struct RegisterAlgorithm {
  explicit RegisterAlgorithm(CalibrationAlgorithm algorithm);
};

/// Throws Error listing the known names.
const CalibrationAlgorithm& find_algorithm(const std::string& name);
std::vector<std::string> algorithm_names();

}  // namespace assay
