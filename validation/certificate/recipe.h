// Named recipes: which arithmetic made the constants of a file (docs/certificates.md, "Constants").
//
// A recipe folds a chain of affine steps in a fixed order of operations and a fixed type. A file
// that matches one bit for bit, in every weight and bias of a layer, was made by it or by an
// equivalent one. A file that matches none is not wrong for that: its budget decides.
#pragma once

#include <string>
#include <vector>

#include "validation/certificate/normal_form.h"

namespace assay {

struct Recognised {
  bool applies = false;                 ///< one linear operator with weights to compare
  std::vector<std::string> names = {};  ///< recipes that give every constant, most usual first
};

/// Compares the constants of `fused` with what each recipe makes of the original's.
Recognised recognise_recipe(const NormalForm& original, const NormalForm& fused);

/// Every recipe: name and formula, for docs and reports.
std::vector<std::string> recipe_names();

}  // namespace assay
