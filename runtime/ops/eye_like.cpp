// EyeLike (9, 22): ones on diagonal k of a matrix with the sizes of x, zeros elsewhere. The type is
// `dtype`, or that of x.
#include <algorithm>

#include "runtime/ops/support/movement.h"

namespace assay::ops::eye_like_op {
namespace {

void infer(InferContext& c) {
  const TensorType& x = c.input(0);
  DType dtype = x.dtype;
  if (c.attributes().has("dtype"))
    dtype = c.widen(static_cast<DType>(c.attributes().required_int("dtype")));
  if (x.dims && x.dims->size() != 2)
    throw Error({.what = "a matrix is needed", .got = to_string(x)});
  c.set_output(0, {dtype, x.dims});
}

void eval(EvalContext& c) {
  Tensor& y = c.output(0);
  y = Tensor::zeros(y.dtype(), y.shape());
  const Tensor one = convert(Tensor::scalar<double>(1.0), y.dtype());
  const std::int64_t rows = y.shape()[0], columns = y.shape()[1];
  const std::int64_t k = std::clamp(c.attributes().int_or("k", 0), -rows, columns);
  for (std::int64_t r = std::max<std::int64_t>(0, -k); r < rows && r + k < columns; ++r) {
    std::memcpy(y.mutable_raw().data() + (r * columns + r + k) * size_of(y.dtype()),
                element_at(one, 0), static_cast<std::size_t>(size_of(y.dtype())));
  }
}

const RegisterOp registered{
    {.type = "EyeLike", .since = 9, .infer = infer, .eval = eval, .bound = bound_exact}};

}  // namespace
}  // namespace assay::ops::eye_like_op
