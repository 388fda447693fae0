// One float32 convolution as oneDNN sees it, apart from the node it came from: conv.cpp runs it as
// a whole, bands.cpp in bands of rows.
#pragma once

#include <optional>
#include <vector>

#include "kernels/onednn/form.h"
#include "kernels/onednn/window.h"

namespace assay::kernels {

/// y = tail(act(conv(x, w) + b + residual)), channels-last.
struct ConvProblem {
  Slot x, y;
  Tensor w, b;  ///< b undefined when there is none
  std::int64_t group = 1;
  Window window;
  DotForm form;
  bool sum = false;  ///< residual added in place
  std::vector<Eltwise> tail = {};
};

/// Node input that holds the residual.
inline constexpr std::size_t residual_input = 3;

/// The node's convolution; the reason when oneDNN has none like it.
std::variant<ConvProblem, Decline> conv_problem(const KernelRequest& request);

/// oneDNN's default implementation with the weights packed; nullopt when that is its scalar
/// fallback. Binds input 0, and the residual as input 3.
std::optional<Variant> default_conv(const ConvProblem& problem);

}  // namespace assay::kernels
