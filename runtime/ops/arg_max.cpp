// ArgMax and ArgMin (1, 11, 12, 13): index of the largest (smallest) element along one axis, as
// int64.
//
// Ties go to the first index, or with select_last_index = 1 (opset 12) to the last. A NaN counts as
// the largest (ArgMax) or smallest (ArgMin); the first one wins. An empty axis is an error.
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/infer.h"
#include "runtime/ops/support/rows.h"

namespace assay::ops::arg_max_op {
namespace {

void infer(InferContext& c) {
  require_dtype(c, 0, number_type, "a number type");
  if (!c.input(0).dims) return;
  Dims dims = *c.input(0).dims;
  const auto rank = static_cast<std::int64_t>(dims.size());
  const auto axis =
      static_cast<std::size_t>(normalize_axis(c.attributes().int_or("axis", 0), rank));
  if (c.attributes().int_or("keepdims", 1) != 0)
    dims[axis] = 1;
  else
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  c.set_output(0, {DType::int64, dims});
}

template <class T, bool Largest>
std::int64_t choose(const T* x, const RowLayout& l, bool last) {
  std::int64_t best = 0;
  for (std::int64_t k = 0; k < l.row; ++k) {
    const Wide<T> v = load<T>(x[k * l.inner]), top = load<T>(x[best * l.inner]);
    if (not_a_number(v)) return k;
    if (Largest ? v > top : v < top)
      best = k;
    else if (last && v == top)
      best = k;
  }
  return best;
}

template <bool Largest>
void eval(EvalContext& c) {
  const RowLayout l = axis_rows(c.input(0).shape(), c.attributes().int_or("axis", 0));
  if (l.row == 0 && l.rows() != 0) throw Error({.what = "ArgMax or ArgMin over no elements"});
  const bool last = c.attributes().int_or("select_last_index", 0) != 0;
  const auto out = c.out<std::int64_t>(0);
  visit_number(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* x = c.in<T>(0).data();
    for (std::int64_t r = 0; r < l.rows(); ++r)
      out[static_cast<std::size_t>(r)] = choose<T, Largest>(x + l.offset(r), l, last);
  });
}

const RegisterOp registered{
    std::vector<OpDef>{{.type = "ArgMax", .since = 1, .infer = infer, .eval = eval<true>},
                       {.type = "ArgMin", .since = 1, .infer = infer, .eval = eval<false>}}};

}  // namespace
}  // namespace assay::ops::arg_max_op
