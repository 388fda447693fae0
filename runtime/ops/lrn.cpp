// LRN (1, 13): local response normalization across channels.
//
//   y[n][c] = x[n][c] / (bias + alpha / size * sum over c' of x[n][c']^2)^beta,
//   c' from max(0, c - floor((size - 1) / 2)) to min(C - 1, c + ceil((size - 1) / 2))
// Attributes count at their stored float32 value. cr evaluates the composite in double-double and
// rounds once.
#include "runtime/numeric/elementary.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/infer.h"
#include "runtime/ops/support/narrow.h"

namespace assay::ops::lrn_op {
namespace {

struct Parameters {
  std::int64_t size;
  float alpha, beta, bias;
};

void infer(InferContext& c) {
  require_dtype(c, 0, float_type, "a float type");
  require_rank(c, 0, 2);
  infer_same(c);
}

template <class T>
void run(std::span<const T> x, std::span<T> y, const Shape& s, const Parameters& p) {
  const std::int64_t channels = s[1], inner = s.numel(2, s.rank());
  const std::int64_t below = (p.size - 1) / 2, above = p.size - 1 - below;
  const T scale = T(p.alpha) / T(static_cast<double>(p.size));
  parallel_for(0, s[0] * channels, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) {
      const std::int64_t ch = row % channels, image = row - ch;
      const std::int64_t low = std::max<std::int64_t>(0, ch - below);
      const std::int64_t high = std::min(channels - 1, ch + above);
      for (std::int64_t i = 0; i < inner; ++i) {
        T squares = T(0.0);
        for (std::int64_t k = low; k <= high; ++k) {
          const T v = x[static_cast<std::size_t>((image + k) * inner + i)];
          squares = squares + v * v;
        }
        const auto at = static_cast<std::size_t>(row * inner + i);
        y[at] = canonical(T(x[at] / evaluate_pow(T(T(p.bias) + scale * squares), T(p.beta))));
      }
    }
  });
}

void core(EvalContext& c) {
  const Attributes& a = c.attributes();
  const Parameters p{a.required_int("size"), a.float_or("alpha", 1e-4F), a.float_or("beta", 0.75F),
                     a.float_or("bias", 1.0F)};
  if (p.size < 1)
    throw Error({.what = "attribute 'size' of LRN",
                 .got = std::to_string(p.size),
                 .expected = "1 or more"});
  const bool correct = c.precision == Precision::cr;
  const Tensor x = correct ? convert(c.input(0), DType::dd) : c.input(0);
  Tensor y(x.dtype(), x.shape());
  visit_real(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    run<T>(x.data<T>(), y.mutable_data<T>(), x.shape(), p);
  });
  c.output(0) = convert(y, c.output(0).dtype());
}

const RegisterOp registered{{.type = "LRN", .since = 1, .infer = infer, .eval = with_narrow<core>}};

}  // namespace
}  // namespace assay::ops::lrn_op
