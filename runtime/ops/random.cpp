// RandomUniform, RandomNormal and their Like forms (1, 22): numbers from a fixed generator, the
// same on every machine and in every run.
//
// Element i is made from splitmix64 of (seed, i) alone. Uniform: low + (high - low) * k / 2^53 with
// 53 random bits k. Normal: mean + scale * sqrt(-2 ln u) * cos(2 pi v), u in (0, 1], v in [0, 1),
// elementary functions correctly rounded in double. Computed in double, rounded once. The seed is
// the bits of the attribute, or a hash of the node's name when it is absent, so that two nodes
// differ. The format defines no generator: other runtimes give other numbers.
#include <bit>
#include <cmath>
#include <numbers>

#include "runtime/numeric/elementary.h"
#include "runtime/ops/support/elementwise.h"

namespace assay::ops::random_op {
namespace {

std::uint64_t mixed(std::uint64_t v) {
  v += 0x9E3779B97F4A7C15ULL;
  v = (v ^ (v >> 30)) * 0xBF58476D1CE4E5B9ULL;
  v = (v ^ (v >> 27)) * 0x94D049BB133111EBULL;
  return v ^ (v >> 31);
}

std::uint64_t read_seed(const Node& node) {
  if (node.attributes.has("seed"))
    return std::bit_cast<std::uint32_t>(node.attributes.float_or("seed", 0.0F));
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char ch : node.name) hash = (hash ^ static_cast<unsigned char>(ch)) * 0x100000001B3ULL;
  return hash;
}

/// 53 random bits over 2^53: in [0, 1).
double unit(std::uint64_t seed, std::uint64_t i) {
  return static_cast<double>(mixed(mixed(seed) ^ mixed(i)) >> 11) * 0x1p-53;
}

double uniform(const Attributes& a, std::uint64_t seed, std::uint64_t i) {
  const auto low = static_cast<double>(a.float_or("low", 0.0F));
  const auto high = static_cast<double>(a.float_or("high", 1.0F));
  return low + (high - low) * unit(seed, i);
}

double normal(const Attributes& a, std::uint64_t seed, std::uint64_t i) {
  const double u = 1.0 - unit(seed, 2 * i);
  const double v = unit(seed, 2 * i + 1);
  const double length = std::sqrt(-2.0 * cr(LogFn{}, u));
  const double z = length * cr(CosFn{}, 2.0 * std::numbers::pi * v);
  return static_cast<double>(a.float_or("mean", 0.0F)) +
         static_cast<double>(a.float_or("scale", 1.0F)) * z;
}

DType read_dtype(const InferContext& c, DType missing) {
  const auto t =
      static_cast<DType>(c.attributes().int_or("dtype", static_cast<std::int64_t>(missing)));
  if (is_float(t)) return c.widen(t);
  throw Error({.what = "attribute 'dtype'",
               .got = to_string(t),
               .expected = "a float type",
               .kind = ErrorKind::unsupported});
}

void infer_shape(InferContext& c) {
  const DType dtype = read_dtype(c, DType::float32);
  const Shape shape(c.attributes().required_ints("shape"));
  bytes_of(dtype, shape);
  c.set_output(0, dtype, shape);
}

void infer_like(InferContext& c) {
  c.set_output(0, {read_dtype(c, c.input(0).dtype), c.input(0).dims});
}

template <double (*draw)(const Attributes&, std::uint64_t, std::uint64_t)>
void eval(EvalContext& c) {
  const std::uint64_t seed = read_seed(*c.node);
  visit_float(c.output(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto out = c.out<T>(0);
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<T>(draw(c.attributes(), seed, i));
  });
}

const RegisterOp registered{
    std::vector<OpDef>{{.type = "RandomUniform", .infer = infer_shape, .eval = eval<uniform>},
                       {.type = "RandomUniformLike", .infer = infer_like, .eval = eval<uniform>},
                       {.type = "RandomNormal", .infer = infer_shape, .eval = eval<normal>},
                       {.type = "RandomNormalLike", .infer = infer_like, .eval = eval<normal>}}};

}  // namespace
}  // namespace assay::ops::random_op
