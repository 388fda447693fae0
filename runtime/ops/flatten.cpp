// Flatten (1, 9, 11, 13, 21): y = x as a matrix [product of the sizes before axis, product of the
// rest].
//
// axis is 1 by default and may be the rank itself; negative values count from the end (opset 11).
#include "runtime/ops/support/movement.h"

namespace assay::ops::flatten_op {
namespace {

std::int64_t product(const std::vector<std::int64_t>& dims, std::size_t first, std::size_t last) {
  std::int64_t n = 1;
  bool unknown = false;
  for (std::size_t i = first; i < last; ++i) {
    if (dims[i] == 0) return 0;
    unknown = unknown || dims[i] < 0;
    if (dims[i] > 0 && __builtin_mul_overflow(n, dims[i], &n))
      throw Error({.what = "more than 2^63 elements", .got = to_string(Shape(dims))});
  }
  return unknown ? -1 : n;
}

void infer(InferContext& c) {
  const TensorType& x = c.input(0);
  if (!x.dims) return c.set_output(0, {x.dtype, std::nullopt});
  const auto rank = static_cast<std::int64_t>(x.dims->size());
  const std::int64_t given = c.attributes().int_or("axis", 1);
  if (given < -rank || given > rank) {
    throw Error({.what = "attribute 'axis' is out of range",
                 .got = std::to_string(given),
                 .expected = "-rank to rank of " + to_string(x)});
  }
  const auto axis = static_cast<std::size_t>(given < 0 ? given + rank : given);
  c.set_output(0, {x.dtype, std::vector<std::int64_t>{product(*x.dims, 0, axis),
                                                      product(*x.dims, axis, x.dims->size())}});
}

void eval(EvalContext& c) { c.output(0) = c.input(0).reshaped(c.output(0).shape()); }

const RegisterOp registered{
    {.type = "Flatten", .since = 1, .infer = infer, .eval = eval, .bound = bound_moved<0>}};

}  // namespace
}  // namespace assay::ops::flatten_op
