#include <algorithm>

#include "kernels/kernel.h"

namespace assay::kernels {
namespace {

std::vector<KernelFamily>& families() {
  static std::vector<KernelFamily> list;
  return list;
}

bool covers(const KernelFamily& family, const Node& node) {
  const bool default_domain = node.domain.empty() || node.domain == "ai.onnx";
  if (family.domain != (default_domain ? "" : node.domain)) return false;
  if (family.matches) return family.matches(node.op_type);
  return std::find(family.ops.begin(), family.ops.end(), node.op_type) != family.ops.end();
}

}  // namespace

RegisterKernel::RegisterKernel(KernelFamily family) {
  auto& list = families();
  const auto later = [](int rank, const KernelFamily& f) { return rank < f.rank; };
  list.insert(std::upper_bound(list.begin(), list.end(), family.rank, later), std::move(family));
}

KernelAnswer make_kernel(const KernelRequest& request) {
  Decline all;
  for (const KernelFamily& family : families()) {
    if (!covers(family, request.node())) continue;
    if (!request.tail.empty() && !family.takes_tail) continue;
    KernelAnswer answer = family.make(request);
    if (std::holds_alternative<KernelPlan>(answer)) return answer;
    const Decline& d = std::get<Decline>(answer);
    all.reason += (all.reason.empty() ? "" : "; ") + d.reason;
    if (all.edit.empty()) all.edit = d.edit;
  }
  if (all.reason.empty()) all.reason = "no fast kernel for operator " + request.node().op_type;
  return all;
}

KernelPlan reads_first_input(const KernelRequest& request, std::unique_ptr<Kernel> kernel,
                             Layout in, Layout out) {
  KernelPlan plan{.kernel = std::move(kernel), .outputs = {out}};
  plan.inputs.assign(request.inputs.size(), Layout::plain);
  plan.inputs[0] = in;
  plan.baked.assign(request.inputs.size(), true);
  plan.baked[0] = false;
  return plan;
}

Layout kept_layout(const KernelRequest& request) {
  for (const Slot& s : request.inputs) {
    if (s.dtype != DType::undefined && s.layout == Layout::channels_last)
      return Layout::channels_last;
  }
  return Layout::plain;
}

}  // namespace assay::kernels
