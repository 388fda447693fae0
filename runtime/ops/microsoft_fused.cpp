// Fused operators that ONNX Runtime saves (domain com.microsoft, since 1), so that its optimized
// files can be judged.
//
//   FusedConv    activation(Conv(X, W, B) + Z); attributes of Conv, `activation`,
//   `activation_params` FusedGemm    activation(Gemm(A, B, C)); attributes of Gemm, `activation`,
//   `activation_alpha`, `activation_beta` FusedMatMul  alpha * A' * B'; transA, transB swap the
//   last two axes, transBatchA and transBatchB move the first axis of the
//                operand to before its last axis
// They round like Assay's staged fused operators: base with its bias, residual, activation.
// FusedMatMul is Gemm's line with no C, rounded once under cr.
#include <algorithm>

#include "runtime/ops/support/bound.h"
#include "runtime/ops/support/call_op.h"
#include "runtime/ops/support/dot.h"
#include "runtime/ops/support/fused_eval.h"
#include "runtime/ops/support/infer.h"
#include "runtime/ops/support/matmul.h"
#include "runtime/ops/support/microsoft_call.h"
#include "runtime/ops/support/narrow.h"

namespace assay::ops {
namespace {

const char* const microsoft = "com.microsoft";

/// The activation's parameters by position: alpha, beta; Clip has min, max.
Attributes parameters(const std::string& activation, const std::vector<float>& p) {
  Attributes a;
  const bool clip = activation == "Clip";
  if (!p.empty()) a.set(clip ? "min" : "alpha", p[0]);
  if (p.size() > 1) a.set(clip ? "max" : "beta", p[1]);
  return a;
}

void check_activation(const std::string& name) {
  for (const char* known :
       {"", "Relu", "Clip", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", "HardSwish", "Elu"}) {
    if (name == known) return;
  }
  throw Error({.what = "unknown activation of a fused operator",
               .got = "'" + name + "'",
               .kind = ErrorKind::unsupported});
}

}  // namespace

FusedCall microsoft_conv_call(const Node& node) {
  FusedCall call;
  const std::string activation = node.attributes.string_or("activation", "");
  check_activation(activation);
  call.form = {"Conv", node.has_input(3), activation};
  call.base = inner_node("Conv", node.attributes);
  call.activation = parameters(activation, node.attributes.floats_or("activation_params", {}));
  return call;
}

namespace {

FusedCall gemm_call(const Node& node) {
  FusedCall call;
  const Attributes& a = node.attributes;
  const std::string activation = a.string_or("activation", "");
  check_activation(activation);
  call.form = {"Gemm", false, activation};
  call.base = inner_node("Gemm", a);
  std::vector<float> p;
  if (a.has("activation_alpha")) p.push_back(a.float_or("activation_alpha", 0.0F));
  if (a.has("activation_beta")) p.push_back(a.float_or("activation_beta", 0.0F));
  call.activation = parameters(activation, p);
  return call;
}

template <FusedCall (*call)(const Node&)>
OpDef fused(const char* type) {
  return {.type = type,
          .domain = microsoft,
          .since = 1,
          .infer = [](InferContext& c) { infer_fused(c, call(*c.node)); },
          .eval = [](EvalContext& c) { eval_fused(c, call(*c.node)); },
          .bound = [](BoundContext& c) { bound_fused(c, call(*c.node)); },
          .macs = [](const InferContext& c) { return macs_fused(c, call(*c.node)); }};
}

/// Order of the operand's axes after transBatch and trans, as positions in the given operand.
Dims axis_order(const Attributes& a, const char* side, std::size_t rank) {
  Dims order;
  for (std::size_t i = 0; i < rank; ++i) order.push_back(static_cast<std::int64_t>(i));
  if (a.int_or(std::string("transBatch") + side, 0) != 0 && rank > 2)
    std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  if (a.int_or(std::string("trans") + side, 0) != 0 && rank > 1)
    std::swap(order[rank - 1], order[rank - 2]);
  return order;
}

Dims permuted(const Dims& dims, const Dims& order) {
  Dims out;
  for (const std::int64_t axis : order) out.push_back(dims[static_cast<std::size_t>(axis)]);
  return out;
}

template <class T>
Tensor permute(const Tensor& t, const Dims& order) {
  const Shape out_shape(permuted(t.shape().vec(), order));
  Tensor out(t.dtype(), out_shape);
  const auto strides = permuted(t.shape().strides(), order);
  const auto from = t.data<T>();
  const auto to = out.mutable_data<T>();
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    std::int64_t rest = i, at = 0;
    for (std::size_t axis = order.size(); axis-- > 0;) {
      const std::int64_t size = out_shape[static_cast<std::int64_t>(axis)];
      at += rest % size * strides[axis];
      rest /= size;
    }
    to[static_cast<std::size_t>(i)] = from[static_cast<std::size_t>(at)];
  }
  return out;
}

void infer_matmul(InferContext& c) {
  require_dtype(c, 0, float_type, "a float type");
  require_same_dtype(c, 0, 1);
  if (!c.input(0).dims || !c.input(1).dims) return;
  const Dims &a = *c.input(0).dims, &b = *c.input(1).dims;
  c.set_output(
      0, {c.input(0).dtype, matmul_dims(permuted(a, axis_order(c.attributes(), "A", a.size())),
                                        permuted(b, axis_order(c.attributes(), "B", b.size())))});
}

void core_matmul(EvalContext& c) {
  visit_real(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto operand = [&](std::size_t i, const char* side) {
      return permute<T>(c.input(i),
                        axis_order(c.attributes(), side, c.input(i).shape().dims().size()));
    };
    const Tensor a = operand(0, "A"), b = operand(1, "B");
    const MatMulShape s = matmul_shape(a.shape(), b.shape());
    for_each_product(s, [&](std::int64_t i, std::int64_t ia, std::int64_t ib) {
      auto g = gemm_args<T>(s.m, s.n, s.k);
      g.a = a.data<T>().data() + ia * s.m * s.k;
      g.b = b.data<T>().data() + ib * s.k * s.n;
      g.out = c.out<T>(0).data() + i * s.m * s.n;
      g.alpha = c.attributes().float_or("alpha", 1.0F);
      run_gemm(g, dot_mode(c));
    });
  });
}

std::int64_t macs_matmul(const InferContext& c) {
  const Dims a =
      permuted(*c.input(0).dims, axis_order(c.attributes(), "A", c.input(0).dims->size()));
  return c.outputs[0].shape().numel() * a.back();
}

const RegisterOp registered{std::vector<OpDef>{fused<microsoft_conv_call>("FusedConv"),
                                               fused<gemm_call>("FusedGemm"),
                                               {.type = "FusedMatMul",
                                                .domain = microsoft,
                                                .since = 1,
                                                .infer = infer_matmul,
                                                .eval = with_narrow<core_matmul>,
                                                .macs = macs_matmul}}};

}  // namespace
}  // namespace assay::ops
