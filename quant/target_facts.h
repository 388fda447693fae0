// Facts about a layer that constraint tables ask for, by name.
//
// A fact is a boolean, an integer or a word, together with the text that reports show. It may be
// unknown (a rank that nobody states), or free: a setting or a product that the caller leaves open.
#pragma once

#include <functional>
#include <map>
#include <memory>

#include "quant/target.h"
#include "runtime/graph.h"
#include "runtime/op.h"

namespace assay {

/// A graph with what is known of its values; the caller owns all of it.
struct LayerView {
  const Graph& graph;
  std::function<const Tensor*(ValueId)> constant;  ///< transitively; nullptr when it is none
  std::function<TensorType(ValueId)> type;
};

/// What the caller asks of the target.
struct LayerRequest {
  std::string product = {};  ///< id; empty: not said
  /// Settings of the quantization by the names of facts ("shift_n", "channel_wise" ...). Left out:
  /// free, the table's own value is taken.
  std::map<std::string, FactValue> settings = {};
};

struct Fact {
  std::optional<FactValue> value = {};  ///< nothing: unknown, or free
  bool free = false;
  std::string shown = {};  ///< "filter_rank = 5 (weight 'w' [8, 3, 1, 1, 1])"
};

/// Every fact that a table may name.
const std::vector<std::string>& fact_names();
/// Facts that --setting may give.
const std::vector<std::string>& setting_names();

/// The fact of node `n`. Throws Error for an unknown name.
Fact fact_of(const std::string& name, const LayerView& view, NodeId n, const LayerRequest& request);

}  // namespace assay
