// Constants: values that follow from initializers alone, through any number of nodes.
//
// A value is constant when it is an initializer that no caller can override, or when a deterministic operator computes it from
// constants only. It is evaluated correctly rounded, node by node, which is what the original graph gives under `cr`.
//
// Limits (a small file may ask for terabytes): a node is evaluated only when its result size is known beforehand and is at most
// 1 MiB or 4 times the bytes of its inputs, whichever is larger, and never above max_tensor_bytes(). QuantizeLinear and
// DequantizeLinear are never evaluated, because the codes they hold are the point of a quantized graph.
#pragma once

#include <map>
#include <optional>

#include "runtime/graph.h"

namespace assay {

inline constexpr std::int64_t small_constant_bytes = std::int64_t{1} << 20;
inline constexpr std::int64_t constant_growth = 4;

class ConstantValues {
 public:
  /// The tensor of `v`, or nullptr. The pointer stays valid as long as this object.
  const Tensor* get(const Graph& g, ValueId v);
  /// Why a node whose inputs are all constant is still not evaluated (size limit, operator not deterministic); else nullopt.
  std::optional<Decline> refusal(const Graph& g, NodeId n);

 private:
  std::optional<Tensor> evaluate(const Graph& g, NodeId n, std::size_t output);
  std::map<ValueId, std::optional<Tensor>> known_;
};

}  // namespace assay
