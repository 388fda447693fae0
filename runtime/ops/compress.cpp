// Compress (9, 11): the slices along `axis` (or, without it, the elements of the flattened tensor)
// whose condition is true. A condition shorter than the axis is false for the rest.
#include "runtime/ops/support/movement.h"

namespace assay::ops::compress_op {
namespace {

void infer(InferContext& c) {
  const TensorType& x = c.input(0);
  if (!c.attributes().has("axis")) return c.set_output(0, {x.dtype, std::vector<std::int64_t>{-1}});
  if (!x.dims) return c.set_output(0, {x.dtype, std::nullopt});
  std::vector<std::int64_t> dims = *x.dims;
  const auto rank = static_cast<std::int64_t>(dims.size());
  dims[static_cast<std::size_t>(normalize_axis(c.attributes().required_int("axis"), rank))] = -1;
  c.set_output(0, {x.dtype, dims});
}

AxisTable chosen(const Tensor& condition, std::int64_t size) {
  AxisTable table;
  const auto set = condition.data<bool>();
  for (std::size_t i = 0; i < set.size(); ++i)
    if (set[i]) table.push_back(static_cast<std::int64_t>(i));
  if (table.empty() || table.back() < size) return table;
  throw Error({.what = "condition is true beyond the axis",
               .got = "place " + std::to_string(table.back()),
               .expected = "below " + std::to_string(size)});
}

void eval(EvalContext& c) {
  const bool with_axis = c.attributes().has("axis");
  const Tensor x = with_axis ? c.input(0) : c.input(0).reshaped({c.input(0).numel()});
  const std::int64_t axis =
      with_axis ? normalize_axis(c.attributes().required_int("axis"), x.shape().rank()) : 0;
  if (c.input(1).dtype() != DType::boolean)
    throw Error({.what = "condition must be bool", .got = describe(c.input(1))});
  std::vector<AxisTable> tables;
  for (const std::int64_t d : x.shape().dims()) tables.push_back(identity_table(d));
  AxisTable& table = tables[static_cast<std::size_t>(axis)];
  table = chosen(c.input(1), x.shape()[axis]);
  Shape shape = x.shape();
  shape[axis] = static_cast<std::int64_t>(table.size());
  copy_by_tables(x, tables, nullptr, c.allocate(0, x.dtype(), shape));
}

const RegisterOp registered{{.type = "Compress", .since = 9, .infer = infer, .eval = eval}};

}  // namespace
}  // namespace assay::ops::compress_op
