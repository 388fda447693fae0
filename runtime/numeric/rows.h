#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/numeric/dd.h"
#include "runtime/numeric/half.h"

// Functions of a whole row (softmax, reductions, normalizations), correctly rounded and in
// canonical order.
//
// A row is a contiguous span; the operator copies a strided row together. `cr_*` rounds the exact
// composite once per output: to float32, or to float64 in the overloads of double (slower, they
// think in double-double). The templates named `row_*` are the f32, f64 and dd evaluations: every
// operation is rounded in T, in the canonical order described at row_sum. All functions are serial;
// callers split the rows over threads. Input and output may be the same array.

namespace assay {

// ---- correctly rounded ----

// y_i = e^(x_i) / sum_j e^(x_j). A row with a NaN or +inf, or of only -inf, is all NaN.
void cr_softmax(std::span<const float> x, std::span<float> y);
// y_i = x_i - log sum_j e^(x_j); the same special rows.
void cr_log_softmax(std::span<const float> x, std::span<float> y);

// An empty sum is 0, an empty mean NaN, an empty log-sum -inf.
float cr_sum(std::span<const float> x);
float cr_mean(std::span<const float> x);
// sum / divisor rounded once; divisor in 1..2^40 (AveragePool windows whose padding counts).
float cr_sum_over(std::span<const float> x, std::int64_t divisor);
float cr_sum_abs(std::span<const float> x);
float cr_sum_square(std::span<const float> x);
float cr_l2(std::span<const float> x);           // sqrt(sum x^2)
float cr_log_sum(std::span<const float> x);      // log(sum x)
float cr_log_sum_exp(std::span<const float> x);  // log(sum e^x)
float cr_prod(std::span<const float> x);

void cr_softmax(std::span<const double> x, std::span<double> y);
void cr_log_softmax(std::span<const double> x, std::span<double> y);
double cr_sum(std::span<const double> x);
double cr_mean(std::span<const double> x);
double cr_sum_over(std::span<const double> x, std::int64_t divisor);
double cr_sum_abs(std::span<const double> x);
double cr_sum_square(std::span<const double> x);
double cr_l2(std::span<const double> x);
double cr_log_sum(std::span<const double> x);
double cr_log_sum_exp(std::span<const double> x);
double cr_prod(std::span<const double> x);

// (x_i - mean) / sqrt(variance + epsilon) * gamma_i + beta_i over the row, population variance.
// gamma and beta have the row's size, or size 1 (one channel: InstanceNorm), or are empty (1 and
// 0).
struct NormParameters {
  float epsilon = 1e-5F;
  std::span<const float> gamma = {};
  std::span<const float> beta = {};
};
void cr_layer_norm(std::span<const float> x, const NormParameters& parameters, std::span<float> y);
// Mean and 1/sqrt(variance + epsilon) of the row, each the exact value rounded once.
struct MeanAndInvStd {
  float mean;
  float inv_std;
};
MeanAndInvStd cr_row_statistics(std::span<const float> x, float epsilon);
// x_i / sqrt(mean(x^2) + epsilon) * gamma_i (RMSNorm, SimplifiedLayerNormalization); beta as above.
void cr_rms_norm(std::span<const float> x, const NormParameters& parameters, std::span<float> y);
// x_i / sum|x| (p = 1) or x_i / sqrt(sum x^2) (p = 2); a zero row stays zero.
void cr_lp_normalize(std::span<const float> x, int p, std::span<float> y);

// BatchNormalization of one channel: y = (x - mean) / sqrt(variance + epsilon) * scale + bias.
struct BatchNormParameters {
  float scale = 1.0F;
  float bias = 0.0F;
  float mean = 0.0F;
  float variance = 1.0F;
  float epsilon = 1e-5F;
};
// Holds the channel's wide coefficients, so that a run costs two double operations per element.
class BatchNormChannel {
 public:
  BatchNormChannel() = default;
  explicit BatchNormChannel(const BatchNormParameters& parameters);
  void operator()(std::span<const float> x, std::span<float> y) const;
  float operator()(float x) const;

 private:
  float slow(float x) const;
  BatchNormParameters parameters_;
  double scale_ = 0;      // scale / sqrt(variance + epsilon) as a double
  double shift_ = 0;      // bias - mean * scale / sqrt(variance + epsilon) as a double
  bool regular_ = false;  // all finite and variance + epsilon > 0
};

// ---- canonical order in T = float, double, dd ----

// Sum in the canonical order: element i goes to lane i mod 8, each lane adds its elements in order
// starting from its first element, then lanes are added as ((l0+l4)+(l2+l6))+((l1+l5)+(l3+l7)).
// Absent lanes are +0.
template <class T>
T row_sum(std::span<const T> x);
// Sum of x_i y_i: lanes as row_sum, a lane starts with its first product rounded, each further step
// is a fused multiply-add (dd: its product, then its sum).
template <class T>
T row_dot(std::span<const T> x, std::span<const T> y);

template <class T>
void row_softmax(std::span<const T> x, std::span<T> y);  // e^(x-max) each, divided by their sum
template <class T>
void row_log_softmax(std::span<const T> x, std::span<T> y);  // (x - max) - log(sum)
template <class T>
T row_mean(std::span<const T> x);  // sum / n
template <class T>
T row_l2(std::span<const T> x);
template <class T>
T row_log_sum_exp(std::span<const T> x);  // max + log(sum e^(x-max))

template <class T>
struct RowNormParameters {
  T epsilon = T(0.0);
  std::span<const T> gamma = {};
  std::span<const T> beta = {};
};
// mean; d = x - mean; variance = row_dot(d, d) / n; y = fma(d * (1 / sqrt(variance + epsilon)),
// gamma, beta).
template <class T>
void row_layer_norm(std::span<const T> x, const RowNormParameters<T>& parameters, std::span<T> y);
template <class T>
void row_rms_norm(std::span<const T> x, const RowNormParameters<T>& parameters, std::span<T> y);

template <class T>
struct RowBatchNorm {
  T scale, bias, mean, variance, epsilon;
};
// s = scale / sqrt(variance + epsilon); y = fma(x - mean, s, bias).
template <class T>
void row_batch_norm(std::span<const T> x, const RowBatchNorm<T>& parameters, std::span<T> y);

// ---- correctly rounded to float64 ----

void cr_layer_norm(std::span<const double> x, const RowNormParameters<double>& parameters,
                   std::span<double> y);
void cr_rms_norm(std::span<const double> x, const RowNormParameters<double>& parameters,
                 std::span<double> y);
void cr_batch_norm(std::span<const double> x, const RowBatchNorm<double>& parameters,
                   std::span<double> y);

}  // namespace assay
