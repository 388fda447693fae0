// Unsqueeze (1, 11: attribute; 13, 21: input): axes of size one put in; `axes` are places in the
// output.
#include <algorithm>

#include "runtime/ops/support/int_list.h"
#include "runtime/ops/support/movement.h"

namespace assay::ops::unsqueeze_op {
namespace {

void infer(InferContext& c) {
  const TensorType& x = c.input(0);
  const IntList list = find_ints(c, {"axes", 1, 13});
  if (!list.given) throw Error({.what = "axes are missing"});
  if (!x.dims || list.count < 0) return c.set_output(0, {x.dtype, std::nullopt});
  const std::size_t rank = x.dims->size() + static_cast<std::size_t>(list.count);
  if (!list.known) return c.set_output(0, {x.dtype, std::vector<std::int64_t>(rank, -1)});
  const Ints axes = normalized_axes(list.values, static_cast<std::int64_t>(rank));
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0, next = 0; i < rank; ++i) {
    const bool added =
        std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end();
    dims.push_back(added ? 1 : (*x.dims)[next]);
    next += added ? 0 : 1;
  }
  c.set_output(0, {x.dtype, dims});
}

void eval(EvalContext& c) { c.output(0) = c.input(0).reshaped(c.output(0).shape()); }

const RegisterOp registered{
    {.type = "Unsqueeze", .since = 1, .infer = infer, .eval = eval, .bound = bound_moved<0>}};

}  // namespace
}  // namespace assay::ops::unsqueeze_op
