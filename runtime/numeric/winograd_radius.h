#pragma once
// The radius of the sums of winograd.h: unit times a norm of the row (output channel) times a norm
// of the column (output). winograd_radius.cpp has the proof.
#include <array>
#include <cstdint>
#include <vector>

#include "runtime/numeric/conv_shape.h"
#include "runtime/numeric/proved.h"
#include "runtime/numeric/winograd_points.h"

namespace assay::dot::winograd {

using Points = std::array<double, kPoints>;  // 0, a, -a, b, -b, infinity
using Outputs = std::array<double, kOutputs>;

// Terms of a chain of products; longer ones save additions of blocks and have a larger radius.
inline constexpr int64_t kChain = 64;

ProvedRadius unit(const ConvShape& shape);

// largest: per output channel the largest N_j of the proof; share: per output j of a tile the
// largest N_j over that in any channel.
struct RowNorms {
  std::vector<double> largest;
  Outputs share{};
};
RowNorms row_norms(const ConvShape& shape, const float* w);

// q_j of the four outputs of a tile, from the sums of squares of its transformed inputs by point
// and of its inputs, both over channels and kernel rows. Not finite where the latter is not.
Outputs column_norms(const Points& squares, double whole);

}  // namespace assay::dot::winograd
