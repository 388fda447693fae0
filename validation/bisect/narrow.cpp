#include "validation/bisect/narrow.h"

#include <algorithm>
#include <set>

namespace assay {
namespace {

/// Cuts the channels of one graph.
///   a value is "cut" when it holds only the channels of the window
/// Linear operators on a cut value lose these input channels; with `outputs` every linear operator
/// of that many output channels also loses output channels, and its result is cut. Everything else
/// hands the cut on.
class ChannelCut {
 public:
  ChannelCut(const Graph& g, std::int64_t channels, ChannelSide side, const Window& w,
             std::set<std::string>& inputs)
      : g_(g), channels_(channels), side_(side), window_(w), inputs_(inputs) {}

  /// nullopt when the cut cannot be made.
  std::optional<Graph> run() {
    // An input that meets a cut value has to be cut from the start: then all begins anew.
    for (std::size_t before = inputs_.size() + 1; before != inputs_.size();) {
      before = inputs_.size();
      made_ = g_;
      cut_.clear();
      for (const ValueId v : made_.inputs()) {
        if (inputs_.count(made_.name(v))) cut_.insert(v);
      }
      for (const NodeId n : made_.topological_order()) {
        if (!node(n)) return std::nullopt;
      }
    }
    return std::move(made_);
  }

 private:
  static bool is_linear(const std::string& op) {
    return op.rfind("Conv", 0) == 0 || op.rfind("Gemm", 0) == 0 || op.rfind("MatMul", 0) == 0;
  }

  const Tensor* constant(const Node& n, std::size_t i) const {
    return n.has_input(i) ? made_.constant(n.inputs[i]) : nullptr;
  }

  void replace(NodeId n, std::size_t i, const Tensor& t) {
    made_.set_input(n, i, made_.add_initializer(made_.fresh_name("cut"), t));
  }

  bool is_cut(ValueId v) const { return v.valid() && cut_.count(v) != 0; }

  bool node(NodeId id) {
    const Node n = made_.node(id);
    const bool any =
        std::any_of(n.inputs.begin(), n.inputs.end(), [&](ValueId v) { return is_cut(v); });
    if (is_linear(n.op_type) && constant(n, 1) != nullptr) return linear(id, n);
    if (!any) return true;
    for (std::size_t i = 0; i < n.inputs.size(); ++i) {
      if (!operand(id, n, i)) return false;
    }
    cut_.insert(n.outputs.begin(), n.outputs.end());
    return true;
  }

  /// An operand beside a cut value: a constant, an input that must be cut too, or cut already.
  bool operand(NodeId id, const Node& n, std::size_t i) {
    const ValueId v = n.inputs[i];
    if (!v.valid() || is_cut(v)) return true;
    if (const Tensor* t = made_.constant(v)) {
      if (t->numel() != channels_ || t->numel() == 1 || t->dtype() == DType::int64) return true;
      const auto& dims = t->shape().vec();
      const auto axis = std::find(dims.begin(), dims.end(), channels_) - dims.begin();
      replace(id, i, window_of(*t, axis, window_));
      return true;
    }
    if (!made_.value(v).is_input) return false;
    inputs_.insert(made_.name(v));
    return true;
  }

  bool linear(NodeId id, const Node& n) {
    const bool convolution = n.op_type.rfind("Conv", 0) == 0;
    const bool transposed = n.op_type.rfind("ConvTranspose", 0) == 0;
    const std::int64_t group = n.attributes.int_or("group", 1);
    const bool flipped = n.attributes.int_or("transB", 0) != 0;
    std::int64_t out = convolution != transposed || flipped ? 0 : 1;
    Tensor w = *constant(n, 1);
    if (w.shape().rank() < 2) return false;
    const bool depthwise = group > 1 && group == channels_ && w.shape()[0] == group;
    if (group > 1 && !depthwise) return !is_cut(n.inputs[0]) && side_ == ChannelSide::inputs;
    if (depthwise) return depthwise_step(id, n, w);
    if (is_cut(n.inputs[0])) {
      if (w.shape()[1 - out] != channels_) return false;
      w = window_of(w, 1 - out, window_);
    }
    const bool narrower = side_ == ChannelSide::outputs && w.shape()[out] == channels_;
    if (narrower) w = window_of(w, out, window_);
    replace(id, 1, w);
    return !narrower || behind_product(id, n);
  }

  /// Bias and residual of a product whose result is cut.
  bool behind_product(NodeId id, const Node& n) {
    for (std::size_t i = 2; i < n.inputs.size(); ++i) {
      if (!operand(id, n, i)) return false;
    }
    cut_.insert(n.outputs[0]);
    return true;
  }

  bool depthwise_step(NodeId id, const Node& n, const Tensor& w) {
    if (!is_cut(n.inputs[0])) {
      if (side_ == ChannelSide::inputs) return true;
      if (!made_.value(n.inputs[0]).is_input) return false;
      inputs_.insert(made_.name(n.inputs[0]));
    }
    Attributes a = n.attributes;
    a.set("group", window_.size);
    made_.set_attributes(id, a);
    replace(id, 1, window_of(w, 0, window_));
    return behind_product(id, n);
  }

  const Graph& g_;
  std::int64_t channels_;
  ChannelSide side_;
  Window window_;
  std::set<std::string>& inputs_;
  Graph made_;
  std::set<ValueId> cut_;
};

bool convolves(const Graph& g) {
  const auto nodes = g.node_ids();
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](NodeId n) { return g.node(n).op_type.rfind("Conv", 0) == 0; });
}

std::int64_t channel_axis(const FailingCase& c, const Shape& s) {
  return convolves(c.original) || s.rank() < 2 ? 1 : s.rank() - 1;
}

const Tensor* largest_input(const FailingCase& c) {
  const Tensor* largest = nullptr;
  for (const auto& [name, t] : c.feeds) {
    if (t.shape().rank() > 1 && (largest == nullptr || t.numel() > largest->numel())) largest = &t;
  }
  return largest;
}

}  // namespace

Tensor window_of(const Tensor& t, std::int64_t axis, const Window& w) {
  std::vector<std::int64_t> dims = t.shape().vec();
  const std::int64_t inner = t.shape().numel(axis + 1, t.shape().rank()) * size_of(t.dtype());
  const std::int64_t row = dims[static_cast<std::size_t>(axis)] * inner;
  dims[static_cast<std::size_t>(axis)] = w.size;
  Tensor part(t.dtype(), Shape(dims));
  auto to = part.mutable_raw().begin();
  for (std::int64_t at = w.begin * inner; at < t.bytes(); at += row) {
    const auto from =
        t.raw().subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(w.size * inner));
    to = std::copy(from.begin(), from.end(), to);
  }
  return part;
}

std::int64_t input_size(const FailingCase& c, std::int64_t axis) {
  std::int64_t size = 0;
  for (const auto& [name, t] : c.feeds) {
    if (axis < t.shape().rank()) size = std::max(size, t.shape()[axis]);
  }
  return size;
}

FailingCase with_input_window(const FailingCase& c, std::int64_t axis, const Window& w) {
  const std::int64_t size = input_size(c, axis);
  FailingCase smaller = c;
  for (auto& [name, t] : smaller.feeds) {
    if (axis < t.shape().rank() && t.shape()[axis] == size) t = window_of(t, axis, w);
  }
  return smaller;
}

std::int64_t channel_count(const FailingCase& c, ChannelSide side) {
  if (side == ChannelSide::inputs) {
    const Tensor* t = largest_input(c);
    return t == nullptr ? 0 : t->shape()[channel_axis(c, t->shape())];
  }
  const auto& dims = c.original.value(c.original.outputs()[0]).type.dims;
  if (!dims || dims->size() < 2) return 0;
  const auto axis = convolves(c.original) ? std::size_t{1} : dims->size() - 1;
  return (*dims)[axis].size;
}

std::optional<FailingCase> with_channel_window(const FailingCase& c, ChannelSide side,
                                               const Window& w) {
  const std::int64_t channels = channel_count(c, side);
  std::set<std::string> inputs;
  if (side == ChannelSide::inputs) {
    for (const auto& [name, t] : c.feeds) {
      if (&t == largest_input(c)) inputs.insert(name);
    }
  }
  FailingCase smaller = c;
  // What one graph asks to be cut, the other has to cut as well.
  for (std::size_t before = inputs.size() + 1; before != inputs.size();) {
    before = inputs.size();
    for (Graph FailingCase::*side_graph : {&FailingCase::original, &FailingCase::fused}) {
      auto cut = ChannelCut(c.*side_graph, channels, side, w, inputs).run();
      if (!cut) return std::nullopt;
      smaller.*side_graph = *std::move(cut);
    }
  }
  for (const std::string& name : inputs) {
    Tensor& t = smaller.feeds.at(name);
    const std::int64_t axis = channel_axis(c, t.shape());
    if (t.shape().rank() <= axis || t.shape()[axis] != channels) return std::nullopt;
    t = window_of(t, axis, w);
  }
  return smaller;
}

}  // namespace assay
