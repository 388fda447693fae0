// What the two kernels of ConvTranspose ask of a node.
#pragma once

#include "kernels/onednn/form.h"

namespace assay::kernels {

/// ConvTranspose with what was fused behind it.
bool is_fused_transposed(const std::string& op_type);

/// The form of the node, or why no kernel takes it: an activation or residual without a form,
/// operands that are not float32, constant, non-empty, or of rank 3 to 5.
std::variant<DotForm, Decline> transposed_form(const KernelRequest& request);

}  // namespace assay::kernels
