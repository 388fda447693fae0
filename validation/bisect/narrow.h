// Smaller tensors for a failing case: windows of the inputs' axes, and of channels together with
// the constants that belong to them. What comes out is another pair of networks; whether it still
// fails is for the caller to see.
#pragma once

#include <optional>

#include "validation/bisect/failing_case.h"

namespace assay {

struct Window {
  std::int64_t begin = 0, size = 1;
};

/// Elements `w` of one axis.
Tensor window_of(const Tensor& t, std::int64_t axis, const Window& w);

/// Size of this axis of the largest input that has it; 0 when none does.
std::int64_t input_size(const FailingCase& c, std::int64_t axis);
/// Every input whose axis has that size cut to the window.
FailingCase with_input_window(const FailingCase& c, std::int64_t axis, const Window& w);

/// Which channels are cut.
enum class ChannelSide { outputs, inputs };
/// Channel counts that can be cut.
std::int64_t channel_count(const FailingCase& c, ChannelSide side);
/// Both graphs with the window of the channels that the outputs have (or the inputs), in the
/// weights of Conv, Gemm and MatMul, in every constant with one number per channel, and in the
/// inputs that hold such channels. nullopt where a node does not let channels be cut.
std::optional<FailingCase> with_channel_window(const FailingCase& c, ChannelSide side,
                                               const Window& w);

}  // namespace assay
