#include "runtime/ops/support/narrow.h"

#include <algorithm>

namespace assay::ops {
namespace {

bool narrow(DType t) { return t == DType::float16 || t == DType::bfloat16; }

bool narrow_or_float(DType t) { return narrow(t) || t == DType::float32; }

}  // namespace

bool any_narrow(const EvalContext& c) {
  return std::any_of(c.inputs.begin(), c.inputs.end(),
                     [](const Tensor& t) { return narrow(t.dtype()); });
}

bool run_narrow(EvalContext& c, Eval core) {
  if (!any_narrow(c)) return false;
  EvalContext wide = c;
  for (Tensor& t : wide.inputs) {
    if (t.defined() && narrow_or_float(t.dtype())) t = convert(t, DType::float64);
  }
  for (Tensor& t : wide.outputs) {
    if (t.defined() && narrow_or_float(t.dtype())) t = Tensor(DType::float64, t.shape());
  }
  core(wide);
  for (std::size_t i = 0; i < c.outputs.size(); ++i) {
    const DType stored = c.outputs[i].dtype();
    c.outputs[i] = c.outputs[i].defined() ? convert(wide.outputs[i], stored) : wide.outputs[i];
  }
  return true;
}

}  // namespace assay::ops
