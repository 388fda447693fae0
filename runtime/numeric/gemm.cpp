#include "runtime/numeric/gemm.h"

#include <cassert>
#include <cmath>
#include <vector>

#include "runtime/numeric/gemm_pack.h"
#include "runtime/numeric/gemm_sinks.h"
#include "runtime/numeric/gemm_strides.h"
#include "runtime/numeric/parallel.h"

namespace assay {
namespace {

using namespace dot;

template <typename T>
class GemmTerms final : public TermSource {
 public:
  GemmTerms(const GemmArgs<T>& g, const GemmStrides& s) : g_(g), s_(s) {}
  void collect(int64_t, int64_t row, int64_t col, DotTerms& terms) const override {
    const T* a = g_.a + row * s_.a_row;
    const T* b = g_.b + col * s_.b_col;
    for (int64_t k = 0; k < g_.k; ++k)
      terms.add(static_cast<double>(a[k * s_.a_k]), static_cast<double>(b[k * s_.b_k]));
  }
  void products(int64_t, int64_t row, int64_t col, double* out) const override {
    const T* a = g_.a + row * s_.a_row;
    const T* b = g_.b + col * s_.b_col;
    for (int64_t k = 0; k < g_.k; ++k)
      out[k] = static_cast<double>(a[k * s_.a_k]) * static_cast<double>(b[k * s_.b_k]);
  }

 private:
  const GemmArgs<T>& g_;
  GemmStrides s_;
};

std::vector<double> row_norms(const GemmArgs<float>& g, const GemmStrides& s) {
  std::vector<double> norms(static_cast<size_t>(g.m));
  parallel_for(0, g.m, 16, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      double sum = 0.0;
      for (int64_t k = 0; k < g.k; ++k) {
        const double v = g.a[i * s.a_row + k * s.a_k];
        sum += v * v;
      }
      norms[static_cast<size_t>(i)] = std::sqrt(sum);
    }
  });
  return norms;
}

template <typename T>
void canonical(const GemmArgs<T>& args, const PackedWeights::Impl* packed) {
  const DenseAddends<T> dense(args);
  const GemmStrides s = gemm_strides(args);
  const StridedRows<T, T> rows(args.a, args.m, s.a_row, s.a_k);
  const StridedCols<T, T> cols(args.b, s.b_k, s.b_col);
  const CanonicalSink<T> sink(dense.plan());
  DotRun<T> run{.rows = args.m, .cols = args.n, .k = args.k, .a = &rows, .b = &cols, .sink = &sink};
  if (packed == nullptr) {
    run_dot(run);
    return;
  }
  const PackedCols<T> panels(*packed);
  run.b = &panels;
  run_dot(run);
}

void correct(const GemmArgs<float>& args, const PackedWeights::Impl* packed) {
  const DenseAddends<float> dense(args);
  const GemmStrides s = gemm_strides(args);
  const StridedRows<float, double> rows(args.a, args.m, s.a_row, s.a_k);
  const StridedCols<float, double> cols(args.b, s.b_k, s.b_col);
  const std::vector<double> norms = row_norms(args, s);
  const GemmTerms<float> terms(args, s);
  const CorrectSink sink(dense.plan(), {.norms = norms.data(), .problems = 1, .rows = args.m},
                         dot_error(args.k), terms);
  DotRun<double> run{.rows = args.m,
                     .cols = args.n,
                     .k = args.k,
                     .norms = true,
                     .exact_products = true,
                     .a = &rows,
                     .b = &cols,
                     .sink = &sink};
  if (packed == nullptr) {
    run_dot(run);
    return;
  }
  const PackedCols<double> panels(*packed);
  run.b = &panels;
  run_dot(run);
}

// Exact for every output; no packed form.
void correct(const GemmArgs<double>& args, const PackedWeights::Impl*) {
  const DenseAddends<double> dense(args);
  const OutputPlan<double> plan = dense.plan();
  const GemmTerms<double> source(args, gemm_strides(args));
  parallel_for(0, args.m, 1, [&](int64_t first, int64_t last) {
    DotTerms terms;
    for (int64_t i = first; i < last; ++i)
      for (int64_t j = 0; j < args.n; ++j) {
        terms.clear();
        terms.alpha = plan.alpha;
        source.collect(0, i, j, terms);
        const auto addend = place_addend(plan.addend, 0, i, j);
        const auto residual = place_addend(plan.residual, 0, i, j);
        if (addend.data != nullptr) terms.add_extra(plan.beta, *addend.data);
        if (residual.data != nullptr) terms.add_extra(1.0, *residual.data);
        plan.out[i * plan.out_stride + j] = settle<double>(terms);
      }
  });
}

template <typename T>
void evaluate(const GemmArgs<T>& args, DotMode mode, const PackedWeights::Impl* packed) {
  if (mode == DotMode::canonical)
    canonical(args, packed);
  else
    correct(args, packed);
}

}  // namespace

template <typename T>
void gemm(const GemmArgs<T>& args, DotMode mode) {
  evaluate(args, mode, nullptr);
}

template <typename T>
PackedWeights pack_gemm_weights(const GemmArgs<T>& args, DotMode mode) {
  auto impl = std::make_shared<PackedWeights::Impl>();
  impl->lines = args.n;
  impl->k = args.k;
  const GemmStrides s = gemm_strides(args);
  const auto read = [&](int64_t, int64_t j, T* values) {
    const T* from = args.b + j * s.b_col;
    for (int64_t k = 0; k < args.k; ++k) values[k] = from[k * s.b_k];
  };
  if (mode == DotMode::correct || kIsDouble<T>)
    pack_col_panels<double, T>(*impl, read);
  else
    pack_col_panels<float, T>(*impl, read);
  return PackedWeights(std::move(impl));
}

template <typename T>
void gemm_packed(const GemmArgs<T>& args, DotMode mode, const PackedWeights& b) {
  assert(!b.empty() && b.impl()->lines == args.n && b.impl()->k == args.k);
  evaluate(args, mode, b.impl());
}

template void gemm<float>(const GemmArgs<float>&, DotMode);
template void gemm<double>(const GemmArgs<double>&, DotMode);
template PackedWeights pack_gemm_weights<float>(const GemmArgs<float>&, DotMode);
template PackedWeights pack_gemm_weights<double>(const GemmArgs<double>&, DotMode);
template void gemm_packed<float>(const GemmArgs<float>&, DotMode, const PackedWeights&);
template void gemm_packed<double>(const GemmArgs<double>&, DotMode, const PackedWeights&);

}  // namespace assay
