// Constant (1, 9, 11, 12, 13, 19, 21): a tensor from an attribute; and ConstantOfShape (9, 20, 21):
// one value, repeated over the shape that the input names.
//
// Readers turn Constant nodes into initializers; this definition serves graphs built by hand. The
// size of ConstantOfShape comes from data, so it is bounded before anything is allocated
// (max_tensor_bytes).
#include "runtime/ops/support/int_list.h"
#include "runtime/ops/support/movement.h"

namespace assay::ops::constant_op {
namespace {

template <class T>
Tensor vector_of(const std::vector<T>& values) {
  return Tensor::of<T>({static_cast<std::int64_t>(values.size())}, std::span<const T>(values));
}

Tensor constant_value(const Attributes& a) {
  if (a.has("value")) return a.required_tensor("value");
  if (a.has("value_int")) return Tensor::scalar<std::int64_t>(a.required_int("value_int"));
  if (a.has("value_float")) return Tensor::scalar<float>(a.float_or("value_float", 0.0F));
  if (a.has("value_ints")) return vector_of<std::int64_t>(a.required_ints("value_ints"));
  if (a.has("value_floats")) return vector_of<float>(a.floats_or("value_floats", {}));
  throw Error({.what = "constant without a value that Assay can read",
               .expected = "one of value, value_int, value_ints, value_float, value_floats",
               .kind = ErrorKind::unsupported});
}

void infer_constant(InferContext& c) {
  const Tensor t = constant_value(c.attributes());
  c.set_output(0, c.widen(t.dtype()), t.shape());
}

void eval_constant(EvalContext& c) {
  const Tensor t = constant_value(c.attributes());
  c.output(0) = convert(t, c.widen(t.dtype()));
}

/// The repeated element; float32 zero when the attribute is absent.
Tensor fill_value(const Attributes& a) {
  if (!a.has("value")) return Tensor::scalar<float>(0.0F);
  const Tensor& t = a.required_tensor("value");
  if (t.numel() == 1) return t;
  throw Error({.what = "attribute 'value' must have one element", .got = describe(t)});
}

void infer_filled(InferContext& c) {
  const DType dtype = c.widen(fill_value(c.attributes()).dtype());
  const IntList shape = input_ints(c, 0);
  if (!shape.known) {
    std::optional<std::vector<std::int64_t>> dims;
    if (shape.count >= 0)
      dims = std::vector<std::int64_t>(static_cast<std::size_t>(shape.count), -1);
    return c.set_output(0, {dtype, dims});
  }
  bytes_of(dtype, Shape(shape.values));  // negative sizes and overflow are errors here
  c.set_output(0, dtype, Shape(shape.values));
}

void eval_filled(EvalContext& c) {
  Tensor& y = c.output(0);
  const Tensor value = convert(fill_value(c.attributes()), y.dtype());
  fill_with(y, element_at(value, 0));
}

const RegisterOp registered{std::vector<OpDef>{{.type = "Constant",
                                                .since = 1,
                                                .infer = infer_constant,
                                                .eval = eval_constant,
                                                .bound = bound_exact},
                                               {.type = "ConstantOfShape",
                                                .since = 9,
                                                .infer = infer_filled,
                                                .eval = eval_filled,
                                                .bound = bound_exact}}};

}  // namespace
}  // namespace assay::ops::constant_op
