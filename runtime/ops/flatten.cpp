// Flatten (1, 9, 11, 13): [d0 .. d(axis-1)] x [d(axis) .. ] as a matrix; axis 1 when absent, negative from opset 11, up to the rank.
#include "runtime/ops/support/bound.h"
#include "runtime/ops/support/infer.h"

namespace assay::ops {
namespace {

std::int64_t axis_of(const Attributes& attributes, std::int64_t rank) {
  const std::int64_t axis = attributes.int_or("axis", 1);
  return axis == rank ? rank : normalize_axis(axis, rank);
}

/// Product of the sizes in [first, last); -1 when one is unknown.
std::int64_t product(const Dims& dims, std::int64_t first, std::int64_t last) {
  std::int64_t n = 1;
  for (std::int64_t i = first; i < last; ++i) {
    const std::int64_t d = dims[static_cast<std::size_t>(i)];
    if (d < 0) return -1;
    n *= d;
  }
  return n;
}

void infer(InferContext& c) {
  if (!c.input(0).dims) return;
  const Dims& x = *c.input(0).dims;
  const auto rank = static_cast<std::int64_t>(x.size());
  const std::int64_t axis = axis_of(c.attributes(), rank);
  c.set_output(0, {c.input(0).dtype, Dims{product(x, 0, axis), product(x, axis, rank)}});
}

void eval(EvalContext& c) { c.output(0) = c.input(0).reshaped(c.output(0).shape()); }

void bound(BoundContext& c) {
  const Radius r(c, 0);
  auto out = new_radius(c);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = r[static_cast<std::int64_t>(i)];
}

const RegisterOp registered{
    {.type = "Flatten", .since = 1, .infer = infer, .eval = eval, .bound = bound}};

}  // namespace
}  // namespace assay::ops
