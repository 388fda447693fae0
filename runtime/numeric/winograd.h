#pragma once
// Correctly rounded convolutions with kernels of width 3 and stride 1 along the width, with 6
// products per kernel row for four neighbouring outputs instead of 12, by the minimal filtering
// F(4, 3) of Winograd (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015):
//   y = A^T [ sum_{c, r} (G g_cr) * (B^T d_cr) ],
// g the three weights of kernel row r, d the six inputs under four outputs of a row, * element by
// element. The polynomials are taken at 0, +-a, +-b and infinity (winograd_points.h), fractions in
// A:
//   G = [1 0 0; 1 +-a a^2; 1 +-b b^2; 0 0 1]
//   B^T = [a^2 b^2, 0, -(a^2 + b^2), 0, 1, 0;  0, -+a b^2, -b^2, +-a, 1, 0;  0, -+a^2 b, -a^2, +-b,
//   1, 0;
//          0, a^2 b^2, 0, -(a^2 + b^2), 0, 1]
//   A^T row j = [z, (+-a)^j / (2 a^2 (a^2 - b^2)), (+-b)^j / (2 b^2 (b^2 - a^2)), e]
// with z = 1 / (a^2 b^2) for j = 0, e = 1 for j = 3, else 0.
// Only `cr` may do so: other float64 sums than those of the plain form pass Ziv's test with a
// radius of their own or are settled exactly, and the result is the same. winograd_radius.cpp has
// the proof of the radius.
//
// Filtering along one axis alone keeps transformed rows of inputs for every kernel row, and a
// kernel row's transform is twice its size (in two dimensions: 16 values from 9, and as much work
// per value).
#include "runtime/numeric/conv_pass.h"

namespace assay::dot::winograd {

// Whether kernels of this convolution can be transformed; the image does not matter.
bool applies(const ConvShape& shape);

// The weights as pack_plan_weights packs them, each panel in one piece, with the norms of the
// transformed kernels. w as in conv.h.
PackedWeights::Impl pack_weights(const ConvPlan& plan, const float* w);

// Whether it saves time on this image, with kernels that `applies` allows and the instruction
// set in force.
bool pays(const ConvPlan& plan);

// The convolution, correctly rounded. The weights are packed as for the plain form, with those
// norms.
void run(const Pass<float>& pass);

}  // namespace assay::dot::winograd
