#include "runtime/ops/support/stack.h"

#include "runtime/ops/support/movement.h"

namespace assay::ops {

TensorType declared_item(const EvalContext& c, const Graph& body, std::size_t i) {
  const ValueType& t = body.value(body.outputs()[i]).type;
  TensorType type{c.widen(t.dtype == DType::undefined ? DType::float32 : t.dtype),
                  std::vector<std::int64_t>{}};
  if (!t.dims) return type;
  for (const Dim& d : *t.dims) type.dims->push_back(d.size < 0 ? 0 : d.size);
  return type;
}

void Stack::add(Tensor item) {
  if (!items_.empty() && (item.dtype() != items_[0].dtype() || item.shape() != items_[0].shape())) {
    throw Error({.what = "scan output changes its type or shape",
                 .got = describe(item),
                 .expected = describe(items_[0])});
  }
  bytes_ += item.bytes();
  if (bytes_ > max_tensor_bytes()) {
    throw Error({.what = "scan output is larger than the limit of one tensor",
                 .got = std::to_string(bytes_) + " bytes",
                 .advice = "raise it with --max-tensor-bytes"});
  }
  items_.push_back(std::move(item));
}

Tensor Stack::stacked(std::int64_t axis, bool reversed) const {
  std::vector<std::int64_t> dims =
      items_.empty() ? declared_.dims.value() : items_[0].shape().vec();
  const auto count = static_cast<std::int64_t>(items_.size());
  const std::int64_t place = normalize_axis(axis, static_cast<std::int64_t>(dims.size()) + 1);
  const std::vector<std::int64_t> item_dims = dims;
  dims.insert(dims.begin() + place, count);
  Tensor y(items_.empty() ? declared_.dtype : items_[0].dtype(), Shape(dims));
  auto strides = y.shape().strides();
  const std::int64_t step = strides[static_cast<std::size_t>(place)] * size_of(y.dtype());
  strides.erase(strides.begin() + place);
  for (std::int64_t i = 0; i < count; ++i) {
    const Tensor& item = items_[static_cast<std::size_t>(reversed ? count - 1 - i : i)];
    copy_strided({.box = item_dims,
                  .from = item.raw().data(),
                  .from_strides = item.shape().strides(),
                  .to = y.mutable_raw().data() + i * step,
                  .to_strides = strides,
                  .size = size_of(y.dtype())});
  }
  return y;
}

}  // namespace assay::ops
