// Calibration of a graph over a dataset, on the reference or on the fast kernels.
#pragma once

#include <cstdint>
#include <functional>

#include "datasets/dataset.h"
#include "quant/calibrate.h"

namespace assay {

struct CalibrationRun {
  bool on_kernels = true;  ///< oneDNN with every wanted value tapped; false: the float32 reference
  std::int64_t limit = 0;  ///< samples; 0: all
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};
};

/// `g` may hold fused operators. Observes the values that quantize() wants ranges for.
CalibrationTable calibrate_graph(const Graph& g, const Dataset& data, CalibrationOptions options,
                                 const CalibrationRun& run = {});

}  // namespace assay
