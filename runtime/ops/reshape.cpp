// Reshape (1: attribute; 5, 13, 14, 19, 21: input): the same elements under another shape.
//
// A size of 0 takes the input's size at that place (with allowzero = 1, opset 14, it is a zero);
// one size of -1 takes what is left. The number of elements is checked on the actual data: a shape
// that was baked into the file for one batch size is an error for another.
#include "runtime/ops/support/int_list.h"
#include "runtime/ops/support/movement.h"

namespace assay::ops::reshape_op {
namespace {

using Dims = std::vector<std::int64_t>;

[[noreturn]] void refuse(const TensorType& x, const Ints& target, const std::string& why) {
  throw Error({.what = "cannot reshape: " + why,
               .got = "input " + to_string(x) + ", target " + to_text(target),
               .advice = "a target made for another batch size wants -1 or 0 in its first place"});
}

/// Product of the sizes; -1 when one is unknown.
std::int64_t count_of(const Dims& dims) {
  bool unknown = false;
  for (const std::int64_t d : dims) {
    if (d == 0) return 0;
    unknown = unknown || d < 0;
  }
  return unknown ? -1 : Shape(dims).numel();
}

/// Target with zeros replaced by the input's sizes; `free` is the place of -1.
Dims with_copies(const TensorType& x, const Ints& target, bool allow_zero, int& free) {
  Dims out = target;
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (target[i] < -1) refuse(x, target, "a size below -1");
    if (target[i] == -1 && free >= 0) refuse(x, target, "more than one size of -1");
    if (target[i] == -1) free = static_cast<int>(i);
    if (target[i] != 0 || allow_zero) continue;
    if (i >= x.dims->size()) refuse(x, target, "a size of 0 where the input has no axis");
    out[i] = (*x.dims)[i];
  }
  return out;
}

/// Sizes of the axes that are not copied one to one: what -1 has to make up for.
void solve_free(const TensorType& x, const Ints& target, bool allow_zero, int free, Dims& out) {
  Dims from, to;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const bool copied = target[i] == 0 && !allow_zero;
    if (static_cast<int>(i) != free && !copied) to.push_back(out[i]);
  }
  for (std::size_t i = 0; i < x.dims->size(); ++i)
    if (i >= target.size() || target[i] != 0 || allow_zero) from.push_back((*x.dims)[i]);
  const std::int64_t have = count_of(from);
  const std::int64_t fixed = count_of(to);
  if (fixed == 0) refuse(x, target, "-1 is ambiguous beside a size of 0");
  if (have < 0 || fixed < 0) return;  // stays unknown
  if (have % fixed != 0) refuse(x, target, "the element counts differ");
  out[static_cast<std::size_t>(free)] = have / fixed;
}

Dims target_dims(const TensorType& x, const Ints& target, bool allow_zero) {
  int free = -1;
  Dims out = with_copies(x, target, allow_zero, free);
  if (free >= 0) {
    if (allow_zero && count_of(out) == 0) refuse(x, target, "-1 is ambiguous beside a size of 0");
    solve_free(x, target, allow_zero, free, out);
    return out;
  }
  const std::int64_t have = count_of(*x.dims);
  const std::int64_t want = count_of(out);
  if (have >= 0 && want >= 0 && have != want) refuse(x, target, "the element counts differ");
  return out;
}

void infer(InferContext& c) {
  const TensorType& x = c.input(0);
  const IntList target = find_ints(c, {"shape", 1, 5});
  if (!target.given) throw Error({.what = "target shape is missing"});
  if (!target.known || !x.dims) {
    std::optional<Dims> dims;
    if (target.count >= 0) dims = Dims(static_cast<std::size_t>(target.count), -1);
    return c.set_output(0, {x.dtype, dims});
  }
  const bool allow_zero = c.opset >= 14 && c.attributes().int_or("allowzero", 0) != 0;
  c.set_output(0, {x.dtype, target_dims(x, target.values, allow_zero)});
}

void eval(EvalContext& c) { c.output(0) = c.input(0).reshaped(c.output(0).shape()); }

const RegisterOp registered{
    {.type = "Reshape", .since = 1, .infer = infer, .eval = eval, .bound = bound_moved<0>}};

}  // namespace
}  // namespace assay::ops::reshape_op
