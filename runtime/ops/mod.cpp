// Mod (10, 13): remainder of x / y.
//
// fmod = 0 (integers only): the sign of y (Python); fmod = 1: the sign of x (C), exact for floats.
// An integer remainder by zero is an error; a float one is NaN.
#include "runtime/numeric/elementary.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/infer.h"

namespace assay::ops::mod_op {
namespace {

void infer(InferContext& c) {
  require_dtype(c, 0, number_type, "a number type");
  infer_broadcast(c);
}

template <class T>
T integer_remainder(T x, T y, bool c_style) {
  if (y == 0) throw Error({.what = "integer remainder by zero"});
  if constexpr (std::is_signed_v<T>) {
    if (y == T(-1)) return 0;  // min % -1 would overflow
    const T r = static_cast<T>(x % y);
    return !c_style && r != 0 && (r < 0) != (y < 0) ? static_cast<T>(r + y) : r;
  } else {
    return static_cast<T>(x % y);
  }
}

void eval(EvalContext& c) {
  const bool c_style = c.attributes().int_or("fmod", 0) != 0;
  visit_number(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (!std::is_integral_v<T> && !c_style) {
      throw Error({.what = "Mod of floats needs fmod = 1", .got = describe(c.input(0))});
    }
    if constexpr (std::is_integral_v<T>) {
      map_binary<T, T, T>(c.input(0), c.input(1), c.output(0), [c_style](const T& x, const T& y) {
        return integer_remainder<T>(x, y, c_style);
      });
    } else {
      map_binary<T, T, T>(c.input(0), c.input(1), c.output(0),
                          [](const Wide<T>& x, const Wide<T>& y) { return fmod_exact(x, y); });
    }
  });
}

const RegisterOp registered{{.type = "Mod", .since = 10, .infer = infer, .eval = eval}};

}  // namespace
}  // namespace assay::ops::mod_op
