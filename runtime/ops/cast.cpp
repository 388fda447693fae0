// Cast (1, 6, 9, 13, 19, 21) and CastLike (15, 19, 21): every element in another type.
//
// To a float type: one rounding, nearest even; overflow gives an infinity. To an integer type:
// truncated towards zero; out of range gives the nearest bound and NaN gives 0 (the format leaves
// both open). Between integer types: the low bits. To bool: true unless zero. `saturate` only
// concerns 8-bit float types. Under f64 and dd the float types are float64 and dd.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "runtime/ops/support/movement.h"
#include "runtime/ops/support/truncate.h"

namespace assay::ops::cast_op {
namespace {

/// Target of Cast; at opset 1 a name ("FLOAT"), later a number.
DType read_target(const InferContext& c) {
  if (c.opset >= 6) return static_cast<DType>(c.attributes().required_int("to"));
  std::string name = c.attributes().string_or("to", "");
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char ch) { return static_cast<char>(ch >= 'A' && ch <= 'Z' ? ch + 32 : ch); });
  if (const auto t = parse_dtype(name)) return *t;
  throw Error({.what = "unsupported element type",
               .where = "attribute 'to'",
               .got = "'" + name + "'",
               .kind = ErrorKind::unsupported});
}

void infer_cast(InferContext& c) {
  const DType to = read_target(c);
  if (size_of(to) == 0) {
    throw Error({.what = "unsupported element type",
                 .where = "attribute 'to'",
                 .got = to_string(to),
                 .kind = ErrorKind::unsupported});
  }
  c.set_output(0, {c.widen(to), c.input(0).dims});
}

void infer_like(InferContext& c) { c.set_output(0, {c.input(1).dtype, c.input(0).dims}); }

void eval(EvalContext& c) { c.output(0) = truncating_convert(c.input(0), c.output(0).dtype()); }

/// Relative error of the rounding to the target type.
double target_unit(const BoundContext& c, DType to) {
  switch (to) {
    case DType::float16:
      return std::max(c.unit, c.unit >= 0x1p-24 ? 0x1p-11 : 0.0);
    case DType::bfloat16:
      return std::max(c.unit, c.unit >= 0x1p-24 ? 0x1p-8 : 0.0);
    default:
      return c.unit;
  }
}

/// A float target adds one rounding. An integer target passes no finite radius on: truncation is
/// not continuous.
void bound(BoundContext& c) {
  const auto to = static_cast<DType>(c.node->attributes.int_or("to", 1));
  const bool exact = c.radii.empty() || !c.radii[0].defined();
  const double unit = target_unit(c, to);
  const double tiny = to == DType::float16 && c.unit >= 0x1p-24 ? 0x1p-24 : c.tiny;
  bound_exact(c);
  const auto y = to_doubles(c.outputs[0]);
  const auto out = c.result[0].mutable_data<double>();
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double passed = exact ? 0.0 : c.radii[0].data<double>()[i];
    if (is_float(to)) {
      out[i] = (passed + unit * (std::fabs(y[i]) + passed) + tiny) * (1.0 + 0x1p-40);
    } else if (passed > 0.0) {
      out[i] = std::numeric_limits<double>::infinity();
    }
  }
}

const RegisterOp registered{std::vector<OpDef>{
    {.type = "Cast", .since = 1, .infer = infer_cast, .eval = eval, .bound = bound},
    {.type = "CastLike", .since = 15, .infer = infer_like, .eval = eval}}};

}  // namespace
}  // namespace assay::ops::cast_op
