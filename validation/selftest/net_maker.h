// Builds the small networks of the self-test: seeded weights, every node's result a graph output,
// so that a difference names the operator.
#pragma once

#include <string>
#include <vector>

#include "runtime/graph.h"

namespace assay::selftest {

/// Values are known by name; a name that does not exist is a bug.
class NetMaker {
 public:
  /// The seeded weights depend on `name` and on the weight's own name.
  explicit NetMaker(std::string name);

  /// float32 input [N, dims...] times 0.7310586: the synthetic fill has 13 bits per number, the
  /// product has all 24, so that sums round.
  std::string input(const std::string& name, const std::vector<std::int64_t>& dims);
  /// Seeded normal numbers times `scale`.
  std::string weight(const std::string& name, Shape shape, float scale = 0.1F);
  /// Absolute values of such numbers, plus 1/8.
  std::string positive(const std::string& name, Shape shape, float scale = 0.5F);
  /// Seeded int8 numbers with a standard deviation of 40.
  std::string weight_codes(const std::string& name, Shape shape);
  std::string constant(const std::string& name, Tensor tensor);
  std::string axes(const std::string& name, std::vector<std::int64_t> values);

  /// `output = op(inputs)`; an empty name is an absent input, "domain:Type" another domain.
  std::string node(const std::string& output, const std::string& op,
                   const std::vector<std::string>& inputs, Attributes attributes = {});
  /// As node, but the result is no graph output.
  std::string inner(const std::string& output, const std::string& op,
                    const std::vector<std::string>& inputs, Attributes attributes = {});
  Graph take() { return std::move(graph_); }

 private:
  std::string name_;
  Graph graph_;
};

}  // namespace assay::selftest
