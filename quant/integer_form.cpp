#include "quant/integer_form.h"

namespace assay {
namespace {

template <class E>
void choose(const Attributes& a, const std::string& key, E& field,
            std::initializer_list<std::pair<const char*, E>> names) {
  if (!a.has(key)) return;
  const std::string value = a.string_or(key, "");
  std::string known;
  for (const auto& [name, e] : names) {
    if (value == name) {
      field = e;
      return;
    }
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  throw Error({.what = "unknown value of attribute '" + key + "'",
               .got = "'" + value + "'",
               .expected = known});
}

std::optional<float> optional_float(const Attributes& a, const char* key) {
  if (!a.has(key)) return std::nullopt;
  return a.float_or(key, 0);
}

void check(const QuantParams& p, const std::string& what) {
  if (p.dtype == DType::float32) return;
  const CodeRange range = p.range();
  if (std::isfinite(p.scale) && p.scale > 0 && p.zero_point >= range.lo && p.zero_point <= range.hi)
    return;
  throw Error({.what = "scale or zero point of " + what + " is out of range",
               .got = std::to_string(p.scale) + ", " + std::to_string(p.zero_point)});
}

}  // namespace

QuantParams read_params(const Attributes& a, const std::string& prefix, DType dtype) {
  const QuantParams p{dtype, a.float_or(prefix + "_scale", 1), a.int_or(prefix + "_zero_point", 0)};
  check(p, prefix);
  return p;
}

NumericProfile node_profile(const Attributes& a) {
  NumericProfile p = find_profile(a.string_or("profile", "onnx-qdq"));
  choose(a, "acc", p.pairs, {{"exact", PairModel::none}, {"s16pair", PairModel::s16pair}});
  choose(a, "s8", p.s8,
         {{"plain", S8Form::plain}, {"halved", S8Form::halved}, {"plus128", S8Form::plus128}});
  choose(a, "comp", p.compensation, {{"s32", Compensation::s32}, {"f32", Compensation::f32}});
  choose(a, "residual_form", p.fma, {{"sum_fma", true}, {"sum_mul_add", false}, {"none", p.fma}});
  return p;
}

IntegerActivation read_activation(const Attributes& a) {
  return {.type = a.string_or("activation", ""),
          .min = optional_float(a, "act_min"),
          .max = optional_float(a, "act_max"),
          .alpha = a.float_or("act_alpha",
                              a.string_or("activation", "") == "HardSigmoid" ? 0.2F : 0.01F),
          .beta = a.float_or("act_beta", 0.5F)};
}

IntegerForm read_integer_form(const EvalContext& c) {
  const Attributes& a = c.attributes();
  IntegerForm f{.x = read_params(a, "x", c.input(0).dtype()),
                .w_scales = a.floats_or("w_scales", {1}),
                .y = read_params(a, "y", static_cast<DType>(a.int_or("y_dtype", 2))),
                .activation = read_activation(a),
                .profile = node_profile(a)};
  if (c.has_input(3)) {
    f.residual = read_params(a, "residual", c.input(3).dtype());
    if (a.has("mid_scale"))
      f.mid = read_params(a, "mid", static_cast<DType>(a.int_or("mid_dtype", 2)));
  }
  if (f.w_scales.empty()) throw Error({.what = "w_scales is empty"});
  return f;
}

DType integer_output_type(const InferContext& c) {
  const auto t = static_cast<DType>(c.attributes().int_or("y_dtype", 2));
  if (t == DType::float32) return c.widen(t);
  code_range(t);
  return t;
}

void undefined_in_profile(const NumericProfile& p, const std::string& what) {
  throw Error(
      {.what = "profile '" + p.name + "' does not define " + what, .kind = ErrorKind::unsupported});
}

}  // namespace assay
