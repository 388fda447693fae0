// MatMul (1, 9, 13): numpy matrix product with broadcast leading axes; vectors count as a row or a
// column.
//
// cr rounds each exact dot product once. When b is one matrix, all rows of a form one product with
// b (packed once when it is constant). Integers (opset 9) wrap.
#include "runtime/ops/support/matmul.h"

#include "runtime/ops/support/bound.h"
#include "runtime/ops/support/dot.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/narrow.h"

namespace assay::ops::matmul_op {
namespace {

void infer(InferContext& c) {
  require_dtype(c, 0, number_type, "a number type");
  require_same_dtype(c, 0, 1);
  if (!c.input(0).dims || !c.input(1).dims) return;
  c.set_output(0, {c.input(0).dtype, matmul_dims(*c.input(0).dims, *c.input(1).dims)});
}

template <class T>
void integer_product(const GemmArgs<T>& g) {
  for (std::int64_t i = 0; i < g.m; ++i) {
    for (std::int64_t j = 0; j < g.n; ++j) {
      std::uint64_t sum = 0;
      for (std::int64_t k = 0; k < g.k; ++k)
        sum += static_cast<std::uint64_t>(g.a[i * g.k + k]) *
               static_cast<std::uint64_t>(g.b[k * g.n + j]);
      g.out[i * g.n + j] = static_cast<T>(sum);
    }
  }
}

template <class T>
void product(const GemmArgs<T>& g, DotMode mode) {
  if constexpr (std::is_integral_v<T>)
    integer_product(g);
  else
    run_gemm(g, mode);
}

/// One product of all rows of a with the single matrix b.
template <class T>
void single(EvalContext& c, GemmArgs<T> g) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    if (c.is_constant(1) && c.state != nullptr) {
      const auto make = [&] { return pack_gemm_weights(g, dot_mode(c)); };
      return gemm_packed(g, dot_mode(c), c.cached<PackedWeights>(make));
    }
  }
  product(g, dot_mode(c));
}

template <class T>
void multiply(EvalContext& c) {
  const MatMulShape s = matmul_shape(c.input(0).shape(), c.input(1).shape());
  auto g = gemm_args<T>(s.m, s.n, s.k);
  g.a = c.in<T>(0).data();
  g.b = c.in<T>(1).data();
  g.out = c.out<T>(0).data();
  if (s.batch_b.numel() == 1 && s.batch_b.rank() <= s.batch_a.rank()) {
    g.m *= s.batch.numel();
    return single(c, g);
  }
  const GemmArgs<T> base = g;
  for_each_product(s, [&](std::int64_t i, std::int64_t ia, std::int64_t ib) {
    g.a = base.a + ia * s.m * s.k;
    g.b = base.b + ib * s.k * s.n;
    g.out = base.out + i * s.m * s.n;
    product(g, dot_mode(c));
  });
}

void core(EvalContext& c) {
  visit_number(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!is_narrow<T>) multiply<T>(c);
  });
}

void bound(BoundContext& c) {
  const MatMulShape s = matmul_shape(c.inputs[0].shape(), c.inputs[1].shape());
  const auto out = new_radius(c);
  const auto radius = [&](std::size_t i) {
    return i < c.radii.size() && c.radii[i].defined() ? c.radii[i].data<double>().data() : nullptr;
  };
  GemmRadiusInputs in;
  in.a_count = s.m * s.k;
  in.b_count = s.k * s.n;
  in.args = gemm_args<double>(s.m, s.n, s.k);
  for_each_product(s, [&](std::int64_t i, std::int64_t ia, std::int64_t ib) {
    in.args.a = c.inputs[0].data<double>().data() + ia * in.a_count;
    in.args.b = c.inputs[1].data<double>().data() + ib * in.b_count;
    in.a_radius = radius(0) == nullptr ? nullptr : radius(0) + ia * in.a_count;
    in.b_radius = radius(1) == nullptr ? nullptr : radius(1) + ib * in.b_count;
    gemm_radius(
        c, in,
        out.subspan(static_cast<std::size_t>(i * s.m * s.n), static_cast<std::size_t>(s.m * s.n)));
  });
}

std::int64_t macs(const InferContext& c) {
  return matmul_macs(c.input(0).shape(), c.input(1).shape());
}

const RegisterOp registered{{.type = "MatMul",
                             .since = 1,
                             .infer = infer,
                             .eval = with_narrow<core>,
                             .bound = bound,
                             .macs = macs}};

}  // namespace
}  // namespace assay::ops::matmul_op
