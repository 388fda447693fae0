#pragma once
// The points of F(4, 3), see winograd.h: 0, +-kNear, +-kFar and infinity. Among multiples of 1/8
// these two have the smallest mean radius (sum over points of |A| |G| |B^T|, row norms), 0.72 times
// that of the usual 1 and 2. No standard header may come in here.

namespace assay::dot::winograd {

inline constexpr int kPoints = 6, kOutputs = 4, kWidth = 3;  // points, outputs of a tile, weights

inline constexpr double kNear = 0.625, kFar = 1.625;
inline constexpr double kNear2 = kNear * kNear, kFar2 = kFar * kFar;
inline constexpr double kProduct = kNear2 * kFar2, kSum = kNear2 + kFar2;  // all exact

// Factors of the points in A: of 0, of +-kNear and of +-kFar, the latter two times powers of them.
inline constexpr double kZeroShare = 1.0 / kProduct;
inline constexpr double kNearShare = 1.0 / (2.0 * kNear2 * (kNear2 - kFar2));  // negative
inline constexpr double kFarShare = 1.0 / (2.0 * kFar2 * (kFar2 - kNear2));

}  // namespace assay::dot::winograd
