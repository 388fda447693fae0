#include "validation/certificate/operators.h"

#include <algorithm>
#include <limits>

namespace assay {
namespace {

void erase_resize_defaults(Attributes& a) {
  const std::pair<const char*, const char*> texts[] = {
      {"coordinate_transformation_mode", "half_pixel"},
      {"mode", "nearest"},
      {"nearest_mode", "round_prefer_floor"},
      {"keep_aspect_ratio_policy", "stretch"}};
  for (const auto& [name, text] : texts) {
    if (a.string_or(name, text) == text) a.erase(name);
  }
  if (a.float_or("cubic_coeff_a", -0.75F) == -0.75F) a.erase("cubic_coeff_a");
  if (a.float_or("extrapolation_value", 0) == 0) a.erase("extrapolation_value");
  for (const char* name : {"exclude_outside", "antialias"}) {
    if (a.int_or(name, 0) == 0) a.erase(name);
  }
}

/// Parameters of activations; a Clip without a bound has an infinite one.
void erase_activation_defaults(const Node& n, Attributes& a) {
  const auto erase = [&](const char* name, float standard) {
    if (a.has(name) && a.float_or(name, standard) == standard) a.erase(name);
  };
  if (n.op_type == "LeakyRelu") erase("alpha", 0.01F);
  if (n.op_type == "Elu") erase("alpha", 1.0F);
  if (n.op_type == "HardSigmoid") erase("alpha", 0.2F), erase("beta", 0.5F);
  if (n.op_type == "Gelu" && a.string_or("approximate", "none") == "none") a.erase("approximate");
  if (n.op_type != "Clip") return;
  constexpr float largest = std::numeric_limits<float>::max();
  if (a.float_or("min", -largest) <= -largest) a.erase("min");
  if (a.float_or("max", largest) >= largest) a.erase("max");
}

/// What a fused operator states although it is the default.
void erase_linear_defaults(const Node& n, Attributes& a) {
  if (n.op_type == "Gemm") {
    for (const char* name : {"alpha", "beta"}) {
      if (a.float_or(name, 1) == 1) a.erase(name);
    }
    for (const char* name : {"transA", "transB"}) {
      if (a.int_or(name, 0) == 0) a.erase(name);
    }
  }
  const auto more = a.ints_or("output_padding", {});
  if (std::all_of(more.begin(), more.end(), [](std::int64_t p) { return p == 0; }))
    a.erase("output_padding");
}

/// Conv's kernel_shape only repeats the weights' shape, and attributes at their default change
/// nothing.
Attributes essential(const Node& n) {
  Attributes a = n.attributes;
  a.erase("kernel_shape");
  if (a.int_or("group", 1) == 1) a.erase("group");
  for (const char* name : {"ceil_mode", "storage_order", "count_include_pad"}) {
    if (a.int_or(name, 0) == 0) a.erase(name);
  }
  if (n.op_type == "Resize") erase_resize_defaults(a);
  erase_activation_defaults(n, a);
  erase_linear_defaults(n, a);
  if (n.op_type.rfind("Reduce", 0) == 0 && a.int_or("keepdims", 1) == 1) a.erase("keepdims");
  if (a.int_or("noop_with_empty_axes", 0) == 0) a.erase("noop_with_empty_axes");
  if (a.string_or("auto_pad", "NOTSET") == "NOTSET") a.erase("auto_pad");
  for (const char* name : {"strides", "dilations"}) {
    bool ones = true;
    for (const std::int64_t x : a.ints_or(name, {})) ones = ones && x == 1;
    if (ones) a.erase(name);
  }
  bool zeros = true;
  for (const std::int64_t x : a.ints_or("pads", {})) zeros = zeros && x == 0;
  if (zeros) a.erase("pads");
  return a;
}

}  // namespace

bool same_operator(const Node& p, const Node& q) {
  return p.op_type == q.op_type && p.domain == q.domain && same(essential(p), essential(q));
}

std::size_t output_index(const Node& n, ValueId v) {
  std::size_t i = 0;
  while (n.outputs[i] != v) ++i;
  return i;
}

bool clips_nothing(const Graph& g, const Node& n, std::size_t i) {
  if (!n.is("Clip") || i == 0 || i > 2) return false;
  if (!n.has_input(i)) return true;
  const Tensor* t = g.constant(n.inputs[i]);
  if (t == nullptr || t->numel() != 1 || !is_float(t->dtype())) return false;
  constexpr double largest = std::numeric_limits<float>::max();
  const double bound = to_doubles(*t)[0];
  return i == 1 ? bound <= -largest : bound >= largest;
}

bool commutes(const Node& n) { return (n.is("Add") || n.is("Mul")) && n.inputs.size() == 2; }

}  // namespace assay
