// Faults of reading a normalization, a bias, or a constant operand.
#include <algorithm>
#include <cmath>

#include "tests/random_graphs/faults.h"

namespace assay::testing::parameter_faults {
namespace {

template <class F>
Tensor mapped(const Tensor& t, F&& f) {
  Tensor wide = convert(t, DType::float64).clone();
  std::size_t i = 0;
  for (double& x : wide.mutable_data<double>()) x = f(x, i++);
  return convert(convert(wide, DType::float32), t.dtype());
}

/// Changes parameter `i` of the first normalization where that has an effect.
template <class F>
bool change_parameter(FaultSite& s, std::size_t i, F&& f) {
  for (const NodeId n : s.nodes_of("BatchNormalization")) {
    const Tensor* t = s.constant(n, i);
    if (t == nullptr) continue;
    s.set_constant(n, i, mapped(*t, f));
    return true;
  }
  return false;
}

bool all_zero(const Tensor* t) {
  if (t == nullptr) return false;
  const auto x = to_doubles(*t);
  return std::all_of(x.begin(), x.end(), [](double v) { return v == 0; });
}

bool epsilon(FaultSite& s) {
  for (const NodeId n : s.nodes_of("BatchNormalization")) {
    if (all_zero(s.constant(n, 1))) continue;  // the same function
    Attributes a = s.graph.node(n).attributes;
    const float factor = s.random.pick<float>({0.0F, 0.5F, 1.2F, 10.0F});
    a.set("epsilon", a.float_or("epsilon", 1e-5F) * factor);
    s.graph.set_attributes(n, a);
    return true;
  }
  return false;
}

bool gamma_and_beta_swapped(FaultSite& s) {
  for (const NodeId n : s.nodes_of("BatchNormalization")) {
    const auto inputs = s.graph.node(n).inputs;
    s.graph.set_input(n, 1, inputs[2]);
    s.graph.set_input(n, 2, inputs[1]);
    return true;
  }
  return false;
}

bool mean_ignored(FaultSite& s) {
  return change_parameter(s, 3, [](double, std::size_t) { return 0.0; });
}

bool beta_ignored(FaultSite& s) {
  return change_parameter(s, 2, [](double, std::size_t) { return 0.0; });
}

bool gamma_ignored(FaultSite& s) {
  return change_parameter(s, 1, [](double, std::size_t) { return 1.0; });
}

bool sign_of_gamma_lost(FaultSite& s) {
  return change_parameter(s, 1, [](double x, std::size_t) { return std::fabs(x); });
}

/// s = γ/(v+ε).
bool root_forgotten(FaultSite& s) {
  for (const NodeId n : s.nodes_of("BatchNormalization")) {
    const Tensor* t = s.constant(n, 4);
    if (t == nullptr) continue;
    const double e = s.graph.node(n).attributes.float_or("epsilon", 1e-5F);
    s.set_constant(n, 4, mapped(*t, [&](double x, std::size_t) { return (x + e) * (x + e) - e; }));
    return true;
  }
  return false;
}

/// The parameters of the next channel.
bool channels_rotated(FaultSite& s) {
  for (const NodeId n : s.nodes_of("BatchNormalization")) {
    bool done = false;
    for (std::size_t i = 1; i < 5; ++i) {
      const Tensor* t = s.constant(n, i);
      if (t == nullptr || t->numel() < 2) continue;
      const auto old = to_doubles(*t);
      s.set_constant(n, i,
                     mapped(*t, [&](double, std::size_t k) { return old[(k + 1) % old.size()]; }));
      done = true;
    }
    if (done) return true;
  }
  return false;
}

bool bias_dropped(FaultSite& s) {
  for (const NodeId n : s.nodes_of("Conv|ConvTranspose|Gemm")) {
    const Tensor* t = s.constant(n, 2);
    if (t == nullptr) continue;
    s.set_constant(n, 2, Tensor::zeros(t->dtype(), t->shape()));
    return true;
  }
  return false;
}

/// (0 − μ)·s + β + b: the old bias behind the normalization.
bool bias_not_scaled(FaultSite& s) {
  for (const NodeId n : s.nodes_of("BatchNormalization")) {
    const NodeId front = s.graph.value(s.graph.node(n).inputs[0]).producer;
    if (!front.valid() || !s.nodes.count(s.graph.node(front).name)) continue;
    const Node& linear = s.graph.node(front);
    if (!linear.is("Conv") && !linear.is("ConvTranspose")) continue;
    const Tensor* bias = s.constant(front, 2);
    const Tensor* beta = s.constant(n, 2);
    if (bias == nullptr || beta == nullptr || bias->numel() != beta->numel()) continue;
    const auto b = to_doubles(*bias);
    s.set_constant(n, 2, mapped(*beta, [&](double x, std::size_t k) { return x + b[k]; }));
    s.set_constant(front, 2, Tensor::zeros(bias->dtype(), bias->shape()));
    return true;
  }
  return false;
}

std::size_t constant_side(const FaultSite& s, NodeId n) {
  return s.constant(n, 1) != nullptr ? 1 : s.constant(n, 0) != nullptr ? 0 : 2;
}

bool operand_ignored(FaultSite& s) {
  for (const NodeId n : s.nodes_of("Add|Sub|Mul|Div")) {
    const std::size_t side = constant_side(s, n);
    if (side == 2) continue;
    const bool factor = s.graph.node(n).is("Mul") || s.graph.node(n).is("Div");
    const Tensor& t = *s.constant(n, side);
    if (!is_float(t.dtype())) continue;
    s.set_constant(n, side, mapped(t, [&](double, std::size_t) { return factor ? 1.0 : 0.0; }));
    return true;
  }
  return false;
}

bool sides_swapped(FaultSite& s) {
  for (const NodeId n : s.nodes_of("Sub")) {
    if (constant_side(s, n) == 2) continue;
    const auto inputs = s.graph.node(n).inputs;
    s.graph.set_input(n, 0, inputs[1]);
    s.graph.set_input(n, 1, inputs[0]);
    return true;
  }
  return false;
}

/// x·k + c read as (x + c)·k.
bool order_swapped(FaultSite& s) {
  for (const NodeId n : s.nodes_of("Add")) {
    const std::size_t side = constant_side(s, n);
    if (side == 2) continue;
    const NodeId front = s.graph.value(s.graph.node(n).inputs[1 - side]).producer;
    if (!front.valid() || !s.graph.node(front).is("Mul")) continue;
    const std::size_t front_side = constant_side(s, front);
    if (front_side == 2) continue;
    const ValueId c = s.graph.node(n).inputs[side];
    const ValueId k = s.graph.node(front).inputs[front_side];
    s.graph.set_input(n, side, k);
    s.graph.set_input(front, front_side, c);
    s.graph.set_op(n, "Mul", "");
    s.graph.set_op(front, "Add", "");
    return true;
  }
  return false;
}

bool quantizer_scale(FaultSite& s) {
  for (const NodeId n : s.nodes_of("QuantizeLinear")) {
    const Tensor* t = s.constant(n, 1);
    if (t == nullptr) continue;
    s.set_constant(n, 1, mapped(*t, [](double x, std::size_t) { return x * 1.25; }));
    return true;
  }
  return false;
}

template <class F>
bool change_gemm(FaultSite& s, F&& f) {
  for (const NodeId n : s.nodes_of("Gemm")) {
    Attributes a = s.graph.node(n).attributes;
    if (!f(a, n)) continue;
    s.graph.set_attributes(n, a);
    return true;
  }
  return false;
}

bool gemm_alpha_ignored(FaultSite& s) {
  return change_gemm(s, [](Attributes& a, NodeId) {
    a.erase("alpha");
    return true;
  });
}

bool gemm_beta_ignored(FaultSite& s) {
  return change_gemm(s, [&](Attributes& a, NodeId n) {
    a.erase("beta");
    return s.constant(n, 2) != nullptr;
  });
}

bool gemm_transposed(FaultSite& s) {
  return change_gemm(s, [&](Attributes& a, NodeId n) {
    a.set("transB", 1 - a.int_or("transB", 0));
    const Tensor* w = s.constant(n, 1);
    return w != nullptr && w->shape()[0] == w->shape()[1] && w->numel() > 1;
  });
}

const RegisterFault faults[] = {
    RegisterFault({.name = "epsilon", .may_be_equivalent = true, .inject = epsilon}),
    RegisterFault({.name = "gamma_and_beta_swapped", .inject = gamma_and_beta_swapped}),
    RegisterFault({.name = "mean_ignored", .inject = mean_ignored}),
    RegisterFault({.name = "beta_ignored", .inject = beta_ignored}),
    RegisterFault({.name = "gamma_ignored", .inject = gamma_ignored}),
    RegisterFault({.name = "sign_of_gamma_lost", .inject = sign_of_gamma_lost}),
    RegisterFault({.name = "root_forgotten", .inject = root_forgotten}),
    RegisterFault({.name = "channels_rotated", .inject = channels_rotated}),
    RegisterFault({.name = "bias_dropped", .inject = bias_dropped}),
    RegisterFault({.name = "bias_not_scaled", .inject = bias_not_scaled}),
    RegisterFault({.name = "operand_ignored", .inject = operand_ignored}),
    RegisterFault({.name = "sides_swapped", .inject = sides_swapped}),
    RegisterFault({.name = "order_swapped", .inject = order_swapped}),
    RegisterFault(
        {.name = "quantizer_scale", .may_be_equivalent = true, .inject = quantizer_scale}),
    RegisterFault({.name = "gemm_alpha_ignored", .inject = gemm_alpha_ignored}),
    RegisterFault({.name = "gemm_beta_ignored", .inject = gemm_beta_ignored}),
    RegisterFault({.name = "gemm_transposed", .inject = gemm_transposed}),
};

}  // namespace
}  // namespace assay::testing::parameter_faults
