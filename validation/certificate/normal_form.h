// Affine normal form of a region: activation( sum of terms + shift ), per output channel.
//
//   y[c] = act( sum_t coeff_t[c] * term_t[c] + shift[c] )
// A term is a value that enters the region, or a linear operator (Conv, ConvTranspose, Gemm,
// MatMul) on such a value. BN, Mul, Add, Sub, Div by constants and bias change coefficients and
// shift, in 256-bit arithmetic. Two regions with the same normal form are the same function of real
// numbers for all inputs.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "fusion/fold_math.h"
#include "runtime/graph.h"
#include "validation/certificate/real.h"

namespace assay {

/// One affine step behind a linear operator, with its numbers as stored.
struct ChainStep {
  AffineStep step;
  std::string node;  ///< for reports
};

struct LinearTerm {
  std::string signature;  ///< operator and the attributes that matter, in one text
  std::string input;      ///< value that it reads
  Tensor weights;         ///< as stored
  std::int64_t channel_axis =
      0;                    ///< axis of the weights that counts output channels (of one group)
  std::int64_t groups = 1;  ///< ConvTranspose: output channels are (group, axis)
  std::vector<Real> coeff;  ///< per output channel
  std::vector<ChainStep> chain = {};  ///< behind it, in the order in which the steps act
  std::vector<double> bias = {};      ///< its own, per output channel; empty when absent
};

struct ValueTerm {
  std::string input;
  std::vector<Real> coeff;  ///< per output channel, or one for all
};

struct NormalForm {
  std::vector<std::string> activations;  ///< from the inside out: "Relu", "Clip(0,6)"
  std::vector<LinearTerm> linear;
  std::vector<ValueTerm> values;
  std::vector<Real> shift;      ///< per output channel
  std::vector<Real> magnitude;  ///< T of the bias budget: sum of the magnitudes that were scaled
  std::vector<Real> beta;       ///< last shift added unscaled
  int divisions =
      0;  ///< divisions and roots in the chain: 0 means coefficients are exact products and sums
  int steps = 0;      ///< affine steps in the chain
  bool plain = true;  ///< no Gemm with beta other than 1: recipes can be tried
  std::int64_t channels = 0;
};

/// The normal form of the graph's only output, or why it has none.
std::variant<NormalForm, std::string> normal_form(const Graph& region,
                                                  const std::map<std::string, Shape>& shapes);

/// Weight of output channel `o`, flat index `i` within the channel, and how many there are.
std::int64_t weights_per_channel(const LinearTerm& t);
std::int64_t weight_index(const LinearTerm& t, std::int64_t channel, std::int64_t i);

}  // namespace assay
