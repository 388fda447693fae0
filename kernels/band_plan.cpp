// Finding runs of convolutions for kernels/bands.h.
#include <algorithm>

#include "kernels/bands.h"
#include "kernels/onednn/window.h"
#include "runtime/ops/fused.h"

namespace assay::kernels {
namespace {

constexpr std::size_t most_pieces = 3;

enum class Kind { dense, pointwise, depthwise };

/// What a node is as a piece; nullopt when it cannot be one.
struct Conv {
  Kind kind = Kind::dense;
  bool residual = false;
  std::int64_t weight_bytes = 0;
};

Kind kind_of(const ChainView& view, const Node& node, const Shape& w) {
  if (w[1] == 1 && node.attributes.int_or("group", 1) == w[0] && w[0] > 1) return Kind::depthwise;
  const Window window = window_of(node.attributes, {w[2], w[3]}, view.slot(node.inputs[0]).shape,
                                  view.slot(node.outputs[0]).shape);
  return window.pointwise() ? Kind::pointwise : Kind::dense;
}

std::optional<Conv> as_conv(const ChainView& view, NodeId n) {
  const Node& node = view.graph.node(n);
  std::optional<FusedForm> form;
  if (node.domain == assay_domain) form = parse_fused(node.op_type);
  const bool is_conv = form ? form->base == "Conv" : node.domain.empty() && node.is("Conv");
  if (!is_conv || node.inputs.size() < 2 || node.outputs.size() != 1) return std::nullopt;
  const Tensor* w = view.constant(node.inputs[1]);
  if (w == nullptr || w->dtype() != DType::float32 || w->shape().rank() != 4) return std::nullopt;
  const Kind kind = kind_of(view, node, w->shape());
  if (kind != Kind::depthwise && node.attributes.int_or("group", 1) != 1) return std::nullopt;
  return Conv{kind, form && form->add, w->numel() * 4};
}

/// The piece of node `n` with the elementwise nodes behind it.
BandPiece piece_at(const ChainView& view, NodeId n) {
  const ValueId y = view.graph.node(n).outputs[0];
  BandPiece piece{.node = n, .value = y};
  if (auto tail = plan_tail(view, y)) {
    piece.tail = *std::move(tail);
    piece.value = view.graph.node(piece.tail.nodes.back()).outputs[0];
  }
  return piece;
}

/// The node that alone reads `v`, as its first input and nowhere else.
std::optional<NodeId> only_reader(const Graph& g, ValueId v) {
  const auto& readers = g.value(v).readers;
  if (readers.size() != 1 || g.is_output(v)) return std::nullopt;
  const Node& node = g.node(readers[0]);
  const auto reads = std::count(node.inputs.begin(), node.inputs.end(), v);
  if (reads != 1 || node.inputs[0] != v) return std::nullopt;
  return readers[0];
}

bool residual_is_at_hand(const ChainView& view, NodeId n) {
  const auto& inputs = view.graph.node(n).inputs;
  return inputs.size() > 3 && inputs[3].valid() && view.constant(inputs[3]) == nullptr &&
         view.available(inputs[3]);
}

class RunFinder {
 public:
  explicit RunFinder(const ChainView& view) : view_(view) {}

  std::vector<BandPiece> find(NodeId first) {
    std::optional<NodeId> next = first;
    while (next && pieces_.size() < most_pieces && take(*next))
      next = only_reader(view_.graph, pieces_.back().value);
    if (pieces_.size() < 2 || !deep_) return {};
    const Graph& g = view_.graph;
    const std::int64_t outside =
        view_.slot(g.node(first).inputs[0]).bytes() + view_.slot(pieces_.back().value).bytes();
    if (between_ <= weights_ || between_ <= outside) return {};
    return std::move(pieces_);
  }

 private:
  /// True when the run may go on behind the node.
  bool take(NodeId n) {
    const auto conv = as_conv(view_, n);
    if (!conv || (deep_ && conv->kind == Kind::depthwise)) return false;
    if (!pieces_.empty() && conv->kind == Kind::dense) return false;
    if (conv->residual && (pieces_.empty() || !residual_is_at_hand(view_, n))) return false;
    if (!pieces_.empty()) between_ += view_.slot(pieces_.back().value).bytes();
    weights_ += conv->weight_bytes;
    deep_ = deep_ || conv->kind == Kind::depthwise;
    pieces_.push_back(piece_at(view_, n));
    return !conv->residual;
  }

  const ChainView& view_;
  std::vector<BandPiece> pieces_;
  bool deep_ = false;  // a depthwise convolution is among them
  std::int64_t between_ = 0, weights_ = 0;
};

}  // namespace

std::vector<BandPiece> plan_bands(const ChainView& view, NodeId first) {
  return RunFinder(view).find(first);
}

}  // namespace assay::kernels
