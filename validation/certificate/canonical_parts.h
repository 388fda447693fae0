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

/// The input of an affine step that is not constant; nullopt for other operators.
std::optional<std::size_t> data_side(const Rewriter& r, const Node& n);

/// An affine step per channel, moved in front of the moves of elements that it stands behind. False
/// when it is none, or some channel in front feeds several behind.
bool move_step(Rewriter& r, NodeId n);
/// Affine steps per channel on each part of the Concat that they stand behind; true when any was.
bool distribute_over_concat(Rewriter& r);

}  // namespace assay
