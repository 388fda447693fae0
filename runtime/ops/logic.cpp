// And, Or, Xor (1, 7) and Not (1) on bool; BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot (18) and
// BitShift (11) on integers.
//
// BitShift fills with zeros; a shift by the width or more gives 0. Before opset 7 the attributes
// `broadcast` and `axis` rule.
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/legacy_broadcast.h"

namespace assay::ops::logic_op {
namespace {

bool bool_type(DType t) { return t == DType::boolean; }

struct AndFn {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct OrFn {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct XorFn {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

void infer_bool(InferContext& c) {
  require_dtype(c, 0, bool_type, "bool");
  infer_binary(c, DType::boolean);
}

void infer_integer(InferContext& c) {
  require_dtype(c, 0, is_integer, "an integer type");
  infer_binary(c, DType::undefined);
}

template <class F>
void eval(EvalContext& c) {
  const Tensor b = second_operand(c);
  visit_dtype(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>)
      map_binary<T, T, T>(c.input(0), b, c.output(0),
                          [](T x, T y) { return F::template apply<T>(x, y); });
  });
}

void infer_not(InferContext& c) {
  require_dtype(c, 0, bool_type, "bool");
  infer_same(c);
}

void eval_not(EvalContext& c) {
  map_unary<bool, bool>(c.input(0), c.output(0), [](bool v) { return !v; });
}

void infer_bitwise_not(InferContext& c) {
  require_dtype(c, 0, is_integer, "an integer type");
  infer_same(c);
}

void eval_bitwise_not(EvalContext& c) {
  visit_dtype(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      map_unary<T, T>(c.input(0), c.output(0), [](T v) { return static_cast<T>(~v); });
  });
}

void eval_shift(EvalContext& c) {
  const std::string direction = c.attributes().string_or("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") {
    throw Error({.what = "attribute 'direction' of BitShift",
                 .got = "'" + direction + "'",
                 .expected = "LEFT or RIGHT"});
  }
  const bool left = direction == "LEFT";
  visit_dtype(c.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T> && std::is_unsigned_v<T> && !std::is_same_v<T, bool>) {
      map_binary<T, T, T>(c.input(0), c.input(1), c.output(0), [left](T x, T by) -> T {
        if (by >= 8 * sizeof(T)) return 0;
        const auto wide = static_cast<std::uint64_t>(x);
        return static_cast<T>(left ? wide << by : wide >> by);
      });
    } else {
      throw Error({.what = "BitShift needs an unsigned type",
                   .got = describe(c.input(0)),
                   .kind = ErrorKind::unsupported});
    }
  });
}

template <class F>
OpDef binary(const char* type, int since, Infer infer) {
  return {.type = type, .since = since, .infer = infer, .eval = eval<F>};
}

const RegisterOp registered{std::vector<OpDef>{
    binary<AndFn>("And", 1, infer_bool),
    binary<OrFn>("Or", 1, infer_bool),
    binary<XorFn>("Xor", 1, infer_bool),
    binary<AndFn>("BitwiseAnd", 18, infer_integer),
    binary<OrFn>("BitwiseOr", 18, infer_integer),
    binary<XorFn>("BitwiseXor", 18, infer_integer),
    {.type = "Not", .since = 1, .infer = infer_not, .eval = eval_not},
    {.type = "BitwiseNot", .since = 18, .infer = infer_bitwise_not, .eval = eval_bitwise_not},
    {.type = "BitShift", .since = 11, .infer = infer_integer, .eval = eval_shift}}};

}  // namespace
}  // namespace assay::ops::logic_op
