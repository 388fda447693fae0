// Where a quantized layer's error comes from.
//
// A layer is a linear operator (or an Add) with what runs with it: kept mid rounding, residual,
// activation, final quantizer. Its float form is evaluated in float64 on the golden inputs, and
// again with one source swapped in at a time:
//   weight rounding       weights whose code is inside the range become their dequantized codes,
//   the others stay weight clipping       weights whose code would leave the range become the
//   nearest code's value, the others stay activation rounding, activation clipping   the same for
//   the operands bias                  the bias as the file has it requantization        mid
//   rounding and final quantizer inherited             the operands that the quantized graph really
//   had, unquantized
// The energy of each difference from the golden result is that cause's share. Causes do not add up
// exactly: `interaction` is what the total error has beyond their sum (negative when they cancel).
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "runtime/graph.h"

namespace assay {

/// Energies: sums of squares over all outputs added so far.
struct LayerCauses {
  std::string node;
  std::string op_type;
  std::string output;  ///< float value at the end of the layer
  std::int64_t count = 0;
  double signal = 0;  ///< golden result
  double total = 0;   ///< quantized minus golden result
  double weight_rounding = 0;
  double weight_clipping = 0;
  double activation_rounding = 0;
  double activation_clipping = 0;
  double bias = 0;
  double requantization = 0;
  double inherited = 0;

  double interaction() const;
};

class CauseSplitter {
 public:
  /// `plain`: the graph that was quantized, fused operators written out (unfuse); `qdq`: the
  /// quantizer's result. Layers are matched by node name; a layer whose float weights are not found
  /// is listed in skipped().
  CauseSplitter(const Graph& plain, const Graph& qdq);
  ~CauseSplitter();
  CauseSplitter(CauseSplitter&&) noexcept;

  /// Values to keep from both runs.
  std::set<std::string> values() const;
  /// One batch: `golden` from a run of the plain graph, `actual` from a run of the QDQ graph, by
  /// value name.
  void add(const std::map<std::string, Tensor>& golden,
           const std::map<std::string, Tensor>& actual);
  std::vector<LayerCauses> layers() const;
  /// Node and reason.
  const std::map<std::string, std::string>& skipped() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace assay
