// Elementwise operators against MPFR.
#pragma once

#include <mpfr.h>

#include <functional>
#include <limits>
#include <string>

#include "tests/support/op_call.h"

namespace assay::test {

inline constexpr float kInf = std::numeric_limits<float>::infinity();

/// y = f(x) at the precision of y, good to a few units in the last of its 300 bits.
using MpfrFunction = std::function<void(mpfr_t y, const mpfr_t x)>;

struct FunctionCase {
  std::string type;
  MpfrFunction exact;
  float low = -8.0F, high = 8.0F;  ///< range of the random inputs
  Attributes attributes = {};
  std::int64_t opset = 20;
  std::string domain = {};
  bool monotone_radius = true;  ///< false: the operator has no radius
};

/// 4000 random inputs: float32 and float16 results are the exact value rounded once, float64 and dd
/// results lie within 2^-47 and 2^-90 of it, and the radius of a moved input covers the move.
void check_function(const FunctionCase& c);

/// f at the given inputs, in float32 under cr.
std::vector<float> at(const std::string& type, std::vector<float> x,
                      const Attributes& attributes = {}, std::int64_t opset = 20,
                      const std::string& domain = {});

/// 0x7FC00000, the one NaN that arithmetic makes.
void expect_canonical_nan(float v);

}  // namespace assay::test
