// ReverseSequence (10): for each entry of batch_axis the first sequence_lens[b] steps along
// time_axis are reversed, the rest copied.
#include "runtime/ops/support/int_list.h"
#include "runtime/ops/support/movement.h"

namespace assay::ops::reverse_sequence_op {
namespace {

struct Axes {
  std::int64_t batch, time;
};

Axes read_axes(const Attributes& a, std::int64_t rank) {
  const Axes axes{normalize_axis(a.int_or("batch_axis", 1), rank),
                  normalize_axis(a.int_or("time_axis", 0), rank)};
  if (axes.batch != axes.time && axes.batch < 2 && axes.time < 2) return axes;
  throw Error({.what = "batch_axis and time_axis must be the axes 0 and 1",
               .got = std::to_string(axes.batch) + " and " + std::to_string(axes.time)});
}

void infer(InferContext& c) {
  const TensorType& x = c.input(0);
  if (x.dims) {
    if (x.dims->size() < 2) throw Error({.what = "rank 2 or more is needed", .got = to_string(x)});
    read_axes(c.attributes(), static_cast<std::int64_t>(x.dims->size()));
  }
  c.set_output(0, x);
}

void eval(EvalContext& c) {
  const Tensor& x = c.input(0);
  const Axes axes = read_axes(c.attributes(), x.shape().rank());
  const std::int64_t steps = x.shape()[axes.time];
  const std::int64_t batch = x.shape()[axes.batch];
  const IntList lengths = input_ints(c, 1);
  require_count("sequence_lens", lengths.values, static_cast<std::size_t>(batch));
  const std::int64_t block = x.shape().numel(2, x.shape().rank()) * size_of(x.dtype());
  const auto at = [&](std::int64_t t, std::int64_t b) {
    return (axes.time == 0 ? t * batch + b : b * steps + t) * block;
  };
  std::byte* to = c.output(0).mutable_raw().data();
  if (x.numel() == 0) return;
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::int64_t length = lengths.values[static_cast<std::size_t>(b)];
    if (length < 0 || length > steps)
      throw Error({.what = "sequence length out of range", .got = std::to_string(length)});
    for (std::int64_t t = 0; t < steps; ++t) {
      const std::int64_t from = t < length ? length - 1 - t : t;
      std::memcpy(to + at(t, b), x.raw().data() + at(from, b), static_cast<std::size_t>(block));
    }
  }
}

const RegisterOp registered{{.type = "ReverseSequence",
                             .since = 10,
                             .infer = infer,
                             .eval = eval,
                             .bound = bound_moved<0>}};

}  // namespace
}  // namespace assay::ops::reverse_sequence_op
