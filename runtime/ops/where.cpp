// Where (9, 16): y = condition ? a : b, all three broadcast; the chosen element keeps its bits.
#include "runtime/ops/support/bound.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/infer.h"

namespace assay::ops::where_op {
namespace {

void infer(InferContext& c) {
  if (c.input(0).dtype != DType::boolean && c.input(0).dtype != DType::undefined)
    throw Error(
        {.what = "condition of Where", .got = to_string(c.input(0).dtype), .expected = "bool"});
  require_same_dtype(c, 1, 2);
  TensorType out{c.input(1).dtype, std::nullopt};
  const auto &p = c.input(0).dims, &a = c.input(1).dims, &b = c.input(2).dims;
  if (p && a && b) out.dims = broadcast_dims(broadcast_dims(*p, *a), *b);
  c.set_output(0, out);
}

void eval(EvalContext& c) {
  const std::array<Shape, 3> shapes{c.input(0).shape(), c.input(1).shape(), c.input(2).shape()};
  const bool* p = c.in<bool>(0).data();
  visit_dtype(c.input(1).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *a = c.in<T>(1).data(), *b = c.in<T>(2).data();
    T* y = c.out<T>(0).data();
    for_each_run(c.output(0).shape(), shapes, [&](const Run& r) {
      for (std::int64_t k = 0; k < r.count; ++k)
        y[r.first + k] = p[r.offset[0] + k * r.step[0]] ? a[r.offset[1] + k * r.step[1]]
                                                        : b[r.offset[2] + k * r.step[2]];
    });
  });
}

/// The radius of the element that was chosen; a condition is exact.
void bound(BoundContext& c) {
  const std::array<Shape, 3> shapes{c.inputs[0].shape(), c.inputs[1].shape(), c.inputs[2].shape()};
  const auto p = to_doubles(c.inputs[0]);
  const Radius a(c, 1), b(c, 2);
  double* out = new_radius(c).data();
  for_each_run(c.outputs[0].shape(), shapes, [&](const Run& r) {
    for (std::int64_t k = 0; k < r.count; ++k)
      out[r.first + k] = p[static_cast<std::size_t>(r.offset[0] + k * r.step[0])] != 0.0
                             ? a[r.offset[1] + k * r.step[1]]
                             : b[r.offset[2] + k * r.step[2]];
  });
}

const RegisterOp registered{
    {.type = "Where", .since = 9, .infer = infer, .eval = eval, .bound = bound}};

}  // namespace
}  // namespace assay::ops::where_op
