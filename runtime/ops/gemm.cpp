// Gemm (1, 6: broadcast attribute; 7, 9, 11, 13): Y = alpha * A' * B' + beta * C, A' and B'
// transposed on request.
//
// C is broadcast to [M, N] (scalar, row, column or full) and may be absent from opset 11 on. alpha
// and beta count at their stored float32 value; beta = 0 is the same as no C. cr rounds the exact
// line once. Integers (opset 9) wrap and need alpha = beta = 1.
#include "runtime/ops/support/bound.h"
#include "runtime/ops/support/dot.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/infer.h"
#include "runtime/ops/support/narrow.h"

namespace assay::ops::gemm_op {
namespace {

struct Sizes2 {
  std::int64_t m, n, k;
};

Sizes2 sizes_of(const Attributes& attributes, const Dims& a, const Dims& b) {
  if (a.size() != 2 || b.size() != 2) {
    throw Error({.what = "Gemm needs matrices",
                 .got = to_string(Shape(a)) + " and " + to_string(Shape(b))});
  }
  const bool ta = attributes.int_or("transA", 0) != 0, tb = attributes.int_or("transB", 0) != 0;
  const std::int64_t ka = a[ta ? 0 : 1], kb = b[tb ? 1 : 0];
  if (ka != kb && ka >= 0 && kb >= 0) {
    throw Error({.what = "inner sizes of Gemm differ",
                 .got = to_string(Shape(a)) + " and " + to_string(Shape(b))});
  }
  return {a[ta ? 1 : 0], b[tb ? 0 : 1], ka >= 0 ? ka : kb};
}

void infer(InferContext& c) {
  require_dtype(c, 0, number_type, "a number type");
  require_same_dtype(c, 0, 1);
  if (!c.input(0).dims || !c.input(1).dims) return;
  const Sizes2 s = sizes_of(c.attributes(), *c.input(0).dims, *c.input(1).dims);
  c.set_output(0, {c.input(0).dtype, Dims{s.m, s.n}});
}

/// Row and column stride of C seen as [m, n].
std::pair<std::int64_t, std::int64_t> addend_strides(const Shape& shape, const Sizes2& s) {
  const Shape full{s.m, s.n};
  if (shape.rank() > 2 || broadcast(shape, full) != full) {
    throw Error({.what = "C of Gemm does not broadcast to the product",
                 .got = to_string(shape),
                 .expected = to_string(full)});
  }
  const auto strides = broadcast_strides(shape, full);
  return {strides[0], strides[1]};
}

template <class T>
GemmArgs<T> args_of(const Attributes& attributes, const std::vector<Tensor>& in) {
  const Sizes2 s = sizes_of(attributes, in[0].shape().vec(), in[1].shape().vec());
  auto g = gemm_args<T>(s.m, s.n, s.k);
  g.trans_a = attributes.int_or("transA", 0) != 0;
  g.trans_b = attributes.int_or("transB", 0) != 0;
  g.alpha = attributes.float_or("alpha", 1.0F);
  g.beta = attributes.float_or("beta", 1.0F);
  g.a = in[0].data<T>().data();
  g.b = in[1].data<T>().data();
  if (in.size() > 2 && in[2].defined() && g.beta != 0.0) {
    const auto [row, column] = addend_strides(in[2].shape(), s);
    g.addend = {in[2].data<T>().data(), row, column};
  }
  return g;
}

template <class T>
void integer_gemm(EvalContext& c) {
  GemmArgs<T> g = args_of<T>(c.attributes(), c.inputs);
  if (g.alpha != 1.0 || (g.addend.data != nullptr && g.beta != 1.0)) {
    throw Error({.what = "integer Gemm with a scale",
                 .got = "alpha " + std::to_string(g.alpha) + ", beta " + std::to_string(g.beta),
                 .expected = "1 and 1",
                 .kind = ErrorKind::unsupported});
  }
  const auto out = c.out<T>(0);
  for (std::int64_t i = 0; i < g.m; ++i) {
    for (std::int64_t j = 0; j < g.n; ++j) {
      std::uint64_t sum = 0;
      for (std::int64_t k = 0; k < g.k; ++k) {
        const T a = g.trans_a ? g.a[k * g.m + i] : g.a[i * g.k + k];
        const T b = g.trans_b ? g.b[j * g.k + k] : g.b[k * g.n + j];
        sum += static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b);
      }
      if (g.addend.data != nullptr)
        sum += static_cast<std::uint64_t>(
            g.addend.data[i * g.addend.row_stride + j * g.addend.col_stride]);
      out[static_cast<std::size_t>(i * g.n + j)] = static_cast<T>(sum);
    }
  }
}

template <class T>
void real_gemm(EvalContext& c) {
  GemmArgs<T> g = args_of<T>(c.attributes(), c.inputs);
  g.out = c.out<T>(0).data();
  if constexpr (!std::is_same_v<T, dd>) {
    if (c.is_constant(1) && c.state != nullptr) {
      const auto make = [&] { return pack_gemm_weights(g, dot_mode(c)); };
      return gemm_packed(g, dot_mode(c), c.cached<PackedWeights>(make));
    }
  }
  run_gemm(g, dot_mode(c));
}

void core(EvalContext& c) {
  visit_number(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (is_real<T>)
      real_gemm<T>(c);
    else if constexpr (std::is_integral_v<T>)
      integer_gemm<T>(c);
  });
}

void bound(BoundContext& c) {
  GemmRadiusInputs in;
  in.args = args_of<double>(c.node->attributes, c.inputs);
  in.a_count = c.inputs[0].numel();
  in.b_count = c.inputs[1].numel();
  const auto radius = [&](std::size_t i) {
    return i < c.radii.size() && c.radii[i].defined() ? c.radii[i].data<double>().data() : nullptr;
  };
  in.a_radius = radius(0);
  in.b_radius = radius(1);
  in.addend_radius = in.args.addend.data != nullptr ? radius(2) : nullptr;
  gemm_radius(c, in, new_radius(c));
}

std::int64_t macs(const InferContext& c) {
  const Sizes2 s = sizes_of(c.attributes(), *c.input(0).dims, *c.input(1).dims);
  return s.m * s.n * s.k;
}

const RegisterOp registered{{.type = "Gemm",
                             .since = 1,
                             .infer = infer,
                             .eval = with_narrow<core>,
                             .bound = bound,
                             .macs = macs}};

}  // namespace
}  // namespace assay::ops::gemm_op
