// Times of a program's steps, and how near they come to the roofline.
#pragma once

#include <span>
#include <vector>

#include "kernels/program.h"
#include "validation/bench/roofline.h"

namespace assay::bench {

/// One row of the per-layer table.
struct LayerTime {
  kernels::StepInfo step;
  double ms = 0;  ///< median
};

/// Per program the medians of `rounds` runs on the inputs that are bound. The programs run in turn,
/// so that a drifting clock touches all alike.
std::vector<std::vector<LayerTime>> time_layers(std::span<kernels::Program* const> programs,
                                                int rounds);

/// 10^9 operations per second, a multiply-add counting as two; 0 when nothing took time.
double rate(const LayerTime& layer);
/// Of what the roofline allows for the step's operations and bytes.
double share_of_roof(const LayerTime& layer, const Roofline& roofline);

}  // namespace assay::bench
