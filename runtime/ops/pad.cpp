// Pad (1, 2: attributes; 11, 13: inputs; 18: axes; 19: wrap; 21): a border around the tensor, or a
// crop where a pad is negative.
//
// With n the size after cropping and i the place relative to it: constant writes the value (0 when
// absent; default-constructed bits), edge reads clamp(i), reflect mirrors without repeating the
// border (period 2(n-1)), wrap continues periodically (period n). Negative pads are taken off
// first. edge, reflect and wrap of an axis without elements are an error unless nothing is added.
#include <algorithm>

#include "runtime/ops/support/int_list.h"
#include "runtime/ops/support/movement.h"

namespace assay::ops::pad_op {
namespace {

constexpr std::int64_t kInputsSince = 11;

struct PadSides {
  Ints begin, end;  ///< per axis of the tensor
};

/// nullopt when the pads or axes are not known.
template <class Context>
std::optional<PadSides> read_pads(const Context& c, std::size_t rank) {
  const IntList pads = find_ints(c, {c.opset < 2 ? "paddings" : "pads", 1, kInputsSince});
  if (!pads.given) throw Error({.what = "pads are missing"});
  const IntList axes = c.opset >= 18 ? input_ints(c, 3) : IntList{};
  if (!pads.known || (axes.given && !axes.known)) return std::nullopt;
  const auto r = static_cast<std::int64_t>(rank);
  const Ints named = axes.given ? normalized_axes(axes.values, r) : Ints();
  const std::size_t count = axes.given ? named.size() : rank;
  require_count("pads", pads.values, 2 * count);
  PadSides sides{Ints(rank, 0), Ints(rank, 0)};
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t axis = axes.given ? static_cast<std::size_t>(named[i]) : i;
    sides.begin[axis] = pads.values[i];
    sides.end[axis] = pads.values[i + count];
  }
  return sides;
}

std::int64_t padded_size(std::int64_t size, std::int64_t begin, std::int64_t end) {
  std::int64_t out = 0;
  if (__builtin_add_overflow(size, begin, &out) || __builtin_add_overflow(out, end, &out) ||
      out < 0) {
    throw Error({.what = "pads do not fit the axis",
                 .got = std::to_string(begin) + " and " + std::to_string(end) + " on a size of " +
                        std::to_string(size)});
  }
  return out;
}

void infer(InferContext& c) {
  const TensorType& x = c.input(0);
  if (!x.dims) return c.set_output(0, {x.dtype, std::nullopt});
  const auto pads = read_pads(c, x.dims->size());
  std::vector<std::int64_t> dims(x.dims->size(), -1);
  for (std::size_t i = 0; pads && i < dims.size(); ++i) {
    if ((*x.dims)[i] >= 0) dims[i] = padded_size((*x.dims)[i], pads->begin[i], pads->end[i]);
  }
  c.set_output(0, {x.dtype, dims});
}

enum class Border { constant, reflect, edge, wrap };

Border read_border(const Attributes& a) {
  const std::string mode = a.string_or("mode", "constant");
  if (mode == "constant") return Border::constant;
  if (mode == "reflect") return Border::reflect;
  if (mode == "edge") return Border::edge;
  if (mode == "wrap") return Border::wrap;
  throw Error({.what = "attribute 'mode'",
               .got = "'" + mode + "'",
               .expected = "constant, reflect, edge or wrap"});
}

std::int64_t modulo(std::int64_t i, std::int64_t n) { return (i % n + n) % n; }

/// Where place `i` relative to an axis of size `n` reads from.
std::int64_t border_index(Border border, std::int64_t i, std::int64_t n) {
  if (i >= 0 && i < n) return i;
  switch (border) {
    case Border::edge:
      return std::clamp<std::int64_t>(i, 0, n - 1);
    case Border::wrap:
      return modulo(i, n);
    case Border::reflect: {
      if (n == 1) return 0;
      const std::int64_t at = modulo(i, 2 * (n - 1));
      return at < n ? at : 2 * (n - 1) - at;
    }
    default:
      return kFill;
  }
}

AxisTable pad_table(Border border, std::int64_t size, std::int64_t begin, std::int64_t end) {
  const std::int64_t cropped = std::max<std::int64_t>(0, -begin);
  const std::int64_t n =
      std::max<std::int64_t>(0, size - cropped - std::max<std::int64_t>(0, -end));
  const std::int64_t lead = std::max<std::int64_t>(0, begin);
  AxisTable table(static_cast<std::size_t>(size + begin + end));
  if (n == 0 && border != Border::constant && !table.empty()) {
    throw Error(
        {.what = "nothing to repeat on an axis without elements", .expected = "mode constant"});
  }
  for (std::size_t k = 0; k < table.size(); ++k) {
    const std::int64_t i = border_index(border, static_cast<std::int64_t>(k) - lead, n);
    table[k] = i == kFill ? kFill : i + cropped;
  }
  return table;
}

/// The value of the border in the type of x.
Tensor pad_value(const EvalContext& c) {
  const DType dtype = c.input(0).dtype();
  if (c.opset < kInputsSince)
    return convert(Tensor::scalar<float>(c.attributes().float_or("value", 0.0F)), dtype);
  if (!c.has_input(2)) return Tensor::zeros(dtype, Shape{});
  const Tensor& value = c.input(2);
  if (value.dtype() == dtype && value.numel() == 1) return value;
  throw Error({.what = "constant_value must be one element of the tensor's type",
               .got = describe(value),
               .expected = to_string(dtype)});
}

void eval(EvalContext& c) {
  const Tensor& x = c.input(0);
  const Border border = read_border(c.attributes());
  const auto pads = read_pads(c, static_cast<std::size_t>(x.shape().rank()));
  const Tensor value = border == Border::constant ? pad_value(c) : Tensor();
  std::vector<AxisTable> tables;
  for (std::int64_t k = 0; k < x.shape().rank(); ++k) {
    const auto i = static_cast<std::size_t>(k);
    tables.push_back(pad_table(border, x.shape()[k], pads->begin[i], pads->end[i]));
  }
  copy_by_tables(x, tables, value.defined() ? element_at(value, 0) : nullptr, c.output(0));
}

/// The border's own value is exact: the attribute must not be written into the radii.
void bound(BoundContext& c) {
  Node node = *c.node;
  node.attributes.erase("value");
  const Node* original = c.node;
  c.node = &node;
  move_radii(c, {0, 2});
  c.node = original;
}

const RegisterOp registered{
    {.type = "Pad", .since = 1, .infer = infer, .eval = eval, .bound = bound}};

}  // namespace
}  // namespace assay::ops::pad_op
