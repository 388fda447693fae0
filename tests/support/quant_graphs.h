// Small graphs for tests of quantization: one line per node, values by name.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/executor.h"

namespace assay::test {

/// Builds a graph by names: an unknown input name is an error, an empty one is an absent input.
class GraphMaker {
 public:
  explicit GraphMaker(std::int64_t opset = 13);
  GraphMaker& input(const std::string& name, DType dtype, std::vector<std::int64_t> dims);
  GraphMaker& constant(const std::string& name, Tensor value);
  /// `outputs = op(inputs)`; the node is called like its first output with "_node" behind it.
  GraphMaker& node(const std::string& op, const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs, Attributes attributes = {});
  GraphMaker& output(const std::string& name);
  Graph graph;
};

/// Runs one operator on constants fed as inputs; `op` may be "domain:Name". Returns all outputs.
std::vector<Tensor> run_op(const std::string& op, const std::vector<Tensor>& inputs,
                           const Attributes& attributes = {}, std::int64_t opset = 13,
                           std::size_t outputs = 1);

std::vector<float> floats(const Tensor& t);
std::vector<std::int64_t> codes(const Tensor& t);

Tensor f32(Shape shape, std::vector<float> values);
Tensor u8(Shape shape, std::vector<int> values);
Tensor i8(Shape shape, std::vector<int> values);
Tensor i32(Shape shape, std::vector<int> values);

}  // namespace assay::test
