// Executor: runs a graph with the reference operators, node by node, under one precision.
//
// The observer is the one extension point: calibration, taps, timing and early stop are observers.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "runtime/op.h"

namespace assay {

using Feeds = std::map<std::string, Tensor>;

class Observer {
 public:
  virtual ~Observer() = default;
  /// Every value as it is computed; inputs first, initializers never.
  virtual void on_value(const Graph&, ValueId, const Tensor&) {}
  virtual void on_node(const Graph&, NodeId, double /*seconds*/) {}
  /// Asked after every node; true ends the run early (outputs not computed yet are left out).
  virtual bool stop() { return false; }
};

class Executor {
 public:
  /// Takes a copy of the graph (buffers are shared). Throws Error (unsupported) naming the first
  /// operator it does not have.
  Executor(Graph graph, Precision precision);
  ~Executor();
  Executor(Executor&&) noexcept;
  Executor& operator=(Executor&&) noexcept;

  /// Runs the graph. `feeds` gives every input by name (defaults may be left out); names, types and
  /// fixed sizes are checked. Returns the graph outputs and every value named in `also`. Under f64
  /// and dd float tensors come back widened.
  std::map<std::string, Tensor> run(const Feeds& feeds, Observer* observer = nullptr,
                                    const std::set<std::string>& also = {}) const;
  const Graph& graph() const;
  Precision precision() const;

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

/// Shape of every feed.
std::map<std::string, Shape> shapes_of(const Feeds& feeds);

/// Checks feeds against the declared inputs: unknown or missing names, element types, ranks and
/// fixed sizes.
void check_feeds(const Graph& g, const Feeds& feeds);

}  // namespace assay
