// Equal tensors gathered one by one and laid along a new axis (scan outputs of Loop and Scan).
#pragma once

#include <vector>

#include "runtime/op.h"

namespace assay::ops {

/// Type of one item of output `i` of a subgraph, from its declaration: unknown sizes are 0, an
/// unknown type is float32 (the evaluation's float type).
TensorType declared_item(const EvalContext& c, const Graph& body, std::size_t i);

class Stack {
 public:
  /// `declared` is the type of an item when there is none.
  explicit Stack(TensorType declared) : declared_(std::move(declared)) {}
  /// Throws Error when the item differs from the first one in type or shape, or when all items
  /// together are larger than max_tensor_bytes().
  void add(Tensor item);
  /// All items along a new axis `axis` of the result, the last item first when `reversed`.
  Tensor stacked(std::int64_t axis = 0, bool reversed = false) const;

 private:
  TensorType declared_;
  std::vector<Tensor> items_;
  std::int64_t bytes_ = 0;
};

}  // namespace assay::ops
