// A region evaluated at one precision, with the certified radius of its result.
#pragma once

#include <optional>
#include <string>

#include "runtime/executor.h"

namespace assay {

struct Bounded {
  Tensor value;                  ///< float64; dd under Precision::dd
  bool finite = true;            ///< every number of every value inside is
  std::optional<Tensor> radius;  ///< float64; nullopt when an operator of the region has no bound
  std::string missing = {};      ///< that operator
};

/// Runs `g` (one output) under `p` on exact inputs and carries the rounding radius through it.
/// `any_order`: the bound holds for every order of summation (kernels), else for the canonical
/// order. `constant_radii`: how far initializers may lie from what they stand for, by name.
Bounded evaluate_bounded(const Graph& g, const Feeds& feeds, Precision p, bool any_order,
                         const std::map<std::string, Tensor>& constant_radii = {});

}  // namespace assay
