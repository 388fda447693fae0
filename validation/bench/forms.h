// The form of a model that is timed: original, fused, or INT8 with integer operators.
#pragma once

#include <string>
#include <vector>

#include "runtime/executor.h"

namespace assay::bench {

struct FormOptions {
  std::string form = "fused";  ///< original, fused, int8
  std::string fusion_mode = "all";
  std::string mid_rounding =
      "keep";  ///< keep or drop: a Q/DQ pair between a convolution and the addition after it
};

struct BuiltForm {
  Graph graph;
  std::vector<std::string> notes = {};  ///< what the reader of a timing must know
};

/// A model with QuantizeLinear nodes is lowered as it is; a float model is calibrated on `feeds`
/// first, which a note says.
BuiltForm build_form(const Graph& original, const Feeds& feeds, const FormOptions& options);

}  // namespace assay::bench
