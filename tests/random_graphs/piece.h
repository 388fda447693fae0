// A piece of a random graph: one operator, or a small group as an exporter writes it.
//
// A piece is one function that ends with `const RegisterPiece ...`; graphs are phrases of pieces,
// chosen by role, so that near-matches of the rules are frequent.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/random_graphs/graph_maker.h"

namespace assay::testing {

enum class Role {
  before,      ///< in front of a linear operator: padding, copies
  linear,      ///< Conv, ConvTranspose, Gemm, MatMul, branches of them
  scale,       ///< per-channel maps: normalizations, constant Mul, Add, ...
  join,        ///< a second data value comes in: residual additions
  activation,  ///< elementwise, monotone or not
  layout,      ///< data movement
  codes        ///< quantizers
};

struct Piece {
  std::string name;
  Role role = Role::scale;
  double weight = 1;
  /// The new value, or nullopt when the piece does not go with this value.
  std::optional<Cell> (*grow)(GraphMaker&, const Cell&) = nullptr;
};

struct RegisterPiece {
  explicit RegisterPiece(Piece piece);
};

/// Every piece by name.
const std::vector<Piece>& all_pieces();

}  // namespace assay::testing
