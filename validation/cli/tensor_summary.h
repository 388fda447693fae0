// One line, or one JSON object, about a tensor: what `run` and `compare` print.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "runtime/tensor.h"

namespace assay {

struct TensorSummary {
  std::int64_t nans = 0;
  std::int64_t infinities = 0;
  bool any = false;  ///< some element is not NaN; min and max are theirs
  double min = 0;
  double max = 0;
  std::vector<double> first = {};  ///< up to eight elements
};
TensorSummary summarize(const Tensor& t);

/// Shortest text that reads back as the same double; "NaN", "Infinity", "-Infinity".
std::string number_text(double x);
/// A JSON number, or one of the three names as a string: JSON has no bare NaN.
nlohmann::json number_json(double x);

/// "y float32 [1, 10] min -1.5 max 3 first 0.25 1 ..."
std::string summary_line(const std::string& name, const Tensor& t);
nlohmann::json summary_json(const std::string& name, const Tensor& t);

}  // namespace assay
