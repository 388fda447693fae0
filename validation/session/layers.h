// Loss per quantized layer: SQNR as run (cumulative) and with golden inputs (isolated), codes
// against oneDNN's kernel.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "kernels/program.h"
#include "quant/lower.h"
#include "validation/pair_stats.h"

namespace assay {

/// One node of the lowered graph that produces codes (or a float result of an integer operator).
struct LayerLoss {
  std::string node;
  std::string op;
  std::string output;  ///< value of the original that it stands for
  QuantParams params = {};
  bool codes = true;  ///< false: the integer operator's result is float32
  PairStats cumulative = {}, isolated = {};
  std::int64_t clipped = 0;  ///< codes at an end of the range whose golden value lies beyond it
  std::int64_t elements = 0;
  std::int64_t compared = 0,
               mismatches =
                   0;  ///< oneDNN's codes against the onednn-v3 reference on the same input codes
  std::string kernel = {}, arithmetic = {};
  std::string kernel_note = {};  ///< why the kernel was not compared
};

class LayerStudy {
 public:
  /// `program` runs the lowered graph; may be nullptr. Graphs must outlive the study.
  LayerStudy(const Graph& original, const LowerResult& lowered, kernels::Program* program);
  ~LayerStudy();
  /// Adds one sample (or batch).
  void add(const Feeds& feeds);
  const std::vector<LayerLoss>& layers() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

nlohmann::ordered_json to_json(const LayerLoss& layer);

}  // namespace assay
