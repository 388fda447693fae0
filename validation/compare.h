// Comparing two tensors: a tolerance, a verdict, and the metrics.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "validation/pair_stats.h"

namespace assay {

/// An element agrees when it is equal (NaN with NaN, infinity with the same infinity), or both are
/// finite and |other - reference| <= atol + rtol * |reference|, or they are at most `ulp` float32
/// steps apart. All zero: exact.
struct Tolerance {
  double atol = 0;
  double rtol = 0;
  double ulp = 0;
};

struct Comparison {
  enum class Verdict { pass, fail, no_elements };
  Verdict verdict = Verdict::no_elements;
  std::string reason;  ///< why it failed: shapes, or how many elements and where
  PairStats stats;
  std::int64_t outside = 0;                 ///< elements outside the tolerance
  std::vector<std::int64_t> position = {};  ///< flat indices of the first of them
};

std::string to_string(Comparison::Verdict v);
Comparison compare(const Tensor& reference, const Tensor& other, const Tolerance& tolerance = {});
/// {verdict, reason, position, ...metrics}
nlohmann::ordered_json to_json(const Comparison& c);

}  // namespace assay
