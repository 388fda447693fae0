// The forms of a network that a run compares, and how each is run.
//
//   original, fused, int8            on the reference (cr; int8: exact integers under a numeric
//   profile) onednn_unfused, onednn_fused, onednn_int8   on oneDNN
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datasets/dataset.h"
#include "fusion/pipeline.h"
#include "kernels/program.h"
#include "quant/lower.h"
#include "quant/quantize.h"
#include "validation/session/options.h"

namespace assay {

/// Every graph of a run, and what made it.
struct Forms {
  Graph original;
  Graph fused;
  RewriteLog log;  ///< empty when the fused graph came from a file
  bool fused_given = false;
  std::optional<CalibrationTable> table;
  std::optional<QuantizeResult> quantized;  ///< QDQ graph; the report only when Assay quantized it
  bool quantized_given = false;
  std::optional<Graph> quantized_from;  ///< the folded float graph that the QDQ graph stands for
  std::optional<LowerResult> lowered;   ///< integer operators
  std::string no_int8;                  ///< why there is no INT8 form, when there is none
};

/// Reads the model and makes or reads the other forms. Progress goes to `say`.
Forms make_forms(const ValidateOptions& options,
                 const std::function<void(const std::string&)>& say);

/// One way of running one form. `run` takes a stacked batch.
struct Runner {
  std::string form;     ///< key in reports: "onednn_fused"
  std::string backend;  ///< "reference" or "onednn"
  std::function<std::map<std::string, Tensor>(const Feeds&, const std::set<std::string>&)> run;
};

std::vector<Runner> make_runners(const Forms& forms, const ValidateOptions& options);

}  // namespace assay
