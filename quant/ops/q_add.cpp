// QAdd: sum of two tensors of codes with an activation.
//
//   y = requantize(activation((a - z_a) * a_scale + (b - z_b) * b_scale))
//   dequantized   each operand and the sum rounded to float32
//   float32       v = f32(a - z_a) * s_a;  v = fma(f32(b - z_b), s_b, v)  (product rounded first
//   without fma);  then as finish.h others        the real sum, zero point added before or after
//   one rounding as the profile says; Relu and Clip as bounds on codes
// Both operands have the same shape. Attributes: integer_form.h.
#include "quant/finish.h"
#include "runtime/numeric/quantize_dd.h"

namespace assay::q_add_op {
namespace {

void infer(InferContext& c) { c.set_output(0, {integer_output_type(c), c.input(0).dims}); }

float difference(std::int64_t code, const QuantParams& p) {
  return static_cast<float>(code - p.zero_point);
}

Tensor sum_float32(const IntegerForm& form, const QuantParams& b_params, const Tensor& a,
                   const Tensor& b) {
  Tensor v(DType::float32, a.shape());
  const auto x = to_ints(a), y = to_ints(b);
  const auto out = v.mutable_data<float>();
  for (std::size_t i = 0; i < out.size(); ++i) {
    const float first = difference(x[i], form.x) * form.x.scale;
    const float second = difference(y[i], b_params);
    const float product = second * b_params.scale;
    out[i] = form.profile.fma ? std::fma(second, b_params.scale, first) : first + product;
  }
  return v;
}

Tensor sum_dequantized(const IntegerForm& form, const QuantParams& b_params, const Tensor& a,
                       const Tensor& b) {
  Tensor v = dequantize_codes(a, form.x);
  const Tensor w = dequantize_codes(b, b_params);
  const auto out = v.mutable_data<float>();
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = out[i] + w.data<float>()[i];
  return v;
}

/// Quotient of the real sum by y_scale. The products are exact in double-double, their sum has an
/// error below 2^-100.
std::int64_t exact_code(const IntegerForm& form, const QuantParams& b_params, std::int64_t a,
                        std::int64_t b) {
  const dd sum =
      dd(static_cast<double>(a - form.x.zero_point)) * dd(static_cast<double>(form.x.scale)) +
      dd(static_cast<double>(b - b_params.zero_point)) * dd(static_cast<double>(b_params.scale));
  const bool before = form.profile.zero_point_before_rounding;
  const dd value = sum / dd(static_cast<double>(form.y.scale)) +
                   dd(before ? static_cast<double>(form.y.zero_point) : 0.0);
  const std::int64_t zero = before ? 0 : form.y.zero_point;
  return code_of(value, zero, form.y.range());
}

Tensor exact_codes(const IntegerForm& form, const QuantParams& b_params, const Tensor& a,
                   const Tensor& b) {
  CodeRange bounds = form.y.range();
  if (form.activation.type == "Relu")
    bounds.lo = std::max(bounds.lo, form.y.zero_point);
  else if (!form.activation.type.empty())
    undefined_in_profile(form.profile, "the activation " + form.activation.type);
  const auto x = to_ints(a), y = to_ints(b);
  Tensor codes(form.y.dtype, a.shape());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::int64_t code =
        std::clamp(exact_code(form, b_params, x[i], y[i]), bounds.lo, bounds.hi);
    if (form.y.dtype == DType::uint8)
      codes.mutable_data<std::uint8_t>()[i] = static_cast<std::uint8_t>(code);
    else
      codes.mutable_data<std::int8_t>()[i] = static_cast<std::int8_t>(code);
  }
  return codes;
}

Tensor run(const IntegerForm& form, const QuantParams& b_params, EvalContext& c,
           IntegerCounts* counts) {
  const Tensor &a = c.input(0), &b = c.input(1);
  switch (form.profile.scale) {
    case ScaleForm::dequantized:
      return finish(form, sum_dequantized(form, b_params, a, b), Tensor(), counts);
    case ScaleForm::float32:
      return finish(form, sum_float32(form, b_params, a, b), Tensor(), counts);
    case ScaleForm::exact:
      return exact_codes(form, b_params, a, b);
    default:
      undefined_in_profile(form.profile, "an addition");
  }
}

void eval(EvalContext& c) {
  const Attributes& attributes = c.attributes();
  if (!(c.input(0).shape() == c.input(1).shape())) {
    throw Error({.what = "operands of an integer Add differ in shape",
                 .got = describe(c.input(0)) + " and " + describe(c.input(1))});
  }
  const IntegerForm form{
      .x = read_params(attributes, "a", c.input(0).dtype()),
      .y = read_params(attributes, "y", static_cast<DType>(attributes.int_or("y_dtype", 2))),
      .activation = read_activation(attributes),
      .profile = node_profile(attributes)};
  IntegerCounts counts;
  IntegerStats* stats = integer_stats();
  store_result(c, run(form, read_params(attributes, "b", c.input(1).dtype()), c,
                      stats != nullptr ? &counts : nullptr));
  if (stats != nullptr) stats->add(*c.node, counts);
}

const RegisterOp registered{{.type = "QAdd", .domain = assay_domain, .infer = infer, .eval = eval}};

}  // namespace
}  // namespace assay::q_add_op
