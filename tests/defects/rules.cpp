// Rule-level defects: mutated rules of Assay's own kind, and results of the right rules changed
// afterwards. Every one must end E5.
#include <cmath>

#include "fusion/fold_rule.h"
#include "fusion/pipeline.h"
#include "quant/unfuse.h"
#include "tests/defects/carriers.h"
#include "tests/defects/suite.h"

namespace assay::defects {
namespace {

using Mutation = void (*)(AffineStep&, LinearOp&);

void rotate(AffineStep& s, std::size_t by) {
  for (auto* v : {&s.gamma, &s.beta, &s.mean, &s.var})
    std::rotate(v->begin(), v->begin() + static_cast<std::ptrdiff_t>(by), v->end());
}

struct Named {
  const char* name;
  Mutation mutate;
  bool (*fits)(const Carrier&) = nullptr;
};

/// What a wrong rule would do to the numbers of a normalization, or to the operator it folds into.
constexpr Named formulas[] = {
    {"epsilon_20_percent", [](AffineStep& s, LinearOp&) { s.epsilon *= 1.2; }},
    {"epsilon_0.1_percent", [](AffineStep& s, LinearOp&) { s.epsilon *= 1.001; }},
    {"epsilon_dropped", [](AffineStep& s, LinearOp&) { s.epsilon = 0; }},
    {"epsilon_in_double", [](AffineStep& s, LinearOp&) { s.epsilon = 1e-5; }},
    {"gamma_beta_swapped", [](AffineStep& s, LinearOp&) { std::swap(s.gamma, s.beta); }},
    {"gamma_sign_lost",
     [](AffineStep& s, LinearOp&) {
       for (double& g : s.gamma) g = std::fabs(g);
     }},
    {"mean_sign",
     [](AffineStep& s, LinearOp&) {
       for (double& m : s.mean) m = -m;
     }},
    {"beta_dropped", [](AffineStep& s, LinearOp&) { s.beta.assign(s.beta.size(), 0.0); }},
    {"root_forgotten",
     [](AffineStep& s, LinearOp&) {
       for (double& v : s.var) v = (v + s.epsilon) * (v + s.epsilon) - s.epsilon;
     }},
    {"epsilon_outside_the_root",
     [](AffineStep& s, LinearOp&) {
       for (double& v : s.var) {
         const double root = std::sqrt(v) + s.epsilon;
         v = root * root - s.epsilon;
       }
     }},
    {"channels_rotated", [](AffineStep& s, LinearOp&) { rotate(s, 1); }},
    {"grouped_slice_shifted",
     [](AffineStep& s, LinearOp& op) {
       rotate(s, static_cast<std::size_t>(op.channels / op.group));
     },
     [](const Carrier& c) { return c.groups > 1; }},
    {"bias_dropped",
     [](AffineStep&, LinearOp& op) {
       op.bias_value = {};
       op.bias = {};
     },
     [](const Carrier& c) { return c.bias; }},
};
constexpr std::size_t formula_count = std::size(formulas);

/// guard_batch_norm with a defect.
template <std::size_t K>
std::optional<Decline> guard(RuleContext& ctx, const Match& match) {
  const NodeId bn = match.node("bn");
  auto linear = as_linear(ctx, match.node("op"));
  if (const auto* why = std::get_if<Decline>(&linear)) return *why;
  LinearOp op = std::get<LinearOp>(linear);
  const auto steps = batch_norm_steps(ctx, bn, op.channels);
  if (const auto* why = std::get_if<Decline>(&steps)) return *why;
  AffineStep step = std::get<ExactAffine>(steps).steps()[0];
  formulas[K].mutate(step, op);
  return plan_fold(ctx, op, ExactAffine({step}), {bn});
}

std::string rule_name(std::size_t k) { return std::string("defect_") + formulas[k].name; }

template <std::size_t K>
void register_rule() {
  // The registry keeps what it is given; the object itself may go.
  RegisterRewrite{{.name = rule_name(K),
                   .stage = Stage::fold,
                   .summary = "a fold with a defect",
                   .patterns = {op("BatchNormalization", "bn", {op(linear_types, "op")})},
                   .in_all = false,
                   .verdict = "E2",
                   .proof = {},
                   .refusals = {},
                   .guard = guard<K>,
                   .build = build_fold}};
}

template <std::size_t... K>
void register_rules(std::index_sequence<K...>) {
  (register_rule<K>(), ...);
}

Kind formula_kind(std::size_t k) {
  return {
      formulas[k].name, "rule", [k](std::uint64_t seed) {
        std::vector<Case> cases;
        for (const Carrier& c : carriers()) {
          if (formulas[k].fits != nullptr && !formulas[k].fits(c)) continue;
          const Graph o = original(c, draw(c, seed));
          FusionResult r = fuse(o, {.mode = rule_name(k)});
          cases.push_back({c.name, o, std::move(r.graph), std::move(r.log), draw_input(c, seed)});
        }
        return cases;
      }};
}

// ---- right rules, their result changed

using Change = std::function<bool(Graph&, const Carrier&)>;

/// The weight (input 1) or bias (input 2) of the only linear operator.
bool change_constant(Graph& g, std::size_t input, const std::function<void(std::span<float>)>& f) {
  for (const NodeId n : g.node_ids()) {
    const Node& node = g.node(n);
    if (node.op_type != "Conv" && node.op_type != "ConvTranspose" && node.op_type != "Gemm")
      continue;
    const ValueId v = node.inputs[input];
    Tensor t = g.constant(v)->clone();
    f(t.mutable_data<float>());
    g.set_initializer(v, t);
    return true;
  }
  return false;
}

bool replace_op(Graph& g, const std::string& from, const std::string& to) {
  for (const NodeId n : g.node_ids()) {
    if (!g.node(n).is(from)) continue;
    while (g.node(n).inputs.size() > 1 && to == "Relu") return false;
    g.set_op(n, to, "");
    return true;
  }
  return false;
}

/// Add(b0, r) then Relu -> Relu then Add.
bool relu_first(Graph& g) {
  for (const NodeId n : g.node_ids()) {
    if (!g.node(n).is("Add")) continue;
    const ValueId b0 = g.node(n).inputs[0];
    const ValueId active = g.add_value(g.fresh_name("active"));
    g.add_node({.name = "early", .op_type = "Relu", .inputs = {b0}, .outputs = {active}});
    g.set_input(n, 0, active);
    return replace_op(g, "Relu", "Relu") && [&] {
      for (const NodeId m : g.node_ids()) {
        if (g.node(m).is("Relu") && g.node(m).name != "early") g.set_op(m, "Identity", "");
      }
      return true;
    }();
  }
  return false;
}

bool residual_doubled(Graph& g) {
  for (const NodeId n : g.node_ids()) {
    if (!g.node(n).is("Add")) continue;
    g.set_input(n, 1, g.node(n).inputs[0]);
    return true;
  }
  return false;
}

float cut(float x, int bits) {
  const int e = std::ilogb(x);
  return static_cast<float>(
      std::ldexp(std::nearbyint(std::ldexp(static_cast<double>(x), bits - 1 - e)), e - bits + 1));
}

Kind changed(const std::string& name, Change change) {
  return {name, "rule", [=](std::uint64_t seed) {
            std::vector<Case> cases;
            for (const Carrier& c : carriers()) {
              const Graph o = original(c, draw(c, seed));
              FusionResult r = fuse(o, {.mode = "all"});
              Graph f = unfuse(r.graph);
              if (!change(f, c)) continue;
              cases.push_back({c.name, o, std::move(f), std::move(r.log), draw_input(c, seed)});
            }
            return cases;
          }};
}

Kind changed_weights(const std::string& name, const std::function<void(std::span<float>)>& f) {
  return changed(name, [=](Graph& g, const Carrier&) { return change_constant(g, 1, f); });
}

std::vector<Kind> result_kinds() {
  return {
      changed_weights("weight_one_ulp",
                      [](std::span<float> w) { w[1] = std::nextafter(w[1], 100.0F); }),
      changed_weights("weight_2^-10", [](std::span<float> w) { w[2] *= 1 + 0x1p-10F; }),
      changed_weights("half_precision",
                      [](std::span<float> w) {
                        for (float& x : w) x = cut(x, 11);
                      }),
      changed_weights("weights_swapped", [](std::span<float> w) { std::swap(w[0], w[1]); }),
      changed_weights("weight_sign", [](std::span<float> w) { w[0] = -w[0]; }),
      changed("bias_one_ulp",
              [](Graph& g, const Carrier&) {
                return change_constant(
                    g, 2, [](std::span<float> b) { b[0] = std::nextafter(b[0], 100.0F); });
              }),
      changed("relu_dropped",
              [](Graph& g, const Carrier&) { return replace_op(g, "Relu", "Identity"); }),
      changed("sigmoid_for_tanh",
              [](Graph& g, const Carrier&) { return replace_op(g, "Sigmoid", "Tanh"); }),
      changed("add_for_sub", [](Graph& g, const Carrier&) { return replace_op(g, "Add", "Sub"); }),
      changed("relu_before_add", [](Graph& g, const Carrier&) { return relu_first(g); }),
      changed("residual_overwritten", [](Graph& g, const Carrier&) { return residual_doubled(g); }),
  };
}

}  // namespace

std::vector<Kind> rule_kinds() {
  static const bool once = [] {
    register_rules(std::make_index_sequence<formula_count>());
    return true;
  }();
  (void)once;
  std::vector<Kind> list;
  for (std::size_t k = 0; k < formula_count; ++k) list.push_back(formula_kind(k));
  for (Kind& k : result_kinds()) list.push_back(std::move(k));
  return list;
}

}  // namespace assay::defects
