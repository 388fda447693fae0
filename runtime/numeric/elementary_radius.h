#pragma once

#include "runtime/numeric/elementary.h"

// The first attempt at a function of elementary.h, for tests of its proved radius.

namespace assay {

// The double value that Ziv's test for float32 looks at; NaN where the function is decided
// otherwise.
template <class Fn>
double float_core(const Fn& fn, float x);

// Its relative error at most, with 2^-51 for the rounding of the interval's ends.
template <class Fn>
double float_core_error(const Fn& fn);

}  // namespace assay
