// InstanceNormalization (1, 6), LayerNormalization (17; ONNX Runtime also writes it into older
// opsets) and GroupNormalization (18: scale per group, 21: per channel) are one formula over a row:
//   y = (x - mean) / sqrt(variance + epsilon) * scale + bias, population variance of the row.
//
// Rows: one channel of one image (Instance), the axes from `axis` on (Layer), the channels of one
// group (Group). cr rounds the exact composite once; `stash_type` does not matter then and is
// ignored. LayerNormalization's outputs 1 and 2 are the mean and 1 / sqrt(variance + epsilon) of
// each row.
#include "runtime/numeric/elementary.h"
#include "runtime/numeric/rows.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/infer.h"
#include "runtime/ops/support/narrow.h"
#include "runtime/ops/support/rows.h"

namespace assay::ops::instance_normalization_op {
namespace {

template <class T>
std::span<const T> part(std::span<const T> all, std::int64_t first, std::int64_t count) {
  return all.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}

template <class T>
void normalize(bool correct, std::span<const T> x, float epsilon, std::span<const T> gamma,
               std::span<const T> beta, std::span<T> y) {
  if constexpr (std::is_same_v<T, float>) {
    if (correct) return cr_layer_norm(x, {epsilon, gamma, beta}, y);
  }
  row_layer_norm<T>(x, {T(epsilon), gamma, beta}, y);
}

void infer_first(InferContext& c) {
  require_dtype(c, 0, float_type, "a float type");
  require_rank(c, 0, 2);
  infer_same(c);
}

void check_count(const Tensor& t, std::int64_t expected, const char* name) {
  if (t.numel() == expected) return;
  throw Error({.what = std::string(name) + " of a normalization has the wrong size",
               .got = describe(t),
               .expected = std::to_string(expected) + " elements"});
}

void core_instance(EvalContext& c) {
  const Shape& s = c.input(0).shape();
  const std::int64_t size = s.numel(2, s.rank());
  check_count(c.input(1), s[1], "scale");
  check_count(c.input(2), s[1], "bias");
  const float epsilon = c.attributes().float_or("epsilon", 1e-5F);
  visit_real(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto x = c.in<T>(0), gamma = c.in<T>(1), beta = c.in<T>(2);
    const auto y = c.out<T>(0);
    parallel_for(0, s[0] * s[1], 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t r = first; r < last; ++r) {
        const std::int64_t ch = r % s[1];
        normalize<T>(c.precision == Precision::cr, part<T>(x, r * size, size), epsilon,
                     part<T>(gamma, ch, 1), part<T>(beta, ch, 1),
                     y.subspan(static_cast<std::size_t>(r * size), static_cast<std::size_t>(size)));
      }
    });
  });
}

std::int64_t layer_axis(const Attributes& a, std::int64_t rank) {
  return normalize_axis(a.int_or("axis", -1), rank);
}

void infer_layer(InferContext& c) {
  require_dtype(c, 0, float_type, "a float type");
  require_rank(c, 0, 1);
  infer_same(c);
  if (!c.input(0).dims) return;
  Dims dims = *c.input(0).dims;
  const auto axis = layer_axis(c.attributes(), static_cast<std::int64_t>(dims.size()));
  for (std::size_t i = static_cast<std::size_t>(axis); i < dims.size(); ++i) dims[i] = 1;
  // stash_type 1 is float32; the statistics are stored in it unless x is wider.
  const DType t = c.input(0).dtype;
  const bool narrow = t == DType::float16 || t == DType::bfloat16;
  for (std::size_t i = 1; i < 3; ++i) c.set_output(i, {narrow ? DType::float32 : t, dims});
}

template <class T>
void put_statistics(EvalContext& c, std::int64_t r, std::span<const T> x, float epsilon) {
  if (!c.has_output(1) && !c.has_output(2)) return;
  T mean = row_mean<T>(x), inverse;
  std::vector<T> d;
  for (const T& v : x) d.push_back(v - mean);
  const T variance = row_dot<T>(d, d) / T(static_cast<double>(x.size()));
  inverse = evaluate(RsqrtFn{}, T(variance + T(epsilon)));
  if constexpr (std::is_same_v<T, float>) {
    if (c.precision == Precision::cr) {
      const MeanAndInvStd exact = cr_row_statistics(x, epsilon);
      mean = exact.mean;
      inverse = exact.inv_std;
    }
  }
  const auto at = static_cast<std::size_t>(r);
  if (c.has_output(1)) c.out<T>(1)[at] = mean;
  if (c.has_output(2)) c.out<T>(2)[at] = inverse;
}

/// `scale` and `bias` as one row: they broadcast to the normalized axes.
template <class T>
std::vector<T> as_row(const Tensor& t, const Shape& shape, std::int64_t axis) {
  const Shape row(Dims(shape.vec().begin() + axis, shape.vec().end()));
  if (broadcast(t.shape(), row) != row) check_count(t, row.numel(), "scale or bias");
  Tensor wide(t.dtype(), row);
  map_binary<T, T, T>(Tensor::zeros(t.dtype(), row), t, wide,
                      [](const T&, const T& v) { return v; });
  const auto values = wide.data<T>();
  return {values.begin(), values.end()};
}

void core_layer(EvalContext& c) {
  const Shape& shape = c.input(0).shape();
  const std::int64_t axis = layer_axis(c.attributes(), shape.rank());
  const RowLayout l = flat_rows(shape, axis);
  const float epsilon = c.attributes().float_or("epsilon", 1e-5F);
  visit_real(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto gamma = as_row<T>(c.input(1), shape, axis);
    const auto beta = c.has_input(2) ? as_row<T>(c.input(2), shape, axis) : std::vector<T>();
    map_rows<T>(c.in<T>(0), c.out<T>(0), l,
                [&](std::int64_t r, std::span<const T> x, std::span<T> y) {
                  normalize<T>(c.precision == Precision::cr, x, epsilon, gamma, beta, y);
                  put_statistics<T>(c, r, x, epsilon);
                });
  });
}

/// gamma and beta of a group's row: one value per channel, repeated over the image.
template <class T>
std::vector<T> spread(std::span<const T> per, bool per_channel, std::int64_t group,
                      std::int64_t channels, std::int64_t size) {
  std::vector<T> row;
  for (std::int64_t ch = 0; ch < channels; ++ch) {
    const std::int64_t at = per_channel ? group * channels + ch : group;
    row.insert(row.end(), static_cast<std::size_t>(size), per[static_cast<std::size_t>(at)]);
  }
  return row;
}

void core_group(EvalContext& c) {
  const Shape& s = c.input(0).shape();
  const std::int64_t groups = c.attributes().required_int("num_groups");
  if (groups < 1 || s[1] % groups != 0) {
    throw Error({.what = "num_groups does not divide the channels",
                 .got = std::to_string(groups),
                 .expected = "a divisor of " + std::to_string(s[1])});
  }
  const bool per_channel = c.opset >= 21;
  const std::int64_t channels = s[1] / groups, size = s.numel(2, s.rank());
  check_count(c.input(1), per_channel ? s[1] : groups, "scale");
  check_count(c.input(2), per_channel ? s[1] : groups, "bias");
  const float epsilon = c.attributes().float_or("epsilon", 1e-5F);
  visit_real(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const RowLayout l{.outer = s[0] * groups, .row = channels * size, .inner = 1};
    map_rows<T>(c.in<T>(0), c.out<T>(0), l,
                [&](std::int64_t r, std::span<const T> x, std::span<T> y) {
                  const auto gamma = spread<T>(c.in<T>(1), per_channel, r % groups, channels, size);
                  const auto beta = spread<T>(c.in<T>(2), per_channel, r % groups, channels, size);
                  normalize<T>(c.precision == Precision::cr, x, epsilon, gamma, beta, y);
                });
  });
}

const RegisterOp registered{std::vector<OpDef>{{.type = "InstanceNormalization",
                                                .since = 1,
                                                .infer = infer_first,
                                                .eval = with_narrow<core_instance>},
                                               {.type = "LayerNormalization",
                                                .since = 17,
                                                .infer = infer_layer,
                                                .eval = with_narrow<core_layer>},
                                               {.type = "LayerNormalization",
                                                .since = 1,
                                                .until = 16,
                                                .infer = infer_layer,
                                                .eval = with_narrow<core_layer>},
                                               {.type = "GroupNormalization",
                                                .since = 18,
                                                .infer = infer_first,
                                                .eval = with_narrow<core_group>}}};

}  // namespace
}  // namespace assay::ops::instance_normalization_op
