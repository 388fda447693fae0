// Registration of the fused operators of ai.assay; fused.h states their inputs, attributes and
// roundings, and support/fused_eval.cpp evaluates them.
#include "runtime/ops/fused.h"

#include <algorithm>
#include <limits>

#include "runtime/op.h"
#include "runtime/ops/support/call_op.h"
#include "runtime/ops/support/fused_decompose.h"
#include "runtime/ops/support/fused_eval.h"

namespace assay {
namespace {

/// Takes `word` off the front of `text`.
bool take(std::string& text, const std::string& word) {
  if (text.rfind(word, 0) != 0) return false;
  text.erase(0, word.size());
  return true;
}

void set_missing(Attributes& a, const std::string& name, Attribute value) {
  if (!a.has(name)) a.set(name, std::move(value));
}

void complete_base(Attributes& a, const std::string& base, std::size_t axes) {
  if (base == "Conv" || base == "ConvTranspose") {
    set_missing(a, "strides", std::vector<std::int64_t>(axes, 1));
    set_missing(a, "dilations", std::vector<std::int64_t>(axes, 1));
    set_missing(a, "group", std::int64_t{1});
    set_missing(a, "auto_pad", std::string("NOTSET"));
    // ONNX forbids both, and ONNX Runtime refuses pads beside another auto_pad.
    if (a.string_or("auto_pad", "NOTSET") == "NOTSET")
      set_missing(a, "pads", std::vector<std::int64_t>(2 * axes, 0));
  }
  if (base == "ConvTranspose") set_missing(a, "output_padding", std::vector<std::int64_t>(axes, 0));
  if (base == "Gemm") {
    set_missing(a, "alpha", 1.0F);
    set_missing(a, "beta", 1.0F);
    set_missing(a, "transA", std::int64_t{0});
    set_missing(a, "transB", std::int64_t{0});
  }
}

/// Default alpha of an activation; beta is HardSigmoid's only.
float default_alpha(const std::string& activation) {
  if (activation == "LeakyRelu") return 0.01F;
  return activation == "HardSigmoid" ? 0.2F : 1.0F;
}

bool has_alpha(const std::string& activation) {
  return activation == "LeakyRelu" || activation == "HardSigmoid" || activation == "Elu";
}

/// `act_alpha`; nodes of bases without an alpha of their own may also call it `alpha`.
float activation_float(const FusedForm& form, const Attributes& fused, const std::string& name,
                       float missing) {
  const float plain = form.base == "Gemm" ? missing : fused.float_or(name, missing);
  return fused.float_or("act_" + name, plain);
}

}  // namespace

const std::vector<std::string>& fused_bases() {
  static const std::vector<std::string> bases{"ConvTranspose", "Conv", "Gemm", "MatMul", "Add"};
  return bases;
}

const std::vector<std::string>& fused_activations() {
  static const std::vector<std::string> activations{"Relu",        "Clip",    "HardSwish", "Silu",
                                                    "HardSigmoid", "Sigmoid", "LeakyRelu", "Tanh",
                                                    "Gelu",        "Elu",     "Mish"};
  return activations;
}

std::optional<FusedForm> parse_fused(const std::string& op_type) {
  std::string rest = op_type;
  FusedForm form;
  for (const std::string& base : fused_bases()) {
    if (!take(rest, base)) continue;
    form.base = base;
    break;
  }
  if (form.base.empty()) return std::nullopt;
  form.add = form.base != "Add" && take(rest, "Add");
  form.activation = rest;
  const auto& known = fused_activations();
  const bool fits = rest.empty() || std::find(known.begin(), known.end(), rest) != known.end();
  if (!fits || (rest.empty() && !form.add)) return std::nullopt;
  return form;
}

std::string fused_type(const FusedForm& form) {
  return form.base + (form.add ? "Add" : "") + form.activation;
}

Attributes activation_attributes(const FusedForm& form, const Attributes& fused) {
  Attributes a;
  if (form.activation == "Clip") {
    for (const char* name : {"min", "max"}) {
      if (fused.has(name)) a.set(name, fused.float_or(name, 0.0F));
    }
  }
  if (has_alpha(form.activation))
    a.set("alpha", activation_float(form, fused, "alpha", default_alpha(form.activation)));
  if (form.activation == "HardSigmoid") a.set("beta", activation_float(form, fused, "beta", 0.5F));
  if (form.activation == "Gelu") a.set("approximate", fused.string_or("approximate", "none"));
  return a;
}

void complete_fused_attributes(Node& node, std::size_t axes) {
  const auto form = parse_fused(node.op_type);
  ASSAY_ASSERT(form.has_value());
  Attributes& a = node.attributes;
  complete_base(a, form->base, axes);
  set_missing(a, "rounding", std::string("staged"));
  if (form->activation == "Clip") {
    set_missing(a, "min", -std::numeric_limits<float>::infinity());
    set_missing(a, "max", std::numeric_limits<float>::infinity());
  }
  if (has_alpha(form->activation)) {
    a.set("act_alpha", activation_float(*form, a, "alpha", default_alpha(form->activation)));
    if (form->base != "Gemm") a.erase("alpha");
  }
  if (form->activation == "HardSigmoid") {
    a.set("act_beta", activation_float(*form, a, "beta", 0.5F));
    if (form->base != "Gemm") a.erase("beta");
  }
}

namespace ops {

FusedCall fused_call(const Node& node) {
  const auto form = parse_fused(node.op_type);
  ASSAY_ASSERT(form.has_value());
  FusedCall call{.form = *form, .base = inner_node(form->base, node.attributes)};
  for (const char* own : {"rounding", "act_alpha", "act_beta", "min", "max", "approximate"})
    call.base.attributes.erase(own);
  call.activation = activation_attributes(*form, node.attributes);
  const std::string rounding = node.attributes.string_or("rounding", "staged");
  if (rounding != "staged" && rounding != "single") {
    throw Error({.what = "unknown value of attribute 'rounding'",
                 .got = "'" + rounding + "'",
                 .expected = "staged or single"});
  }
  call.single = rounding == "single";
  call.base_inputs =
      form->base == "Conv" || form->base == "ConvTranspose" || form->base == "Gemm" ? 3 : 2;
  if (form->base == "MatMul" && node.has_input(2)) {
    throw Error({.what = "a fused MatMul has no bias", .expected = "inputs A, B, none, residual"});
  }
  return call;
}

namespace {

void infer(InferContext& c) { infer_fused(c, fused_call(*c.node)); }
void eval(EvalContext& c) { eval_fused(c, fused_call(*c.node)); }
void bound(BoundContext& c) { bound_fused(c, fused_call(*c.node)); }
std::int64_t macs(const InferContext& c) { return macs_fused(c, fused_call(*c.node)); }

OpDef definition(const FusedForm& form) {
  return {.type = fused_type(form),
          .domain = assay_domain,
          .since = 1,
          .infer = infer,
          .eval = eval,
          .bound = bound,
          .macs = macs,
          .decompose = decompose_fused};
}

std::vector<OpDef> every_form() {
  std::vector<std::string> activations = fused_activations();
  activations.emplace_back();
  std::vector<OpDef> defs;
  for (const std::string& base : fused_bases()) {
    for (const std::string& activation : activations) {
      if (base != "Add") defs.push_back(definition({base, true, activation}));
      if (!activation.empty()) defs.push_back(definition({base, false, activation}));
    }
  }
  return defs;
}

const RegisterOp registered{every_form()};

}  // namespace
}  // namespace ops
}  // namespace assay
