// GatherElements (11, 13): y has the shape of `indices`; y[p] = x[p with the coordinate on `axis`
// replaced by indices[p]]. Negative indices count from the end.
#include "runtime/ops/support/indices.h"
#include "runtime/ops/support/movement.h"

namespace assay::ops::gather_elements_op {
namespace {

void infer(InferContext& c) {
  const TensorType& x = c.input(0);
  const TensorType& indices = c.input(1);
  if (x.dims && indices.dims) {
    normalize_axis(c.attributes().int_or("axis", 0), static_cast<std::int64_t>(x.dims->size()));
    if (x.dims->size() != indices.dims->size()) {
      throw Error({.what = "indices and data differ in rank",
                   .got = to_string(indices) + " and " + to_string(x)});
    }
  }
  c.set_output(0, {x.dtype, indices.dims});
}

void eval(EvalContext& c) {
  const Tensor& x = c.input(0);
  const std::int64_t axis = normalize_axis(c.attributes().int_or("axis", 0), x.shape().rank());
  const auto offsets = element_offsets(c.input(1), x.shape(), axis);
  std::byte* to = c.output(0).mutable_raw().data();
  visit_size(size_of(x.dtype()), [&](auto n) {
    constexpr std::size_t N = decltype(n)::value;
    for (std::size_t i = 0; i < offsets.size(); ++i)
      std::memcpy(to + i * N, element_at(x, offsets[i]), N);
  });
}

const RegisterOp registered{
    {.type = "GatherElements", .since = 11, .infer = infer, .eval = eval, .bound = bound_moved<0>}};

}  // namespace
}  // namespace assay::ops::gather_elements_op
