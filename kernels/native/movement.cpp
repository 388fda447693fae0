// Operators that only rename or regroup elements: nothing runs, the output is the input's buffer.
#include "kernels/kernel.h"

namespace assay::kernels::movement_kernel {
namespace {

KernelPlan alias(const KernelRequest& r, Layout layout) {
  KernelPlan plan;
  plan.inputs.assign(r.inputs.size(), Layout::plain);
  plan.inputs[0] = layout;
  plan.outputs.assign(r.outputs.size(), layout);
  plan.alias = 0;
  return plan;
}

bool only_first_output(const KernelRequest& r) {
  for (std::size_t i = 1; i < r.outputs.size(); ++i) {
    if (r.outputs[i].dtype != DType::undefined) return false;
  }
  return true;
}

/// Flatten, Reshape, Squeeze, Unsqueeze: row-major order stays, so the input must be plain (free
/// after a global pool).
KernelAnswer make_reshape(const KernelRequest& r) {
  if (r.constant(0) != nullptr) return Decline{"its input is a constant"};
  return alias(r, Layout::plain);
}

/// Identity, and Dropout at inference: any layout.
KernelAnswer make_identity(const KernelRequest& r) {
  if (r.constant(0) != nullptr) return Decline{"its input is a constant"};
  if (!only_first_output(r)) return Decline{"its mask output is used"};
  if (r.node().op_type == "Dropout" && r.has_input(2)) {
    const Tensor* training = r.constant(2);
    if (training == nullptr || to_ints(*training).at(0) != 0) return Decline{"training mode"};
  }
  return alias(r, r.inputs[0].layout);
}

const RegisterKernel reshapes{
    {.ops = {"Flatten", "Reshape", "Squeeze", "Unsqueeze"}, .make = make_reshape}};
const RegisterKernel identities{{.ops = {"Identity", "Dropout"}, .make = make_identity}};

}  // namespace
}  // namespace assay::kernels::movement_kernel
