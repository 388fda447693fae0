// Squeeze (1, 11: attribute; 13, 21: input): axes of size one taken out, all of them when none is
// named.
#include <algorithm>

#include "runtime/ops/support/int_list.h"
#include "runtime/ops/support/movement.h"

namespace assay::ops::squeeze_op {
namespace {

using Dims = std::vector<std::int64_t>;

std::optional<Dims> squeezed(const Dims& dims, const IntList& list) {
  if (list.given && !list.known) {
    if (list.count < 0 || list.count > static_cast<std::int64_t>(dims.size())) return std::nullopt;
    return Dims(dims.size() - static_cast<std::size_t>(list.count), -1);
  }
  if (!list.given && std::count(dims.begin(), dims.end(), -1) > 0) return std::nullopt;
  const Ints axes = normalized_axes(list.values, static_cast<std::int64_t>(dims.size()));
  Dims out;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const bool named =
        std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end();
    if (named && dims[i] >= 0 && dims[i] != 1) {
      throw Error({.what = "axis " + std::to_string(i) + " cannot be squeezed",
                   .got = to_string(Shape(dims)),
                   .expected = "a size of 1"});
    }
    if (list.given ? !named : dims[i] != 1) out.push_back(dims[i]);
  }
  return out;
}

void infer(InferContext& c) {
  const TensorType& x = c.input(0);
  if (!x.dims) return c.set_output(0, {x.dtype, std::nullopt});
  c.set_output(0, {x.dtype, squeezed(*x.dims, find_ints(c, {"axes", 1, 13}))});
}

void eval(EvalContext& c) { c.output(0) = c.input(0).reshaped(c.output(0).shape()); }

const RegisterOp registered{
    {.type = "Squeeze", .since = 1, .infer = infer, .eval = eval, .bound = bound_moved<0>}};

}  // namespace
}  // namespace assay::ops::squeeze_op
