#include "runtime/ops/support/indices.h"

#include <cstring>

#include "runtime/ops/support/scalar.h"

namespace assay::ops {
namespace {

template <class T>
T combine(Reduction reduction, const T& old, const T& update) {
  const Wide<T> a = load<T>(old), b = load<T>(update);
  switch (reduction) {
    case Reduction::add:
      return store<T>(static_cast<Wide<T>>(a + b));
    case Reduction::mul:
      return store<T>(static_cast<Wide<T>>(a * b));
    case Reduction::max:
      return not_a_number(a) || a >= b ? old : update;
    case Reduction::min:
      return not_a_number(a) || a <= b ? old : update;
    default:
      return update;
  }
}

/// bool: add and max are "or", mul and min are "and".
bool combine(Reduction reduction, bool old, bool update) {
  const bool any = reduction == Reduction::add || reduction == Reduction::max;
  return reduction == Reduction::none ? update : any ? old || update : old && update;
}

/// Integer sums and products wrap.
template <class T>
T combined(Reduction reduction, const T& old, const T& update) {
  const bool arithmetic = reduction == Reduction::add || reduction == Reduction::mul;
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    if (arithmetic) {
      const auto a = static_cast<std::uint64_t>(old), b = static_cast<std::uint64_t>(update);
      return static_cast<T>(reduction == Reduction::add ? a + b : a * b);
    }
  }
  return combine(reduction, old, update);
}

void copy_blocks(const std::vector<std::int64_t>& offsets, const Tensor& updates,
                 std::int64_t block, Tensor& y) {
  const std::int64_t size = size_of(y.dtype());
  const std::byte* from = updates.raw().data();
  std::byte* to = y.mutable_raw().data();
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    std::memcpy(to + offsets[i] * size, from + static_cast<std::int64_t>(i) * block * size,
                static_cast<std::size_t>(block * size));
  }
}

void check_sizes(const Shape& x, const Shape& indices, std::int64_t axis) {
  for (std::int64_t k = 0; k < x.rank(); ++k) {
    if (k == axis || indices[k] <= x[k]) continue;
    throw Error({.what = "indices are larger than the data beside the axis",
                 .got = to_string(indices),
                 .expected = "at most " + to_string(x)});
  }
}

}  // namespace

void infer_scatter(InferContext& c) {
  const TensorType& x = c.input(0);
  const TensorType& updates = c.input(2);
  if (updates.dtype != x.dtype && updates.dtype != DType::undefined)
    throw Error({.what = "data and updates differ in type",
                 .got = to_string(x) + " and " + to_string(updates)});
  c.set_output(0, x);
}

std::vector<std::int64_t> element_offsets(const Tensor& indices, const Shape& x,
                                          std::int64_t axis) {
  const Shape& shape = indices.shape();
  check_sizes(x, shape, axis);
  const auto strides = x.strides();
  const std::vector<std::int64_t> values = to_ints(indices);
  std::vector<std::int64_t> offsets(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto rest = static_cast<std::int64_t>(i);
    for (std::int64_t k = shape.rank() - 1; k >= 0; --k) {
      const std::int64_t at = k == axis ? checked_index(values[i], x[k]) : rest % shape[k];
      rest /= shape[k];
      offsets[i] += at * strides[static_cast<std::size_t>(k)];
    }
  }
  return offsets;
}

std::vector<std::int64_t> slice_offsets(const Tensor& indices, const Shape& x,
                                        std::int64_t batch_dims) {
  const Shape& shape = indices.shape();
  const std::int64_t depth = shape[-1];
  const auto strides = x.strides();
  const std::vector<std::int64_t> values = to_ints(indices);
  const std::int64_t count = shape.numel(0, shape.rank() - 1);
  const std::int64_t per_batch = shape.numel(batch_dims, shape.rank() - 1);
  const std::int64_t batch_stride = x.numel(batch_dims, x.rank());
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t offset = i / per_batch * batch_stride;
    for (std::int64_t k = 0; k < depth; ++k) {
      const std::int64_t axis = batch_dims + k;
      const std::int64_t v = values[static_cast<std::size_t>(i * depth + k)];
      offset += checked_index(v, x[axis]) * strides[static_cast<std::size_t>(axis)];
    }
    offsets[static_cast<std::size_t>(i)] = offset;
  }
  return offsets;
}

Reduction read_reduction(const Attributes& a, std::int64_t opset) {
  const std::string name = opset >= 16 ? a.string_or("reduction", "none") : "none";
  if (name == "none") return Reduction::none;
  if (name == "add") return Reduction::add;
  if (name == "mul") return Reduction::mul;
  if (name == "max" && opset >= 18) return Reduction::max;
  if (name == "min" && opset >= 18) return Reduction::min;
  throw Error({.what = "attribute 'reduction'",
               .got = "'" + name + "'",
               .expected = "none, add, mul, and from opset 18 on max and min"});
}

void scatter(Reduction reduction, const std::vector<std::int64_t>& offsets, const Tensor& updates,
             std::int64_t block, Tensor& y) {
  if (block == 0) return;
  if (reduction == Reduction::none) return copy_blocks(offsets, updates, block, y);
  visit_dtype(y.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = updates.data<T>().data();
    T* to = y.mutable_data<T>().data();
    for (const std::int64_t offset : offsets) {
      for (std::int64_t k = 0; k < block; ++k)
        to[offset + k] = combined(reduction, to[offset + k], from[k]);
      from += block;
    }
  });
}

}  // namespace assay::ops
