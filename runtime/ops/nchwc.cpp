// Operators of ONNX Runtime's domain com.microsoft.nchwc (since 1): Conv, MaxPool, AveragePool,
// GlobalMaxPool, GlobalAveragePool, ReorderInput, ReorderOutput, Upsample. Layouts: nchwc.h.
//
// Each is evaluated by unblocking its operands, running the plain operator and blocking the result,
// so that rounding is that of the plain operator (Conv with `activation` and a fourth input like
// com.microsoft.FusedConv: bias, sum, activation).
#include "runtime/ops/nchwc.h"

#include <array>

#include "runtime/ops/support/bound.h"
#include "runtime/ops/support/call_op.h"
#include "runtime/ops/support/fused_eval.h"
#include "runtime/ops/support/infer.h"
#include "runtime/ops/support/microsoft_call.h"
#include "runtime/ops/support/window.h"

namespace assay::ops::nchwc_op {
namespace {

std::int64_t round_up(std::int64_t n, std::int64_t block) {
  return (n + block - 1) / block * block;
}

// ---- Conv

bool plain_input(const Node& node, const Shape& w, std::int64_t block) {
  return node.attributes.int_or("group", 1) == 1 && w[1] < block;
}

/// The call with plain operands: a depthwise filter is padded with its channels, so the group is
/// too.
FusedCall plain_call(const Node& node, const Shape& w) {
  FusedCall call = microsoft_conv_call(node);
  if (node.attributes.int_or("group", 1) > 1 && w[1] == 1) call.base.attributes.set("group", w[0]);
  call.base.attributes.erase("block_size");
  return call;
}

void infer_conv_blocked(InferContext& c) {
  if (!c.input(1).known()) return;
  infer_fused(c, plain_call(*c.node, c.input(1).shape()));
}

/// Inputs of the plain convolution.
std::vector<Tensor> plain_inputs(const Node& node, const std::vector<Tensor>& inputs) {
  const Shape& w = inputs[1].shape();
  const std::int64_t block = nchwc_block(node, w[0]);
  std::vector<Tensor> plain = inputs;
  if (!plain_input(node, w, block)) plain[0] = unblock_activation(inputs[0], block);
  plain[1] = unblock_filter(inputs[1], block, nchwc_filter_is_obo(node, w, block));
  if (inputs.size() > 3 && inputs[3].defined()) plain[3] = unblock_activation(inputs[3], block);
  return plain;
}

void eval_conv(EvalContext& c) {
  const Shape w = c.input(1).shape();
  EvalContext plain = c;
  plain.inputs = plain_inputs(*c.node, c.inputs);
  eval_fused(plain, plain_call(*c.node, w));
  c.output(0) = block_activation(plain.output(0), nchwc_block(*c.node, w[0]));
}

void bound_conv(BoundContext& c) {
  const Shape w = c.inputs[1].shape();
  const std::int64_t block = nchwc_block(*c.node, w[0]);
  BoundContext plain = c;
  plain.inputs = plain_inputs(*c.node, c.inputs);
  if (c.radii.size() > 1 && c.radii[1].defined()) return;
  const auto unblock = [&](std::size_t i, bool blocked) {
    if (i < plain.radii.size() && plain.radii[i].defined() && blocked)
      plain.radii[i] = unblock_activation(plain.radii[i], block);
  };
  unblock(0, !plain_input(*c.node, w, block));
  unblock(3, true);
  plain.outputs[0] = unblock_activation(c.outputs[0], block);
  bound_fused(plain, plain_call(*c.node, w));
  if (plain.result.empty() || !plain.result[0].defined()) return;
  c.result = {block_activation(plain.result[0], block)};
}

std::int64_t macs_conv(const InferContext& c) {
  return macs_fused(c, plain_call(*c.node, c.input(1).shape()));
}

// ---- pools

Node plain_pool(const Node& node) {
  Node plain = inner_node(node.op_type, node.attributes);
  plain.attributes.erase("block_size");
  return plain;
}

void infer_pool_blocked(InferContext& c) {
  c.set_output(0, infer_inner(c, plain_pool(*c.node), 1));
}

void eval_pool(EvalContext& c) {
  const std::int64_t block = nchwc_block(*c.node, c.input(0).shape()[1]);
  const Tensor x = unblock_activation(c.input(0), block);
  c.output(0) =
      block_activation(call_op(plain_pool(*c.node), {x}, {.precision = c.precision}), block);
}

void bound_pool(BoundContext& c) {
  const std::int64_t block = nchwc_block(*c.node, c.inputs[0].shape()[1]);
  const Node node = plain_pool(*c.node);
  BoundContext plain = c;
  plain.node = &node;
  plain.opset = kInnerOpset;
  plain.inputs[0] = unblock_activation(c.inputs[0], block);
  plain.outputs[0] = unblock_activation(c.outputs[0], block);
  if (!plain.radii.empty() && plain.radii[0].defined())
    plain.radii[0] = unblock_activation(plain.radii[0], block);
  require_op(node, kInnerOpset).bound(plain);
  c.result = {block_activation(plain.result[0], block)};
}

// ---- reorders

bool channels_last(const Node& node) { return node.attributes.int_or("channels_last", 0) != 0; }

void infer_reorder_input(InferContext& c) {
  require_rank(c, 0, 3);
  if (!c.input(0).dims) return;
  Dims x = *c.input(0).dims;
  if (channels_last(*c.node)) {
    x.insert(x.begin() + 1, x.back());
    x.pop_back();
  }
  if (x[1] >= 0) x[1] = round_up(x[1], nchwc_block(*c.node, 16));
  c.set_output(0, {c.input(0).dtype, x});
}

/// Index into [N, C, P] of plain order for element (n, c, p), or of channels-last order.
std::int64_t plain_index(const Node& node, std::int64_t n, std::int64_t ch, std::int64_t p,
                         const std::array<std::int64_t, 2>& channels_inner) {
  const auto [channels, inner] = channels_inner;
  return channels_last(node) ? (n * inner + p) * channels + ch : (n * channels + ch) * inner + p;
}

/// Copies `channels` channels between a tensor of blocked order (padded channels) and one of plain
/// order.
template <class Copy>
void walk(const Shape& blocked, std::int64_t block, std::int64_t channels, const Node& node,
          const Copy& copy) {
  const std::int64_t inner = blocked.numel(2, blocked.rank()), padded = blocked[1];
  for (std::int64_t n = 0; n < blocked[0]; ++n) {
    for (std::int64_t ch = 0; ch < channels; ++ch) {
      for (std::int64_t p = 0; p < inner; ++p) {
        const std::int64_t at =
            ((n * (padded / block) + ch / block) * inner + p) * block + ch % block;
        copy(at, plain_index(node, n, ch, p, {channels, inner}));
      }
    }
  }
}

Tensor reorder_input(const Node& node, const Tensor& x, const Shape& out) {
  Tensor y = Tensor::zeros(x.dtype(), out);
  const std::int64_t channels = x.shape()[channels_last(node) ? -1 : 1];
  visit_dtype(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = x.data<T>().data();
    T* to = y.mutable_data<T>().data();
    walk(out, nchwc_block(node, out[1]), channels, node,
         [&](std::int64_t blocked, std::int64_t plain) { to[blocked] = from[plain]; });
  });
  return y;
}

void eval_reorder_input(EvalContext& c) {
  c.output(0) = reorder_input(*c.node, c.input(0), c.output(0).shape());
}

void infer_reorder_output(InferContext& c) {
  require_rank(c, 0, 3);
  if (!c.input(0).dims) return;
  Dims x = *c.input(0).dims;
  x[1] = c.attributes().required_int("channels");
  if (channels_last(*c.node)) {
    x.push_back(x[1]);
    x.erase(x.begin() + 1);
  }
  c.set_output(0, {c.input(0).dtype, x});
}

Tensor reorder_output(const Node& node, const Tensor& x, const Shape& out) {
  Tensor y(x.dtype(), out);
  const std::int64_t channels = node.attributes.required_int("channels");
  if (channels > x.shape()[1]) {
    throw Error({.what = "ReorderOutput keeps more channels than there are",
                 .got = std::to_string(channels),
                 .expected = "at most " + std::to_string(x.shape()[1])});
  }
  visit_dtype(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = x.data<T>().data();
    T* to = y.mutable_data<T>().data();
    walk(x.shape(), nchwc_block(node, x.shape()[1]), channels, node,
         [&](std::int64_t blocked, std::int64_t plain) { to[plain] = from[blocked]; });
  });
  return y;
}

void eval_reorder_output(EvalContext& c) {
  c.output(0) = reorder_output(*c.node, c.input(0), c.output(0).shape());
}

/// The radius moves with its element; padding channels are exact.
template <Tensor (*move)(const Node&, const Tensor&, const Shape&)>
void bound_move(BoundContext& c) {
  const Tensor zero = Tensor::zeros(DType::float64, c.inputs[0].shape());
  const bool exact = c.radii.empty() || !c.radii[0].defined();
  c.result = {move(*c.node, exact ? zero : c.radii[0], c.outputs[0].shape())};
}

// ---- Upsample (nearest)

std::vector<std::int64_t> scales_of(const Attributes& a) {
  const std::string mode = a.string_or("mode", "nearest");
  std::vector<std::int64_t> scales = a.required_ints("scales");
  if (mode != "nearest" || scales.size() != 4 || scales[0] != 1 || scales[1] != 1) {
    throw Error({.what = "nchwc Upsample",
                 .got = "mode '" + mode + "', scales " + to_string(Shape(scales)),
                 .expected = "nearest with scales 1, 1, h, w",
                 .kind = ErrorKind::unsupported});
  }
  return scales;
}

void infer_upsample(InferContext& c) {
  if (!c.input(0).dims) return;
  Dims x = *c.input(0).dims;
  const auto scales = scales_of(c.attributes());
  for (std::size_t i = 0; i < x.size() && i < 4; ++i) x[i] = x[i] < 0 ? -1 : x[i] * scales[i];
  c.set_output(0, {c.input(0).dtype, x});
}

/// [N, C/b, H, W, b]: whole blocks are repeated.
Tensor upsample(const Node& node, const Tensor& x, const Shape& out) {
  Tensor y(x.dtype(), out);
  const auto scales = scales_of(node.attributes);
  const std::int64_t block = nchwc_block(node, out[1]);
  visit_dtype(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = x.data<T>().data();
    T* to = y.mutable_data<T>().data();
    for (std::int64_t i = 0; i < y.numel() / block; ++i) {
      const std::int64_t w = i % out[3], h = i / out[3] % out[2], plane = i / (out[3] * out[2]);
      const std::int64_t at = (plane * x.shape()[2] + h / scales[2]) * x.shape()[3] + w / scales[3];
      std::copy(from + at * block, from + (at + 1) * block, to + i * block);
    }
  });
  return y;
}

void eval_upsample(EvalContext& c) {
  c.output(0) = upsample(*c.node, c.input(0), c.output(0).shape());
}

OpDef blocked(const char* type, Infer infer, Eval eval, Bound bound, Macs macs = nullptr) {
  return {.type = type,
          .domain = nchwc_domain,
          .since = 1,
          .infer = infer,
          .eval = eval,
          .bound = bound,
          .macs = macs};
}

const RegisterOp registered{std::vector<OpDef>{
    blocked("Conv", infer_conv_blocked, eval_conv, bound_conv, macs_conv),
    blocked("MaxPool", infer_pool_blocked, eval_pool, bound_pool),
    blocked("AveragePool", infer_pool_blocked, eval_pool, bound_pool),
    blocked("GlobalMaxPool", infer_pool_blocked, eval_pool, bound_pool),
    blocked("GlobalAveragePool", infer_pool_blocked, eval_pool, bound_pool),
    blocked("ReorderInput", infer_reorder_input, eval_reorder_input, bound_move<reorder_input>),
    blocked("ReorderOutput", infer_reorder_output, eval_reorder_output, bound_move<reorder_output>),
    blocked("Upsample", infer_upsample, eval_upsample, bound_move<upsample>)}};

}  // namespace
}  // namespace assay::ops::nchwc_op
