// Concat (1, 4, 11, 13): tensors laid one behind the other along an axis.
//
// All other sizes must be equal. axis is 1 by default at opset 1 and required from 4 on. Tensors
// without elements take part like any other.
#include "runtime/ops/support/movement.h"

namespace assay::ops::concat_op {
namespace {

using Dims = std::vector<std::int64_t>;

std::int64_t read_axis(const Attributes& a, std::int64_t opset, std::size_t rank) {
  const std::int64_t axis = opset < 4 ? a.int_or("axis", 1) : a.required_int("axis");
  return normalize_axis(axis, static_cast<std::int64_t>(rank));
}

[[noreturn]] void refuse(const InferContext& c, std::size_t i, const std::string& what) {
  throw Error({.what = what,
               .got = "input 0 " + to_string(c.input(0)) + ", input " + std::to_string(i) + " " +
                      to_string(c.input(i))});
}

/// Lays the sizes of input `i` behind those gathered so far.
void append(const InferContext& c, std::size_t i, std::size_t axis, Dims& dims) {
  const Dims& more = *c.input(i).dims;
  if (more.size() != dims.size()) refuse(c, i, "tensors to concatenate differ in rank");
  for (std::size_t k = 0; k < dims.size(); ++k) {
    if (k == axis) {
      dims[k] = dims[k] < 0 || more[k] < 0 ? -1 : dims[k] + more[k];
    } else if (dims[k] < 0) {
      dims[k] = more[k];
    } else if (more[k] >= 0 && more[k] != dims[k]) {
      refuse(c, i, "tensors to concatenate differ beside the axis");
    }
  }
}

void infer(InferContext& c) {
  const DType dtype = c.input(0).dtype;
  for (std::size_t i = 0; i < c.input_count(); ++i) {
    if (c.input(i).dtype != dtype && c.input(i).dtype != DType::undefined)
      refuse(c, i, "tensors to concatenate differ in type");
    if (!c.input(i).dims) return c.set_output(0, {dtype, std::nullopt});
  }
  Dims dims = *c.input(0).dims;
  const auto axis = static_cast<std::size_t>(read_axis(c.attributes(), c.opset, dims.size()));
  for (std::size_t i = 1; i < c.input_count(); ++i) append(c, i, axis, dims);
  c.set_output(0, {dtype, dims});
}

void eval(EvalContext& c) {
  Tensor& y = c.output(0);
  const auto axis = read_axis(c.attributes(), c.opset, static_cast<std::size_t>(y.shape().rank()));
  const auto strides = y.shape().strides();
  const std::int64_t step = strides[static_cast<std::size_t>(axis)] * size_of(y.dtype());
  std::byte* to = y.mutable_raw().data();
  for (const Tensor& x : c.inputs) {
    copy_strided({.box = x.shape().vec(),
                  .from = x.raw().data(),
                  .from_strides = x.shape().strides(),
                  .to = to,
                  .to_strides = strides,
                  .size = size_of(y.dtype())});
    to += x.shape()[axis] * step;
  }
}

const RegisterOp registered{
    {.type = "Concat", .since = 1, .infer = infer, .eval = eval, .bound = bound_moved<>}};

}  // namespace
}  // namespace assay::ops::concat_op
