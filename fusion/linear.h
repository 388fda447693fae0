// Linear operators as the folding rules see them: Conv, ConvTranspose, Gemm and MatMul with a
// constant weight, whose output channels can be scaled and shifted by changing weight and bias.
//
// Axis of the output channel: Conv W[M, C/g, k..] axis 0; ConvTranspose W[C, M/g, k..] axis 1
// within the group of axis 0; Gemm B[K, N] axis 1, or 0 with transB; MatMul B[K, N] axis 1. Square
// weights hide a mistake here, so it is decided in one place.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fusion/fold_math.h"
#include "fusion/rewrite.h"

namespace assay {

struct LinearOp {
  enum class Kind { conv, conv_transpose, gemm, matmul };
  NodeId node = {};
  Kind kind = Kind::conv;
  ValueId weight_value = {};
  ValueId bias_value = {};  ///< invalid when absent
  Tensor weight = {};
  Tensor bias = {};  ///< [channels], spread where the node's is shorter; undefined() when absent
  std::int64_t channels = 0;
  std::int64_t group = 1;
  bool transposed = false;  ///< Gemm: the weight is [N, K]
  std::int64_t rank = -1;   ///< of the output; -1 unknown (MatMul)
  /// What a rule made the addend behind a MatMul of higher rank from: the steps go on from there.
  const FoldOrigin* addend = nullptr;

  /// Channel axis of the output counted from the front; -1: the last.
  std::int64_t channel_axis() const;
  ChannelOf channel_of() const;
  std::string text(const Graph& g) const;
};

inline constexpr const char* linear_types = "Conv|ConvTranspose|Gemm|MatMul";

/// The node as a linear operator, or why its weights may not be changed: not constant, caller-fed,
/// shared, dtype, rank, bias shape.
std::variant<Decline, LinearOp> as_linear(const RuleContext& ctx, NodeId n);

/// The steps that a BatchNormalization in inference mode makes, for `channels` channels on axis 1.
/// Declines: training mode, extra outputs, statistics per element, parameters not constant or of
/// the wrong length or type, v+ε not positive.
std::variant<Decline, ExactAffine> batch_norm_steps(const RuleContext& ctx, NodeId n,
                                                    std::int64_t channels);

/// A value whose channels a constant operand may scale or shift.
struct ChannelTarget {
  DType dtype = DType::float32;
  std::int64_t rank = -1;  ///< -1 unknown
  std::int64_t channels = 0;
  std::int64_t from_end = 1;  ///< channel axis counted from the end (1: the last)
};
ChannelTarget channel_target(const LinearOp& op);

/// `k` as one number per channel (or one for all), when right-aligned broadcasting makes it exactly
/// that and does not enlarge the output.
std::variant<Decline, std::vector<double>> per_channel(const Tensor& k, const ChannelTarget& to);

/// The constant operand `k` of an Add, Sub, Mul or Div of rank `rank`, in the shape that aligns
/// from the right: before opset 7 an attribute says at which axis of the first operand it begins.
std::variant<Decline, Tensor> aligned_operand(const RuleContext& ctx, NodeId n, ValueId k,
                                              std::int64_t rank);

struct Folded {
  LinearOp op;
  Tensor weight;
  Tensor bias;
  FoldOrigin weight_origin;
  FoldOrigin bias_origin;
  bool same_weight = false;  ///< only a shift: the weight stays as it is
  bool no_bias = false;      ///< only a scale and no bias before: none is added
};

/// Weight and bias of `op` with `steps` behind it. Declines when a result is not finite.
std::variant<Decline, Folded> fold_behind(const RuleContext& ctx, const LinearOp& op,
                                          const ExactAffine& steps);

/// Replaces the operator and the nodes behind it (`behind`, root last) by one operator with new
/// constants that writes the root's output. MatMul becomes Gemm when its output has rank 2, else
/// MatMul and Add.
void build_folded(RuleContext& ctx, const Folded& folded, const std::vector<NodeId>& behind);

/// Replaces the operator alone by one with the new constants, under a new output value (its values
/// changed, so the old name would lie); returns that value.
ValueId build_folded_aside(RuleContext& ctx, const Folded& folded);

/// Guard helper: the first Decline of a variant.
template <class T>
const Decline* declined(const std::variant<Decline, T>& v) {
  return std::get_if<Decline>(&v);
}

}  // namespace assay
