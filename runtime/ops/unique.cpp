// Unique (11): the different elements (or, with `axis`, the different slices) of a tensor, with
// where each is first seen, which of them every element is, and how often each occurs.
//
// sorted = 1 (default): ascending, slices lexicographically; 0: in order of appearance. NaNs are
// equal to each other and come last; +0 and -0 are equal, the first one seen is kept.
#include <algorithm>
#include <numeric>

#include "runtime/ops/support/movement.h"
#include "runtime/ops/support/order_key.h"

namespace assay::ops::unique_op {
namespace {

using Ints = std::vector<std::int64_t>;

/// x as rows: [number of items, elements per item].
struct Items {
  Tensor data;
  std::int64_t count = 0;
  std::int64_t width = 1;
};

/// The axis moved to the front.
Tensor axis_first(const Tensor& x, std::int64_t axis) {
  const auto strides = x.shape().strides();
  Shape shape = x.shape();
  auto from = strides;
  std::rotate(from.begin(), from.begin() + axis, from.begin() + axis + 1);
  std::vector<std::int64_t> dims = shape.vec();
  std::rotate(dims.begin(), dims.begin() + axis, dims.begin() + axis + 1);
  Tensor y(x.dtype(), Shape(dims));
  copy_strided({.box = dims,
                .from = x.raw().data(),
                .from_strides = from,
                .to = y.mutable_raw().data(),
                .to_strides = y.shape().strides(),
                .size = size_of(x.dtype())});
  return y;
}

Items items_of(const Tensor& x, const Attributes& a) {
  if (!a.has("axis")) return {x, x.numel(), 1};
  const std::int64_t axis = normalize_axis(a.required_int("axis"), x.shape().rank());
  Tensor moved = axis_first(x, axis);
  const std::int64_t count = moved.shape()[0];
  const std::int64_t width = moved.shape().numel(1, moved.shape().rank());
  return {std::move(moved), count, width};
}

struct Groups {
  Ints first;    ///< item that stands for the group
  Ints inverse;  ///< group of every item
  Ints counts;
};

Groups group(const std::vector<OrderKey>& keys, std::int64_t count, std::int64_t width) {
  const auto row = [&](std::int64_t i) { return keys.begin() + i * width; };
  const auto compare = [&](std::int64_t a, std::int64_t b) {
    return std::lexicographical_compare_three_way(row(a), row(a) + width, row(b), row(b) + width);
  };
  Ints order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return compare(a, b) < 0; });
  Groups g;
  g.inverse.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || compare(order[i - 1], order[i]) != 0) {
      g.first.push_back(order[i]);
      g.counts.push_back(0);
    }
    ++g.counts.back();
    g.inverse[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(g.first.size()) - 1;
  }
  return g;
}

/// Groups renumbered by first appearance.
Groups by_appearance(const Groups& g) {
  Ints order(g.first.size()), place(g.first.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto at = [](const Ints& v, std::int64_t i) { return v[static_cast<std::size_t>(i)]; };
  std::sort(order.begin(), order.end(),
            [&](std::int64_t a, std::int64_t b) { return at(g.first, a) < at(g.first, b); });
  Groups out;
  for (std::size_t i = 0; i < order.size(); ++i) {
    out.first.push_back(at(g.first, order[i]));
    out.counts.push_back(at(g.counts, order[i]));
    place[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  }
  for (const std::int64_t i : g.inverse) out.inverse.push_back(at(place, i));
  return out;
}

void infer(InferContext& c) {
  const TensorType& x = c.input(0);
  TensorType y{x.dtype, std::vector<std::int64_t>{-1}};
  if (c.attributes().has("axis") && x.dims) {
    y.dims = x.dims;
    const auto rank = static_cast<std::int64_t>(x.dims->size());
    const std::int64_t axis = normalize_axis(c.attributes().required_int("axis"), rank);
    (*y.dims)[static_cast<std::size_t>(axis)] = -1;
  }
  c.set_output(0, y);
  for (std::size_t i = 1; i < c.output_count(); ++i)
    c.set_output(i, {DType::int64, std::vector<std::int64_t>{-1}});
}

void write_values(EvalContext& c, const Items& items, const Ints& first) {
  const Tensor& x = c.input(0);
  const bool with_axis = c.attributes().has("axis");
  const std::int64_t axis =
      with_axis ? normalize_axis(c.attributes().required_int("axis"), x.shape().rank()) : 0;
  std::vector<AxisTable> tables;
  Shape shape = with_axis ? x.shape() : Shape{x.numel()};
  const Tensor flat = with_axis ? x : x.reshaped(shape);
  for (const std::int64_t d : shape.dims()) tables.push_back(identity_table(d));
  tables[static_cast<std::size_t>(axis)] = first;
  shape[axis] = static_cast<std::int64_t>(first.size());
  ASSAY_ASSERT(items.count >= shape[axis]);
  copy_by_tables(flat, tables, nullptr, c.allocate(0, x.dtype(), shape));
}

void eval(EvalContext& c) {
  const Items items = items_of(c.input(0), c.attributes());
  Groups g = group(order_keys(items.data), items.count, items.width);
  if (c.attributes().int_or("sorted", 1) == 0) g = by_appearance(g);
  write_values(c, items, g.first);
  const Ints* lists[] = {&g.first, &g.inverse, &g.counts};
  for (std::size_t i = 1; i < c.outputs.size(); ++i) {
    const Ints& list = *lists[i - 1];
    c.output(i) = Tensor::of<std::int64_t>({static_cast<std::int64_t>(list.size())},
                                           std::span<const std::int64_t>(list));
  }
}

const RegisterOp registered{{.type = "Unique", .since = 11, .infer = infer, .eval = eval}};

}  // namespace
}  // namespace assay::ops::unique_op
