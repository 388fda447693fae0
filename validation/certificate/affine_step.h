// One affine operator with constant parameters: y = scale * (x + before) + after, per channel.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "validation/certificate/normal_form.h"

namespace assay {

/// Where the channels of a value lie.
struct Channels {
  std::int64_t count = 1;
  std::int64_t axis = 0;  ///< counted from the front; -1 for scalars
  std::int64_t rank = 0;
};

struct Affine {
  ValueId in;
  std::vector<Real> before, scale, after;  ///< per channel
  std::vector<ChainStep> chain = {};       ///< the numbers as stored, in the order of action
  int divisions = 0;
  int steps = 1;       ///< affine operations
  bool stored = true;  ///< the chain holds the very numbers (no expression of constants)
};

/// `n` as an affine step for a value with these channels, or why it is none: BatchNormalization in
/// inference mode, Add, Sub, Mul, Div with a constant that is one number per channel, Neg.
std::variant<Affine, std::string> affine_step(const Graph& g, const Node& n, const Channels& at);

/// Same length as the channels, or why the constant is not one number per channel.
std::variant<std::vector<Real>, std::string> per_channel(const Shape& shape,
                                                         const std::vector<Real>& values,
                                                         const Channels& at);

}  // namespace assay
