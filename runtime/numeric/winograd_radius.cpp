// Proof of the radius, in the terms of gemm_sinks.cpp (u = 2^-53, C channels, H kernel rows, chains
// of at most B = kChain terms).
//
// Inputs are float32, so nothing underflows, and nothing overflows while they are finite. Let U = G
// g and V = B^T d as computed, and S = |G| |g|, W = |B|^T |d|. Output j is sum_p a_jp U_p . V_p,
// with a the magnitudes in A and the dot product over channels and kernel rows. For any weights c_p
// > 0 let
//   R_j^2 = sum_p a_jp c_p |U_p|^2,  T_j the same of S,  Q_j^2 = sum_p a_jp / c_p |V_p|^2,
// norms over channels and kernel rows, and |d| the norm of the 6 C H inputs. By Cauchy-Schwarz each
// of these is at most
//   - transforms: an element of U or V passes at most 2 roundings, together 2u sum_p a_jp (S_p
//   |V_p| +
//     |U_p| W_p) <= 2u T_j Q_j + 2u R_j K_j |d|. W_p is at most |b_p| |d| with b_p row p of B^T, so
//     K_j^2 = sum_p a_jp / c_p |b_p|^2.
//   - chains: a fused step errs by u times its result, a partial sum, which is at most |U_p| |V_p|
//   of
//     its block; with the additions of blocks (min(C, B) + H ceil(C/B) - 1) u R_j Q_j.
//   - A: at most 5 roundings, that of the constant included. Addend and residual: one each.
// The ends of Ziv's interval take 4 more, as there. With q_j = max(Q_j, K_j |d| / 2) this is
// together at most
//   u (depth R_j + 2 T_j) q_j = u depth N_j q_j,  depth = min(C, B) + H ceil(C/B) + 14,
// times 1 + 2^-20 for what is of second order in u and the rounding of the norms themselves. Rows
// carry the largest of the four N_j, columns q_j times the largest N_j over that in any row.
#include "runtime/numeric/winograd_radius.h"

#include <algorithm>
#include <cmath>

#include "runtime/numeric/parallel.h"

namespace assay::dot::winograd {
namespace {

constexpr double square(double x) { return x * x; }

// a_jp.
constexpr Points share_of_points(int output) {
  double near = -kNearShare, far = kFarShare;
  for (int i = 0; i < output; ++i) near *= kNear, far *= kFar;
  return {output == 0 ? kZeroShare : 0.0, near, near, far, far, output == 3 ? 1.0 : 0.0};
}
constexpr std::array<Points, kOutputs> kShare{share_of_points(0), share_of_points(1),
                                              share_of_points(2), share_of_points(3)};

// c_p: about |b_p| over the norm of row p of G, which makes Cauchy-Schwarz tight for inputs without
// structure.
constexpr Points kBalance{3.25, 2.75, 2.75, 0.625, 0.625, 3.25};

// |b_p|^2.
constexpr double kEnd = square(kProduct) + square(kSum) + 1;
constexpr double kAtNear = (kNear2 + square(kFar2)) + kNear2 * square(kFar2) + 1;
constexpr double kAtFar = (kFar2 + square(kNear2)) + kFar2 * square(kNear2) + 1;
constexpr Points kInputSquares{kEnd, kAtNear, kAtNear, kAtFar, kAtFar, kEnd};

int64_t depth_of(const ConvShape& s) {
  const int64_t channels = s.in_channels / s.groups;
  return std::min(channels, kChain) + s.kernel[1] * ((channels + kChain - 1) / kChain) + 14;
}

// Q_j^2 from |V_p|^2.
constexpr double input_square(size_t output, const Points& squares) {
  double sum = 0.0;
  for (size_t p = 0; p < kPoints; ++p) sum += kShare[output][p] / kBalance[p] * squares[p];
  return sum;
}

// R_j from |U_p|^2.
double kernel_norm(size_t output, const Points& squares) {
  double sum = 0.0;
  for (size_t p = 0; p < kPoints; ++p) sum += kShare[output][p] * kBalance[p] * squares[p];
  return std::sqrt(sum);
}

// Adds the squares of G g; those of |G| |g| for magnitudes g and `minus` = 1.
void add_squares(const std::array<double, kWidth>& g, double minus, Points& squares) {
  const double near = g[0] + kNear2 * g[2], far = g[0] + kFar2 * g[2];
  const Points u{g[0],
                 near + kNear * g[1],
                 near + minus * kNear * g[1],
                 far + kFar * g[1],
                 far + minus * kFar * g[1],
                 g[2]};
  for (size_t p = 0; p < kPoints; ++p) squares[p] += square(u[p]);
}

// N_j of one output channel with `lines` kernel rows of three weights.
Outputs kernel_norms(const float* w, int64_t lines, int64_t depth) {
  Points plain{}, magnitudes{};
  for (int64_t i = 0; i < lines; ++i) {
    std::array<double, kWidth> g;
    std::copy_n(w + i * kWidth, kWidth, g.begin());
    add_squares(g, -1.0, plain);
    for (double& tap : g) tap = std::fabs(tap);
    add_squares(g, 1.0, magnitudes);
  }
  Outputs norms;
  for (size_t j = 0; j < kOutputs; ++j)
    norms[j] =
        kernel_norm(j, plain) + 2.0 / static_cast<double>(depth) * kernel_norm(j, magnitudes);
  return norms;
}

// K_j^2.
constexpr Outputs input_squares() {
  Outputs squares{};
  for (size_t j = 0; j < kOutputs; ++j) squares[j] = input_square(j, kInputSquares);
  return squares;
}
constexpr Outputs kWhole = input_squares();

}  // namespace

ProvedRadius unit(const ConvShape& shape) {
  const auto depth = static_cast<double>(depth_of(shape));
  return proved<"float32, Winograd">(depth * 0x1p-53 * (1.0 + 0x1p-20));
}

RowNorms row_norms(const ConvShape& s, const float* w) {
  const int64_t lines = s.in_channels / s.groups * s.kernel[1], depth = depth_of(s);
  std::vector<Outputs> norms(static_cast<size_t>(s.out_channels));
  parallel_for(0, s.out_channels, 8, [&](int64_t first, int64_t last) {
    for (int64_t oc = first; oc < last; ++oc)
      norms[static_cast<size_t>(oc)] = kernel_norms(w + oc * lines * kWidth, lines, depth);
  });
  RowNorms rows;
  for (const Outputs& n : norms) {
    const double largest = *std::max_element(n.begin(), n.end());
    rows.largest.push_back(largest);
    for (size_t j = 0; j < kOutputs; ++j) {
      const double share = largest > 0.0 && std::isfinite(largest) ? n[j] / largest : 1.0;
      rows.share[j] = std::max(rows.share[j], share);
    }
  }
  return rows;
}

Outputs column_norms(const Points& squares, double whole) {
  Outputs norms;
  for (size_t j = 0; j < kOutputs; ++j) {
    const double largest = std::max(input_square(j, squares), kWhole[j] * whole / 4);
    norms[j] = std::isfinite(whole) ? std::sqrt(largest) : whole;
  }
  return norms;
}

}  // namespace assay::dot::winograd
