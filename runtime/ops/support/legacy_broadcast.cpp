#include "runtime/ops/support/legacy_broadcast.h"

namespace assay::ops {

Dims legacy_operand(const Attributes& attributes, const Dims& a, const Dims& b) {
  if (attributes.int_or("broadcast", 0) == 0) {
    if (a.size() == b.size()) return b;
    throw Error({.what = "operands of different rank without broadcast = 1",
                 .got = to_string(Shape(a)) + " and " + to_string(Shape(b))});
  }
  if (b.size() > a.size()) {
    throw Error({.what = "second operand has more axes than the first",
                 .got = to_string(Shape(a)) + " and " + to_string(Shape(b))});
  }
  const auto last = static_cast<std::int64_t>(a.size() - b.size());
  std::int64_t axis = attributes.int_or("axis", last);
  if (axis < 0) axis += static_cast<std::int64_t>(a.size());
  if (axis < 0 || axis > last) {
    throw Error({.what = "attribute 'axis' does not fit the operands",
                 .got = std::to_string(axis),
                 .expected = "0 to " + std::to_string(last)});
  }
  Dims out = b;
  out.resize(a.size() - static_cast<std::size_t>(axis), 1);
  return out;
}

void infer_binary(InferContext& c, DType result) {
  require_same_dtype(c, 0, 1);
  const TensorType& a = c.input(0);
  const TensorType& b = c.input(1);
  TensorType out{result == DType::undefined ? a.dtype : result, std::nullopt};
  if (a.dims && b.dims)
    out.dims = c.opset >= 7
                   ? broadcast_dims(*a.dims, *b.dims)
                   : broadcast_dims(*a.dims, legacy_operand(c.attributes(), *a.dims, *b.dims));
  c.set_output(0, out);
}

Tensor second_operand(const EvalContext& c) {
  if (c.opset >= 7) return c.input(1);
  return c.input(1).reshaped(
      Shape(legacy_operand(c.attributes(), c.input(0).shape().vec(), c.input(1).shape().vec())));
}

}  // namespace assay::ops
