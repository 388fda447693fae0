// What RNN, GRU and LSTM share: attributes, sequences, directions, activations and exact sums of
// products.
//
// Under cr a value is rounded at the pre-activation (the exact sum of all its products and biases),
// at each activation, at C_t and at H_t, which is what the same network written with Loop gives.
// The other evaluations add the products in the order input, recurrent, peephole, biases, with
// fused multiply-adds (double-double: product, then sum).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/op.h"

namespace assay::ops {

struct Activation {
  std::string name;
  float alpha = 0.0F;
  float beta = 0.0F;
};

struct Recurrent {
  std::int64_t directions = 1;
  bool reverse_first = false;  ///< direction "reverse"
  std::int64_t hidden = 0, batch = 0, steps = 0, inputs = 0;
  bool batch_first = false;             ///< layout 1
  float clip = 0.0F;                    ///< 0: none
  std::vector<Activation> activations;  ///< per direction, in order
  std::vector<std::int64_t> lengths;    ///< per batch element

  /// Time of step `s` of direction `d` for a sequence of this length.
  std::int64_t time(std::int64_t d, std::int64_t s, std::int64_t length) const {
    const bool backward = reverse_first || d == 1;
    return backward ? length - 1 - s : s;
  }
};

/// Reads the attributes and input 4 (sequence_lens). `gates` is 1, 3 or 4; `defaults` the
/// activations of one direction.
Recurrent read_recurrent(const EvalContext& c, std::int64_t gates,
                         const std::vector<std::string>& defaults);
/// Y, Y_h and, for LSTM, Y_c.
void infer_recurrent(InferContext& c);

template <class T>
using Terms = std::vector<std::pair<T, T>>;

/// The sum of the products, rounded once when `correct` and T is float.
template <class T>
T sum_of_products(const Terms<T>& terms, bool correct);

/// The activation at x after clipping to [-clip, clip].
template <class T>
T activate(const Activation& a, T x, float clip);

/// Offset in X of (time, batch element), in Y of (time, direction, batch element), in Y_h of
/// (direction, batch element).
std::int64_t x_offset(const Recurrent& r, std::int64_t t, std::int64_t b);
std::int64_t y_offset(const Recurrent& r, std::int64_t t, std::int64_t d, std::int64_t b);
std::int64_t h_offset(const Recurrent& r, std::int64_t d, std::int64_t b);

/// Appends weights[row] . x, both of length n.
template <class T>
void append_dot(Terms<T>& terms, const T* weights, const T* x, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) terms.emplace_back(weights[k], x[k]);
}

}  // namespace assay::ops
