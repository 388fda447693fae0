// float16 and bfloat16 for composite operators: inputs are widened to float64 (exact), the operator
// runs in float64, and each float output is rounded once to its own type.
//
// Under cr the float64 run is itself correctly rounded, so the result differs from one rounding of
// the exact value only where the float64 value is a midpoint of the narrow type and the exact value
// is not.
#pragma once

#include "runtime/op.h"

namespace assay::ops {

/// Some input is float16 or bfloat16.
bool any_narrow(const EvalContext& c);

/// True when it ran: some input is float16 or bfloat16.
bool run_narrow(EvalContext& c, Eval core);

/// `core` for float32, float64 and dd, run_narrow for the narrow types.
template <Eval core>
void with_narrow(EvalContext& c) {
  if (!run_narrow(c, core)) core(c);
}

}  // namespace assay::ops
