// Batch normalization spelled in small operators, as Keras layers with fused=False and
// training=False arrive.
//
// Before:  with r = √(v+ε) and inv = γ/r in one of the spellings Reciprocal(Sqrt(v+ε)), 1/Sqrt,
// γ/Sqrt, (v+ε)^-0.5, times γ or not:
//            y = x·inv + (β − μ·inv)        scale and center         y = x·inv + (β − μ·inv), inv
//            without γ    center only y = x·inv + (−μ·inv)           scale only               y =
//            x·inv − μ·inv                         neither, Sub form y = (x − μ)·inv [+ β] y = (x −
//            μ)/r [·γ] [+ β]   the textbook order; x + (−μ) for x − μ
//          every operand on either side; β + (−(μ·inv)) for β − μ·inv
// After:   y = BatchNormalization(x; γ or 1, β or 0, μ, v; ε)
// Algebra: y = (x−μ)·γ/√(v+ε) + β for all x; no constant changes: E1. The absent factor is 1 and
// the absent shift 0. Declines when: an inner value of the data path is needed elsewhere; a
// parameter is not constant or may be overridden, is not one
//          value per channel on axis 1, or is of another type; ε is not a float32 scalar; the rank
//          of x is not known, or below 2; the opset is below 7. AMCT modes: x must be 4-D and come
//          from a Conv or Conv + bias addition.
#include <algorithm>

#include "fusion/linear.h"

namespace assay::recognize_batch_norm_rule {
namespace {

// ---- the pattern, built from its parts

Pattern variance() {
  return shared(commutative(op("Add", "", {parameter("var"), parameter("eps")})));
}
Pattern root_of_variance() { return shared(op("Sqrt", "", {variance()})); }

/// 1/√(v+ε)
Pattern inverse_root() {
  return either({shared(op("Reciprocal", "", {root_of_variance()})),
                 shared(op("Div", "", {parameter("one"), root_of_variance()})),
                 shared(op("Pow", "", {variance(), parameter("minus_half")}))});
}

/// γ/√(v+ε), or 1/√(v+ε); the node is captured, so that both places mean the same one.
std::vector<Pattern> scales() {
  std::vector<Pattern> all;
  for (Pattern r : inverse_root().inputs) {
    Pattern scaled = shared(commutative(op("Mul", "inv", {r, parameter("gamma")})));
    all.push_back(std::move(scaled));
    r.capture = "inv";
    all.push_back(std::move(r));
  }
  all.push_back(shared(op("Div", "inv", {parameter("gamma"), root_of_variance()})));
  return all;
}

Pattern mean_times_inv(const Pattern& inv) {
  return shared(commutative(op("Mul", "", {parameter("mean"), inv})));
}

/// β − μ·inv and its spellings without β.
std::vector<Pattern> shifts(const Pattern& inv) {
  const Pattern product = mean_times_inv(inv);
  const Pattern negated = either(
      {shared(op("Neg", "", {product})),
       shared(commutative(op("Mul", "", {shared(op("Neg", "", {parameter("mean")})), inv})))});
  return {shared(op("Sub", "", {parameter("beta"), product})),
          shared(commutative(op("Add", "", {parameter("beta"), negated}))), negated};
}

void add_keras_forms(std::vector<Pattern>& all) {
  for (const Pattern& inv : scales()) {
    const Pattern scaled = commutative(op("Mul", "", {any("x"), inv}));
    for (const Pattern& shift : shifts(inv))
      all.push_back(commutative(op("Add", "root", {scaled, shift})));
    all.push_back(op("Sub", "root", {scaled, mean_times_inv(inv)}));
  }
}

std::vector<Pattern> centered() {
  return {op("Sub", "", {any("x"), parameter("mean")}),
          commutative(op("Add", "", {any("x"), shared(op("Neg", "", {parameter("mean")}))}))};
}

void add_textbook_forms(std::vector<Pattern>& all) {
  for (const Pattern& c : centered()) {
    std::vector<Pattern> products;
    for (const Pattern& inv : scales())
      products.push_back(commutative(op("Mul", "scaled", {c, inv})));
    const Pattern divided = op("Div", "scaled", {c, root_of_variance()});
    products.push_back(commutative(op("Mul", "scaled_too", {divided, parameter("gamma")})));
    products.push_back(divided);
    for (const Pattern& p : products) {
      all.push_back(commutative(op("Add", "root", {p, parameter("beta")})));
      all.push_back(p);
    }
  }
}

std::vector<Pattern> every_form() {
  std::vector<Pattern> all;
  add_keras_forms(all);
  add_textbook_forms(all);
  return all;
}

// ---- guard and build

struct BnParts {
  Tensor gamma, beta, mean, var;
  float epsilon = 0;
  DType dtype = DType::float32;
};

std::optional<Decline> scalar_is(const RuleContext& ctx, const Match& m, const char* capture,
                                 double wanted) {
  if (!m.has(capture)) return std::nullopt;
  const Tensor* t = ctx.constant(m.value(capture));
  if (t != nullptr && t->numel() == 1 && to_doubles(*t)[0] == wanted) return std::nullopt;
  return Decline{};  // another formula, not a near-match
}

/// v+ε is symmetric, and either operand may be the scalar: ε is the one that is, v the other.
Match with_roles(const RuleContext& ctx, Match m) {
  if (ctx.constant(m.value("eps"))->numel() != 1 && ctx.constant(m.value("var"))->numel() == 1) {
    std::swap(m.values.at("eps"), m.values.at("var"));
  }
  return m;
}

std::variant<Decline, float> epsilon_of(const RuleContext& ctx, const Match& m) {
  const Tensor& t = *ctx.constant(m.value("eps"));
  const std::string name = "'" + ctx.graph().name(m.value("eps")) + "'";
  if (t.numel() != 1)
    return Decline{"epsilon " + name + " has shape " + to_string(t.shape()) + ", expected a scalar",
                   "store it as a scalar"};
  const double e = to_doubles(t)[0];
  if (static_cast<double>(static_cast<float>(e)) != e)
    return Decline{"epsilon " + name + " is not a float32 number", "round it to float32"};
  return static_cast<float>(e);
}

/// Channels from the largest parameter, checked against the value's type where that is known.
std::int64_t channels_of(const RuleContext& ctx, const Match& m) {
  std::int64_t channels = 1;
  for (const char* name : {"gamma", "beta", "mean", "var"}) {
    if (m.has(name)) channels = std::max(channels, ctx.constant(m.value(name))->numel());
  }
  const TensorType x = ctx.type(m.value("x"));
  if (x.dims && x.dims->size() >= 2 && (*x.dims)[1] > 0)
    channels = std::max(channels, (*x.dims)[1]);
  return channels;
}

std::variant<Decline, Tensor> parameter_of(const RuleContext& ctx, const Match& m,
                                           const char* capture, double absent,
                                           const ChannelTarget& to) {
  std::vector<double> values = {absent};
  if (m.has(capture)) {
    const auto found = per_channel(*ctx.constant(m.value(capture)), to);
    if (const Decline* why = declined(found))
      return Decline{std::string(capture) + ": " + why->reason, why->edit};
    values = std::get<std::vector<double>>(found);
  }
  if (values.size() == 1) values.assign(static_cast<std::size_t>(to.channels), values[0]);
  return convert(Tensor::of<double>(Shape{to.channels}, std::span<const double>(values)), to.dtype);
}

/// AMCT: 4-D input behind a Conv, or a Conv and its bias addition.
std::optional<Decline> amct_refuses(const RuleContext& ctx, ValueId x) {
  if (ctx.mode().rfind("amct-", 0) != 0) return std::nullopt;
  if (ctx.rank(x) != 4)
    return Decline{ctx.mode() + " takes a 4-D input only, got rank " + std::to_string(ctx.rank(x)),
                   "use --mode all"};
  const Graph& g = ctx.graph();
  const Node* front = g.producer(x);
  if (front != nullptr && front->is("Add")) {
    const bool right = ctx.constant(front->inputs[1]) != nullptr;
    front = g.producer(front->inputs[right ? 0 : 1]);
  }
  if (front != nullptr && front->is("Conv")) return std::nullopt;
  return Decline{ctx.mode() + " wants Conv or Conv + bias addition in front of the small operators",
                 "use --mode all"};
}

std::optional<Decline> read_parts(const RuleContext& ctx, const Match& m, BnParts& parts) {
  const ValueId x = m.value("x");
  const std::int64_t rank = ctx.rank(x);
  if (rank < 2)
    return Decline{"the rank of '" + ctx.graph().name(x) + "' is " +
                       (rank < 0 ? "not known" : std::to_string(rank)) + ", expected 2 or more",
                   "state the shape of the input"};
  parts.dtype = ctx.constant(m.value("var"))->dtype();
  if (parts.dtype != DType::float32 && parts.dtype != DType::float64)
    return Decline{"the parameters are " + to_string(parts.dtype), "store them as float32"};
  const ChannelTarget to{
      .dtype = parts.dtype, .rank = rank, .channels = channels_of(ctx, m), .from_end = rank - 1};
  const auto epsilon = epsilon_of(ctx, m);
  if (const auto* why = std::get_if<Decline>(&epsilon)) return *why;
  parts.epsilon = std::get<float>(epsilon);
  const std::tuple<const char*, double, Tensor*> wanted[] = {{"gamma", 1.0, &parts.gamma},
                                                             {"beta", 0.0, &parts.beta},
                                                             {"mean", 0.0, &parts.mean},
                                                             {"var", 0.0, &parts.var}};
  for (const auto& [name, absent, tensor] : wanted) {
    auto found = parameter_of(ctx, m, name, absent, to);
    if (const Decline* why = declined(found)) return *why;
    *tensor = std::get<Tensor>(std::move(found));
  }
  // What divides by zero or takes the root of a negative number is left as it was written.
  const ExactAffine steps({{.kind = AffineStep::Kind::batch_norm,
                            .gamma = to_doubles(parts.gamma),
                            .beta = to_doubles(parts.beta),
                            .mean = to_doubles(parts.mean),
                            .var = to_doubles(parts.var),
                            .epsilon = static_cast<double>(parts.epsilon)}});
  if (const auto why = steps.undefined_at(to.channels))
    return Decline{*why, "correct the parameter"};
  return std::nullopt;
}

std::optional<Decline> guard(RuleContext& ctx, const Match& m) {
  if (ctx.constant(m.value("x")) != nullptr) return Decline{};
  if (auto why = scalar_is(ctx, m, "one", 1.0)) return why;
  if (auto why = scalar_is(ctx, m, "minus_half", -0.5)) return why;
  if (ctx.graph().opset() < 7)
    return Decline{"opset " + std::to_string(ctx.graph().opset()) + " is below 7",
                   "convert the model"};
  if (auto why = amct_refuses(ctx, m.value("x"))) return why;
  BnParts parts;
  if (auto why = read_parts(ctx, with_roles(ctx, m), parts)) return why;
  ctx.scratch = std::move(parts);
  return std::nullopt;
}

void build(RuleContext& ctx, const Match& m) {
  const auto parts = std::any_cast<BnParts>(std::move(ctx.scratch));
  const ValueId out = ctx.node(m.root).outputs[0];
  const std::string root_name = ctx.node(m.root).name;
  const std::string stem = root_name.empty() ? ctx.graph().name(out) : root_name;
  const ValueId x = m.value("x");
  ctx.erase(m.root);
  for (const NodeId n : m.region) {
    if (n != m.root && ctx.graph().use_count(ctx.node(n).outputs[0]) == 0) ctx.erase(n);
  }
  Node bn{.name = root_name, .op_type = "BatchNormalization"};
  bn.inputs = {x, ctx.make_constant(stem + "_scale", parts.gamma),
               ctx.make_constant(stem + "_shift", parts.beta),
               ctx.make_constant(stem + "_mean", parts.mean),
               ctx.make_constant(stem + "_var", parts.var)};
  bn.outputs = {out};
  bn.attributes.set("epsilon", parts.epsilon);
  ctx.add(std::move(bn));
}

const RegisterRewrite registered{{
    .name = "recognize_batch_norm",
    .stage = Stage::clean,
    .summary = "batch normalization in small operators -> BatchNormalization",
    .patterns = every_form(),
    .rows = {"F8", "M4"},
    .sets = {"amct-onnx", "amct-tf"},
    .verdict = "E1",
    .proof = {"algebra", "structure", "radius"},
    .refusals = {"second reader", "inner graph output", "captured by a subgraph",
                 "caller-fed parameter", "broadcast shape", "dtype", "epsilon not a float32 scalar",
                 "rank not known", "opset < 7", "variance + epsilon not positive",
                 "AMCT: rank or operator in front"},
    .test = "rules/recognize_batch_norm_test.cpp",
    .guard = guard,
    .build = build,
}};

}  // namespace
}  // namespace assay::recognize_batch_norm_rule
