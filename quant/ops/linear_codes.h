// The linear part of QConv and QGemm under a profile: from codes to the float32 value before mid
// rounding, or to codes where the profile adds the bias as an integer.
//
//   dequantized   v = the exact sum over dequantized operands plus bias, rounded once to float32
//   float32       acc = sum (x - z_x) w in int32 (wrapping), as `pairs`, `s8` and `comp` say;
//                 v = f32(acc) * f32(x_scale * w_scale[c]);  v = v + bias[c]
//   others        code = requantize(acc + rhe(bias / (x_scale * w_scale)))
#pragma once

#include <functional>

#include "quant/finish.h"
#include "runtime/numeric/gemm.h"
#include "runtime/numeric/int_gemm.h"

namespace assay {

/// One linear operator seen as dot products.
struct LinearProblem {
  const IntegerForm* form = nullptr;
  Tensor x;         ///< codes
  Tensor w;         ///< int8 codes
  Tensor bias;      ///< float32, or undefined()
  Tensor residual;  ///< codes, or undefined()
  Shape y_shape;
  std::int64_t channels = 1;  ///< of the output
  std::int64_t inner = 1;     ///< consecutive outputs of one channel
  bool depthwise = false;     ///< one input channel per output channel: no pairs
  /// Exact sum_k (x - z_x) w of these weight codes, wrapped to int32.
  std::function<IntReport(const Tensor& w, std::int32_t* acc)> exact;
  /// Pair-saturated sum of unsigned x codes; padding holds `pad`. Without zero point.
  std::function<void(const Tensor& unsigned_x, const Tensor& w, std::uint8_t pad,
                     std::int32_t* acc)>
      paired;
  /// Correctly rounded float32 result of the float operator on dequantized x and weights.
  std::function<Tensor(const Tensor& x)> correct;

  std::int64_t channel_of(std::size_t i) const {
    return static_cast<std::int64_t>(i) / inner % channels;
  }
};

/// Weights as DequantizeLinear gives them: float32(code * w_scale[c]), channels first.
Tensor dequantized_weights(const Tensor& codes, const IntegerForm& form);

/// The weights of the float operator. Constant ones are widened and packed once per node.
struct FloatWeights {
  Tensor w;  ///< float32
  PackedWeights packed;
};

/// What `pack(float32 weights)` makes of input 1, kept by the node when it is constant.
template <class Pack>
FloatWeights float_weights(EvalContext& c, const IntegerForm& form, Pack&& pack) {
  const auto make = [&] {
    FloatWeights made{dequantized_weights(c.input(1), form), {}};
    made.packed = pack(made.w);
    return made;
  };
  return c.is_constant(1) && c.state != nullptr ? c.cached<FloatWeights>(make) : make();
}

/// The node's output.
Tensor run_linear(const LinearProblem& problem, IntegerCounts* counts);

}  // namespace assay
