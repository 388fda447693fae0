// GraphMaker: what the pieces of a random graph build with.
//
// It keeps the shape of every value it makes, writes operators in the spelling of the graph's opset
// (attributes or inputs, broadcast attributes before 7), and stores each constant in one of the
// ways files do: a plain initializer, one that is shared with an earlier reader, one computed by
// nodes from constants, a Constant node, a default that the caller may override, or a true input.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/graph.h"
#include "runtime/op.h"
#include "tests/random_graphs/random.h"

namespace assay::testing {

/// A value of the graph and its shape.
struct Cell {
  ValueId id = {};
  Shape shape = {};
  std::int64_t channels() const { return shape[1]; }
};

class GraphMaker {
 public:
  GraphMaker(std::uint64_t seed, std::int64_t opset, DType dtype);

  Random random;
  const std::int64_t opset;
  const DType dtype;

  // ---- values
  Cell input(const Shape& shape);
  /// Floats around 0; `spread` scales them.
  Tensor floats(const Shape& shape, double spread = 1);
  /// One number as a tensor of the graph's type.
  Tensor scalar(double value, const Shape& shape = {}) const;
  /// A parameter of the network, stored in a random way.
  ValueId parameter(const std::string& stem, Tensor t);
  /// A plain initializer (sizes, axes, bounds).
  ValueId plain(const std::string& stem, Tensor t);
  ValueId ints(const std::string& stem, const std::vector<std::int64_t>& values);

  // ---- nodes
  Cell node(const std::string& type, const std::vector<ValueId>& inputs,
            const Attributes& attributes = {});
  std::vector<Cell> node_with(std::size_t outputs, const std::string& type,
                              const std::vector<ValueId>& inputs,
                              const Attributes& attributes = {});
  /// Add, Sub, Mul, Div of `a` and `b` with the shape of `a`; `swapped` writes b first (opset >=
  /// 7).
  Cell binary(const std::string& type, const Cell& a, ValueId b, bool swapped = false);
  Cell clip(const Cell& x, std::optional<double> low, std::optional<double> high);
  Cell pad(const Cell& x, const std::vector<std::int64_t>& pads, double value);
  Cell slice(const Cell& x, std::int64_t axis, std::int64_t begin, std::int64_t end);
  std::vector<Cell> split(const Cell& x, std::int64_t axis, const std::vector<std::int64_t>& sizes);
  Cell reshape(const Cell& x, const std::vector<std::int64_t>& dims);
  Cell transpose(const Cell& x, const std::vector<std::int64_t>& perm);
  /// If(cond) { Relu(x) } else { Neg(x) }: x is captured by both bodies.
  Cell captured(const Cell& x);

  /// Every data value so far, for further readers and residuals.
  std::vector<Cell> cells;
  Graph& graph() { return graph_; }
  /// Values to feed for inputs that are not data: parameters the caller gives, conditions.
  std::vector<std::pair<std::string, Tensor>> given;
  /// Parameters with a default, and that default.
  std::vector<std::pair<std::string, Tensor>> defaults;

 private:
  TensorType known_type(ValueId v) const;
  ValueId computed(const std::string& stem, const Tensor& t);
  std::string name(const std::string& stem) { return graph_.fresh_name(stem); }

  Graph graph_;
  std::vector<std::pair<ValueId, Tensor>> parameters_;
  std::map<ValueId, TensorType> types_;
};

}  // namespace assay::testing
