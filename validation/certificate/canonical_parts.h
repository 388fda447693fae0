// Inside of canonical(): the graph being rewritten, and the steps that have files of their own.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/graph.h"

namespace assay {

class Rewriter {
 public:
  Rewriter(const Graph& g, std::map<std::string, Shape>& shapes);

  Graph& graph() { return g_; }
  const Graph& graph() const { return g_; }
  /// nullptr when not known.
  const Shape* shape(ValueId v) const;
  /// A new node and its only output.
  ValueId put(const std::string& op, std::vector<ValueId> in, const Shape& shape,
              Attributes a = {});
  void put_as(const std::string& op, std::vector<ValueId> in, ValueId out, Attributes a = {});
  ValueId constant(Tensor t);
  ValueId scalar(double x, DType dtype);
  /// The constant behind input `i`, or nullptr.
  const Tensor* number(const Node& n, std::size_t i) const;
  std::optional<double> single(const Node& n, std::size_t i) const;
  /// The node that computes `v` if it is an `op` of ONNX's domain.
  NodeId producer(ValueId v, const std::string& op) const;

 private:
  Graph g_;
  std::map<std::string, Shape>& shapes_;
};

/// Elements `begin` .. `end` of the first axis.
Tensor rows_of(const Tensor& t, std::int64_t begin, std::int64_t end);

void move_normalization(Rewriter& r, NodeId bn);
void distribute_over_concat(Rewriter& r);

}  // namespace assay
