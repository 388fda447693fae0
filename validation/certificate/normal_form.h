// Affine normal form of a value: a sum of terms and a shift, per output channel.
//
//   y[c] = sum_t coeff_t[c] * term_t[c] + shift[c]
// A term is a value, or a linear operator (Conv, ConvTranspose, Gemm, MatMul) on a value whose
// input channels may be scaled too. BN, Mul, Add, Sub, Div, Neg by constants, biases and zero
// padding change coefficients, shift and signature, in 256-bit arithmetic. Two values with the same
// normal form are the same function of real numbers for all inputs.
#pragma once

#include <map>
#include <optional>
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
  std::string input;      ///< label of the value that it reads
  std::string output;     ///< value that the operator writes
  Tensor weights;         ///< as stored; a Gemm's as [K, N]
  std::int64_t channel_axis =
      0;                    ///< axis of the weights that counts output channels (of one group)
  std::int64_t groups = 1;  ///< of the input channels
  std::vector<Real> coeff;  ///< per output channel
  std::vector<Real> input_coeff = {};  ///< per input channel; empty: all 1
  std::vector<ChainStep> chain = {};   ///< behind it, in the order in which the steps act
  std::vector<double> bias = {};       ///< its own, per output channel; empty when absent
};

struct ValueTerm {
  std::string input;
  std::vector<Real> coeff;  ///< per output channel, or one for all
};

/// A batch normalization as the outermost step: y = scale * (x - mean) + beta.
struct OuterNorm {
  std::vector<double> gamma, beta;
  std::vector<Real> scale, mean;
};

struct NormalForm {
  std::optional<OuterNorm> outer = {};
  std::vector<LinearTerm> linear;
  std::vector<ValueTerm> values;
  std::vector<Real> shift;      ///< per output channel
  std::vector<Real> magnitude;  ///< T of the bias budget: sum of the magnitudes that were scaled
  std::vector<Real> beta;       ///< last shift added unscaled
  int divisions =
      0;  ///< divisions and roots in the chain: 0 means coefficients are exact products and sums
  int steps = 0;      ///< affine steps in the chain
  bool plain = true;  ///< every number is stored as it is used: recipes can be tried
  std::int64_t channels = 0;
  std::int64_t axis_from_end = 0;  ///< channel axis counted from the end
};

struct FormOptions {
  std::map<ValueId, std::string> labels = {};  ///< values that are terms, with their names
  std::int64_t axis = -1;                      ///< channel axis of the value; -1: as it is found
  bool input_side = true;  ///< normalizations in front of a linear operator go into it
};

struct FormResult {
  std::variant<NormalForm, std::string> form;  ///< or why there is none
  std::vector<ValueId> atoms = {};  ///< values without a label that are terms: their operators are
                                    ///< not affine
};

/// The normal form of `v`.
FormResult normal_form(const Graph& g, ValueId v, const std::map<std::string, Shape>& shapes,
                       const FormOptions& options);

/// True when the operator that writes `v` is affine in a value with everything else constant, or a
/// sum: normal_form looks through it.
bool is_affine(const Graph& g, ValueId v);
/// `v`, or the value behind Identity and Dropout operators that it copies.
ValueId behind_copies(const Graph& g, ValueId v);

/// Weight of output channel `o`, flat index `i` within the channel, and how many there are.
std::int64_t weights_per_channel(const LinearTerm& t);
std::int64_t weight_index(const LinearTerm& t, std::int64_t channel, std::int64_t i);
/// Exact factor of that weight.
Real weight_factor(const LinearTerm& t, std::int64_t channel, std::int64_t i);

}  // namespace assay
