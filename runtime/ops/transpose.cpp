// Transpose (1, 13, 21): y[i0, i1, ...] = x with its axes permuted; axis k of y is axis perm[k] of
// x.
//
// perm reverses the axes when it is absent.
#include "runtime/ops/support/int_list.h"
#include "runtime/ops/support/movement.h"

namespace assay::ops::transpose_op {
namespace {

Ints read_perm(const Attributes& a, std::size_t rank) {
  Ints reversed;
  for (std::size_t i = rank; i-- > 0;) reversed.push_back(static_cast<std::int64_t>(i));
  const Ints perm = a.ints_or("perm", reversed);
  std::vector<char> seen(rank, 0);
  bool fits = perm.size() == rank;
  for (std::size_t i = 0; fits && i < rank; ++i) {
    fits = perm[i] >= 0 && perm[i] < static_cast<std::int64_t>(rank) &&
           seen[static_cast<std::size_t>(perm[i])]++ == 0;
  }
  if (fits) return perm;
  throw Error({.what = "attribute 'perm' is not a permutation of the axes",
               .got = to_text(perm),
               .expected = "each of the " + std::to_string(rank) + " axes once"});
}

void infer(InferContext& c) {
  const TensorType& x = c.input(0);
  if (!x.dims) return c.set_output(0, {x.dtype, std::nullopt});
  std::vector<std::int64_t> dims;
  for (const std::int64_t axis : read_perm(c.attributes(), x.dims->size()))
    dims.push_back((*x.dims)[static_cast<std::size_t>(axis)]);
  c.set_output(0, {x.dtype, dims});
}

void eval(EvalContext& c) {
  const Tensor& x = c.input(0);
  Tensor& y = c.output(0);
  const auto strides = x.shape().strides();
  StridedCopy copy{.box = y.shape().vec(),
                   .from = x.raw().data(),
                   .from_strides = {},
                   .to = y.mutable_raw().data(),
                   .to_strides = y.shape().strides(),
                   .size = size_of(x.dtype())};
  for (const std::int64_t axis : read_perm(c.attributes(), strides.size()))
    copy.from_strides.push_back(strides[static_cast<std::size_t>(axis)]);
  copy_strided(copy);
}

const RegisterOp registered{
    {.type = "Transpose", .since = 1, .infer = infer, .eval = eval, .bound = bound_moved<0>}};

}  // namespace
}  // namespace assay::ops::transpose_op
