// NonZero (9, 13): places of the elements that are not zero, as int64 [rank, count] in row-major
// order. NaN is not zero; -0 is. Of a scalar the result is [0, count].
#include "runtime/ops/support/movement.h"

namespace assay::ops::non_zero_op {
namespace {

void infer(InferContext& c) {
  const auto& dims = c.input(0).dims;
  const std::int64_t rank = dims ? static_cast<std::int64_t>(dims->size()) : -1;
  c.set_output(0, {DType::int64, std::vector<std::int64_t>{rank, -1}});
}

void eval(EvalContext& c) {
  const Tensor& x = c.input(0);
  const Tensor mask = convert(x, DType::boolean);
  std::vector<std::int64_t> found;
  const auto set = mask.data<bool>();
  for (std::size_t i = 0; i < set.size(); ++i)
    if (set[i]) found.push_back(static_cast<std::int64_t>(i));
  const auto count = static_cast<std::int64_t>(found.size());
  Tensor& y = c.allocate(0, DType::int64, {x.shape().rank(), count});
  const auto out = y.mutable_data<std::int64_t>();
  const auto strides = x.shape().strides();
  for (std::int64_t axis = 0; axis < x.shape().rank(); ++axis) {
    const std::int64_t stride = strides[static_cast<std::size_t>(axis)];
    for (std::int64_t i = 0; i < count; ++i)
      out[static_cast<std::size_t>(axis * count + i)] =
          found[static_cast<std::size_t>(i)] / stride % x.shape()[axis];
  }
}

const RegisterOp registered{{.type = "NonZero", .since = 9, .infer = infer, .eval = eval}};

}  // namespace
}  // namespace assay::ops::non_zero_op
