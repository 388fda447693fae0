// QGlobalAveragePool, QAveragePool, QMaxPool: pools on codes.
//
//   averages, dequantized   the float operator on dequantized codes, correctly rounded, then
//   QuantizeLinear averages, float32       v = f32(exact sum of (q - z_x) over the window) *
//   f32(x_scale / count);  then as finish.h maximum                 the largest code: scale and
//   zero point pass through, so every profile agrees
// count: taps inside the input, or also those in the padding under count_include_pad = 1 (padding
// is the real zero).
#include "quant/finish.h"
#include "runtime/ops/support/run_op.h"

namespace assay::q_pool_op {
namespace {

/// Attributes of the float operator alone.
Attributes pool_attributes(const Attributes& own) {
  Attributes a;
  for (const char* name : {"kernel_shape", "strides", "pads", "dilations", "auto_pad", "ceil_mode",
                           "count_include_pad"}) {
    if (own.has(name)) a.set(name, own.items().at(name));
  }
  return a;
}

TensorType float_type(const Attributes& a, const std::optional<std::vector<std::int64_t>>& dims,
                      const char* op) {
  return ops::infer_standard(op, pool_attributes(a), {{DType::float32, dims}});
}

template <const char* Op>
void infer_average(InferContext& c) {
  c.set_output(0, {integer_output_type(c), float_type(c.attributes(), c.input(0).dims, Op).dims});
}

void infer_max(InferContext& c) {
  c.set_output(0, {c.input(0).dtype, float_type(c.attributes(), c.input(0).dims, "MaxPool").dims});
}

IntegerForm pool_form(const EvalContext& c) {
  const Attributes& a = c.attributes();
  return {.x = read_params(a, "x", c.input(0).dtype()),
          .y = read_params(a, "y", static_cast<DType>(a.int_or("y_dtype", 2))),
          .activation = read_activation(a),
          .profile = node_profile(a)};
}

/// Exact sum of (code - zero point) and number of counted taps, per output.
struct Sums {
  std::vector<std::int64_t> sum;
  std::vector<std::int64_t> count;
};

struct Window {
  std::vector<std::int64_t> kernel, strides, dilations, pads;
  bool count_pads = false;
};

Window window_of(const EvalContext& c, const Shape& x, const Shape& y, bool global) {
  const auto rank = static_cast<std::size_t>(x.rank() - 2);
  const Attributes& a = c.attributes();
  Window w{{},
           a.ints_or("strides", std::vector<std::int64_t>(rank, 1)),
           a.ints_or("dilations", std::vector<std::int64_t>(rank, 1)),
           a.ints_or("pads", std::vector<std::int64_t>(2 * rank, 0)),
           a.int_or("count_include_pad", 0) != 0};
  if (global) {
    w.kernel.assign(x.dims().begin() + 2, x.dims().end());
    return w;
  }
  w.kernel = a.required_ints("kernel_shape");
  const std::string same = a.string_or("auto_pad", "NOTSET");
  for (std::size_t i = 0; i < rank && same.rfind("SAME", 0) == 0; ++i) {
    const std::int64_t out = y[static_cast<std::int64_t>(i) + 2],
                       in = x[static_cast<std::int64_t>(i) + 2];
    const std::int64_t extent = w.dilations[i] * (w.kernel[i] - 1) + 1;
    const std::int64_t total = std::max<std::int64_t>((out - 1) * w.strides[i] + extent - in, 0);
    w.pads[i] = same == "SAME_LOWER" ? total - total / 2 : total / 2;
    w.pads[rank + i] = total - w.pads[i];
  }
  return w;
}

/// Sum and count of one window; `at` is the output position along each axis.
void add_window(const Window& w, const std::vector<std::int64_t>& at, const Shape& x,
                const std::int64_t* q, std::int64_t zero, std::int64_t& sum, std::int64_t& count) {
  const std::size_t rank = w.kernel.size();
  std::vector<std::int64_t> tap(rank, 0);
  for (bool more = true; more;) {
    std::int64_t offset = 0;
    bool inside = true, padded = true;
    for (std::size_t i = 0; i < rank; ++i) {
      const std::int64_t size = x[static_cast<std::int64_t>(i) + 2];
      const std::int64_t p = at[i] * w.strides[i] - w.pads[i] + tap[i] * w.dilations[i];
      inside = inside && p >= 0 && p < size;
      padded = padded && p < size + w.pads[rank + i];
      offset = offset * size + p;
    }
    if (inside) sum += q[offset] - zero;
    count += inside || (w.count_pads && padded);
    more = false;
    for (std::size_t i = rank; i-- > 0 && !more;) {
      more = ++tap[i] < w.kernel[i];
      if (!more) tap[i] = 0;
    }
  }
}

Sums sums_of(const EvalContext& c, const Tensor& codes, const Shape& y, std::int64_t zero,
             bool global) {
  const Shape& x = codes.shape();
  const Window w = window_of(c, x, y, global);
  const auto q = to_ints(codes);
  Sums s{std::vector<std::int64_t>(static_cast<std::size_t>(y.numel())),
         std::vector<std::int64_t>(static_cast<std::size_t>(y.numel()))};
  const std::int64_t out = y.numel(2, y.rank()), in = x.numel(2, x.rank());
  for (std::int64_t i = 0; i < y.numel(); ++i) {
    std::vector<std::int64_t> at(w.kernel.size());
    std::int64_t rest = i % out;
    for (std::size_t axis = at.size(); axis-- > 0;) {
      at[axis] = rest % y[static_cast<std::int64_t>(axis) + 2];
      rest /= y[static_cast<std::int64_t>(axis) + 2];
    }
    add_window(w, at, x, q.data() + i / out * in, zero, s.sum[static_cast<std::size_t>(i)],
               s.count[static_cast<std::size_t>(i)]);
  }
  return s;
}

Tensor average_float32(const IntegerForm& form, const Sums& s, const Shape& y) {
  Tensor v(DType::float32, y);
  for (std::size_t i = 0; i < s.sum.size(); ++i) {
    v.mutable_data<float>()[i] =
        static_cast<float>(s.sum[i]) * (form.x.scale / static_cast<float>(s.count[i]));
  }
  return v;
}

Shape known_output(const EvalContext& c, const char* op) {
  return float_type(c.attributes(), c.input(0).shape().vec(), op).shape();
}

void eval_average(EvalContext& c, const char* op, bool global) {
  const IntegerForm form = pool_form(c);
  const Shape y = known_output(c, op);
  IntegerCounts counts;
  IntegerStats* stats = integer_stats();
  Tensor v;
  if (form.profile.scale == ScaleForm::dequantized)
    v = ops::run_standard(op, pool_attributes(c.attributes()),
                          {dequantize_codes(c.input(0), form.x)});
  else if (form.profile.scale == ScaleForm::float32)
    v = average_float32(form, sums_of(c, c.input(0), y, form.x.zero_point, global), y);
  else
    undefined_in_profile(form.profile, "an average pool");
  store_result(c, finish(form, std::move(v), Tensor(), stats != nullptr ? &counts : nullptr));
  if (stats != nullptr) stats->add(*c.node, counts);
}

void eval_max(EvalContext& c) {
  store_result(c, ops::run_standard("MaxPool", pool_attributes(c.attributes()), {c.input(0)}));
}

constexpr char average[] = "AveragePool";
constexpr char global_average[] = "GlobalAveragePool";

const RegisterOp registered{std::vector<OpDef>{
    {.type = "QGlobalAveragePool",
     .domain = assay_domain,
     .infer = infer_average<global_average>,
     .eval = [](EvalContext& c) { eval_average(c, global_average, true); }},
    {.type = "QAveragePool",
     .domain = assay_domain,
     .infer = infer_average<average>,
     .eval = [](EvalContext& c) { eval_average(c, average, false); }},
    {.type = "QMaxPool", .domain = assay_domain, .infer = infer_max, .eval = eval_max}}};

}  // namespace
}  // namespace assay::q_pool_op
