// Split (1, 2, 11: attribute; 13: input; 18: num_outputs): a tensor cut along an axis into one part
// per output.
//
// Without a list of sizes the parts are equal; from opset 18 on the last one may be smaller (size =
// ceil(n / parts)), before that the axis must divide.
#include <numeric>

#include "runtime/ops/support/int_list.h"
#include "runtime/ops/support/movement.h"

namespace assay::ops::split_op {
namespace {

template <class Context>
IntList read_list(const Context& c) {
  if (c.opset < 2 && c.has_input(1)) return input_ints(c, 1);
  return find_ints(c, {"split", 1, 13});
}

Ints equal_parts(std::int64_t size, std::int64_t parts, std::int64_t opset) {
  if (opset < 18 && size % parts != 0) {
    throw Error({.what = "axis does not split into equal parts",
                 .got = std::to_string(size) + " into " + std::to_string(parts)});
  }
  const std::int64_t each = (size + parts - 1) / parts;
  Ints sizes;
  for (std::int64_t left = size, i = 0; i < parts; ++i) {
    sizes.push_back(std::min(each, left));
    left -= sizes.back();
  }
  return sizes;
}

void check_sizes(const Ints& sizes, std::int64_t size, std::size_t outputs) {
  require_count("split sizes", sizes, outputs);
  std::int64_t total = 0;
  bool negative = false;
  for (const std::int64_t s : sizes) {
    negative = negative || s < 0 || __builtin_add_overflow(total, s, &total);
  }
  if (!negative && (size < 0 || total == size)) return;
  throw Error({.what = "split sizes do not add up to the axis",
               .got = to_text(sizes),
               .expected = std::to_string(size) + " in total"});
}

void infer(InferContext& c) {
  const TensorType& x = c.input(0);
  if (!x.dims) return;
  const auto rank = static_cast<std::int64_t>(x.dims->size());
  const auto axis =
      static_cast<std::size_t>(normalize_axis(c.attributes().int_or("axis", 0), rank));
  const std::int64_t size = (*x.dims)[axis];
  const IntList list = read_list(c);
  const std::size_t outputs = c.output_count();
  const std::int64_t stated = c.attributes().int_or("num_outputs", 0);
  if (c.opset >= 18 && stated != 0 && stated != static_cast<std::int64_t>(outputs)) {
    throw Error({.what = "attribute 'num_outputs' differs from the number of outputs",
                 .got = std::to_string(stated),
                 .expected = std::to_string(outputs)});
  }
  Ints sizes(outputs, -1);
  if (list.known) {
    sizes = list.values;
    check_sizes(sizes, size, outputs);
  } else if (!list.given && size >= 0) {
    sizes = equal_parts(size, static_cast<std::int64_t>(outputs), c.opset);
  }
  for (std::size_t i = 0; i < outputs; ++i) {
    auto dims = *x.dims;
    dims[axis] = sizes[i];
    c.set_output(i, {x.dtype, dims});
  }
}

void eval(EvalContext& c) {
  const Tensor& x = c.input(0);
  const std::int64_t axis = normalize_axis(c.attributes().int_or("axis", 0), x.shape().rank());
  const auto strides = x.shape().strides();
  const std::int64_t step = strides[static_cast<std::size_t>(axis)] * size_of(x.dtype());
  const std::byte* from = x.raw().data();
  for (std::size_t i = 0; i < c.outputs.size(); ++i) {
    Tensor& y = c.output(i);
    copy_strided({.box = y.shape().vec(),
                  .from = from,
                  .from_strides = strides,
                  .to = y.mutable_raw().data(),
                  .to_strides = y.shape().strides(),
                  .size = size_of(x.dtype())});
    from += y.shape()[axis] * step;
  }
}

const RegisterOp registered{
    {.type = "Split", .since = 1, .infer = infer, .eval = eval, .bound = bound_moved<0>}};

}  // namespace
}  // namespace assay::ops::split_op
