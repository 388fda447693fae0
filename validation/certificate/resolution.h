// Resolution: the smallest parameter error that a file's constants could reveal.
//
// A batch normalization parameter p moves a constant c from its exact value c* by |c*(p') - c*|. As
// long as every constant's move stays inside its budget (budget.h), a file made with p' is inside
// the budget too, so the file cannot reveal the error. With s = g/sqrt(v+e) in a chain whose other
// factors are F (before and behind), x the value that the mean is subtracted from:
//   epsilon   weight and bias follow s: relative move m needs e' - e = (v+e) ((1-m)^-2 - 1), where
//             m = budget(w*) / |w*| or budget(b*) / |F s (x - mean)|
//   gamma     weight w F g / sqrt(v+e): |dg| = budget(w*) sqrt(v+e) / |w F|, and likewise the bias
//   mean      bias only: |dm| = budget(b*) / |F s|
// The least over all constants of the layer is reported.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "validation/certificate/budget.h"
#include "validation/certificate/normal_form.h"

namespace assay {

struct Resolution {
  std::string node;      ///< the batch normalization
  double epsilon = 0;    ///< as stored
  double d_epsilon = 0;  ///< smallest increase that some constant shows; infinite: none shows any
  double d_gamma = 0;    ///< relative to |gamma|
  double d_mean = 0;     ///< absolute
};

/// One entry per batch normalization of the chain behind the original's linear operator. None
/// when the chain is not all of the form (a residual, parameters computed by nodes).
std::vector<Resolution> resolution(const NormalForm& original, const Budget& budget);

nlohmann::ordered_json to_json(const std::vector<Resolution>& list);

}  // namespace assay
