// How many samples of a run are stacked. Results do not depend on it; memory does.
//
//   peak  = max over nodes of the bytes of all activations that are alive while the node runs
//   batch = the data set's, halved until batch * peak <= the budget
#pragma once

#include <cstdint>

#include "runtime/executor.h"

namespace assay {

/// Bytes for the activations of one batch. The reference holds about twice as much besides: the
/// columns of a convolution and the results before an activation.
inline constexpr std::int64_t batch_activation_bytes = 64 << 20;

/// Largest sum of bytes of values (inputs included, constants not) that a run in topological order
/// holds at one time: each from the node that computes it to its last reader. Values whose shape is
/// not known before running count nothing.
std::int64_t peak_activation_bytes(const Graph& g, const std::map<std::string, Shape>& inputs);

/// At most `wanted`, and 1 when an input has no open first axis. `sample`: inputs of one sample.
std::int64_t usable_batch(const Graph& g, const Feeds& sample, std::int64_t wanted,
                          std::int64_t activation_bytes = batch_activation_bytes);

}  // namespace assay
