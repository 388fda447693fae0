// TopK (1: attribute k; 10: input; 11: largest, sorted): the k largest (smallest) elements along an
// axis and their places.
//
// Results are always sorted; among equal elements the lower place comes first. NaN counts as larger
// than every number; +0 and -0 are equal.
#include <algorithm>

#include "runtime/numeric/parallel.h"
#include "runtime/ops/support/int_list.h"
#include "runtime/ops/support/movement.h"
#include "runtime/ops/support/order_key.h"

namespace assay::ops::top_k_op {
namespace {

/// k, or -1 when it is not known.
std::int64_t read_k(const InferContext& c) {
  if (c.opset < 10) return c.attributes().required_int("k");
  const IntList k = input_ints(c, 1);
  if (!k.known) return -1;
  require_count("k", k.values, 1);
  return k.values[0];
}

std::int64_t read_axis(const Attributes& a, std::size_t rank) {
  return normalize_axis(a.int_or("axis", -1), static_cast<std::int64_t>(rank));
}

void infer(InferContext& c) {
  const TensorType& x = c.input(0);
  if (!x.dims) return;
  std::vector<std::int64_t> dims = *x.dims;
  const auto axis = static_cast<std::size_t>(read_axis(c.attributes(), dims.size()));
  const std::int64_t k = read_k(c);
  if (k < -1 || (dims[axis] >= 0 && k > dims[axis])) {
    throw Error({.what = "k is out of range",
                 .got = std::to_string(k),
                 .expected = "0 to " + std::to_string(dims[axis])});
  }
  dims[axis] = k;
  c.set_output(0, {x.dtype, dims});
  c.set_output(1, {DType::int64, dims});
}

/// Places of the k first elements of the row `keys[base + i * stride]`, best first.
std::vector<std::int64_t> best_places(const OrderKey* row, std::int64_t stride, std::int64_t size,
                                      std::int64_t k, bool largest) {
  std::vector<std::int64_t> places(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::int64_t>(i);
  std::partial_sort(places.begin(), places.begin() + k, places.end(),
                    [&](std::int64_t a, std::int64_t b) {
                      const OrderKey& x = row[a * stride];
                      const OrderKey& y = row[b * stride];
                      if (x != y) return largest ? x > y : x < y;
                      return a < b;
                    });
  places.resize(static_cast<std::size_t>(k));
  return places;
}

struct Layout {
  std::int64_t outer, size, inner, k;
};

void write_row(const Tensor& x, const Layout& l, std::int64_t r,
               const std::vector<std::int64_t>& places, std::byte* values, std::int64_t* indices) {
  const auto bytes = static_cast<std::size_t>(size_of(x.dtype()));
  const std::int64_t from = r / l.inner * l.size * l.inner + r % l.inner;
  const std::int64_t to = r / l.inner * l.k * l.inner + r % l.inner;
  for (std::int64_t i = 0; i < l.k; ++i) {
    const std::int64_t place = places[static_cast<std::size_t>(i)];
    const std::int64_t at = to + i * l.inner;
    std::memcpy(values + static_cast<std::size_t>(at) * bytes,
                element_at(x, from + place * l.inner), bytes);
    if (indices != nullptr) indices[at] = place;
  }
}

void eval(EvalContext& c) {
  const Tensor& x = c.input(0);
  const std::int64_t axis = read_axis(c.attributes(), static_cast<std::size_t>(x.shape().rank()));
  const bool largest = c.opset < 11 || c.attributes().int_or("largest", 1) != 0;
  const Layout l{x.shape().numel(0, axis), x.shape()[axis],
                 x.shape().numel(axis + 1, x.shape().rank()), c.output(0).shape()[axis]};
  const auto keys = order_keys(x);
  std::byte* values = c.output(0).mutable_raw().data();
  const bool with_indices = c.outputs.size() > 1 && c.output(1).defined();
  std::int64_t* indices = with_indices ? c.out<std::int64_t>(1).data() : nullptr;
  parallel_for(0, l.outer * l.inner, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t r = first; r < last; ++r) {
      const OrderKey* row = keys.data() + r / l.inner * l.size * l.inner + r % l.inner;
      write_row(x, l, r, best_places(row, l.inner, l.size, l.k, largest), values, indices);
    }
  });
}

const RegisterOp registered{{.type = "TopK", .since = 1, .infer = infer, .eval = eval}};

}  // namespace
}  // namespace assay::ops::top_k_op
