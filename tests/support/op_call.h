// One operator run through the executor: inputs as graph inputs or as initializers.
#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "runtime/executor.h"

namespace assay::test {

struct OpCall {
  std::string type;
  std::vector<Tensor> inputs;  ///< undefined(): absent
  Attributes attributes = {};
  std::int64_t opset = 17;
  std::size_t outputs = 1;
  std::string domain = {};
  Precision precision = Precision::cr;
  bool constant_weights = false;  ///< inputs from the second on are initializers
};

/// The graph of the call: inputs i0, i1, ..., outputs o0, o1, ...
Graph graph_of(const OpCall& call);

/// All outputs.
std::vector<Tensor> run(const OpCall& call);
/// Output 0.
Tensor run_one(const OpCall& call);

/// Float values as a tensor, and back.
Tensor tensor(Shape shape, std::vector<float> values);
Tensor tensor64(Shape shape, std::vector<double> values);
Tensor ints(Shape shape, std::vector<std::int64_t> values);
std::vector<float> values(const Tensor& t);
std::vector<std::int64_t> indices(const Tensor& t);

/// Uniform in [low, high), from a fixed seed.
Tensor random_tensor(Shape shape, float low, float high, unsigned seed);

/// Bits of a float: -0 and +0 differ, NaNs compare.
std::uint32_t bits(float v);

/// The message of the Error that `f` throws; a test failure when it throws none.
std::string error_of(const std::function<void()>& f);

/// The radius of output 0 for exact inputs under the canonical float32 evaluation.
Tensor radius_of(const OpCall& call, const std::vector<Tensor>& input_radii = {},
                 bool any_order = false);

/// Largest |f32 - f64| / radius over the outputs: at most 1 when the radius is sound.
double radius_use(OpCall call, bool any_order = false);

}  // namespace assay::test
