// Program: a graph compiled for one set of input shapes, then run many times on the fast kernels.
//
// Compiling chooses a kernel per node, keeps activations channels-last between nodes, packs weights
// and constants once, and places every buffer in one arena by lifetime. Running executes the steps
// in order: no primitive is created, and Assay allocates nothing in execute(). A node without a
// fast kernel runs on the reference operator, and steps() says so.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernels/arithmetic.h"
#include "kernels/layout.h"
#include "runtime/executor.h"
#include "runtime/graph.h"

namespace assay::kernels {

struct ProgramOptions {
  int threads = 0;       ///< 0: what OpenMP offers
  bool tune = false;     ///< choose kernels by timing them inside the running program
  int tune_rounds = 12;  ///< least number of timed runs per variant; the lower quartile counts
  /// Elementwise nodes that follow each other run as one step, with the same bits, or in the
  /// convolution in front of them, rounded as its kernel does; runs of convolutions work in bands
  /// of rows (kernels/bands.h): fewer passes over memory. Values inside a step cannot be tapped.
  bool fuse_chains = false;
  std::string tune_cache =
      {};  ///< JSON file: read when it exists, and written after tuning; empty: none
};

/// One compiled step, in running order.
struct StepInfo {
  std::string node;         ///< node name; empty for a layout change that Assay inserted
  std::string value = {};   ///< name of the (first) output value
  std::string op = {};      ///< operator type, or "Reorder"
  std::string kernel = {};  ///< implementation name, "reference", or "alias" when nothing runs
  std::string reason = {};  ///< why the node runs on the reference; empty otherwise
  Layout layout = Layout::plain;
  DType dtype = DType::undefined;  ///< of the output
  Shape shape = {};
  std::optional<IntArithmetic> arithmetic = std::nullopt;
  std::int64_t macs = 0;
  std::int64_t bytes = 0;  ///< inputs read, constants included, plus outputs written
  bool reference() const { return kernel == "reference"; }
};

class Program {
 public:
  struct Impl;
  /// `input_shapes` names every input whose declared shape is not fixed. Throws Error when a shape
  /// depends on data, or when an operator is neither accelerated nor known to the reference.
  static Program compile(const Graph& graph, const std::map<std::string, Shape>& input_shapes,
                         ProgramOptions options = {});
  ~Program();
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;

  /// Outputs by name in row-major order, and every value named in `also` that some step computes
  /// (values fused away or folded at compile time are left out). Shapes and types of `feeds` must
  /// be those of compile.
  std::map<std::string, Tensor> run(const Feeds& feeds, const std::set<std::string>& also = {});

  /// Runs, and shows the elements of every value named in `values` that some step computes, as a
  /// vector in the order of storage, valid during the call: for statistics, without a copy.
  void visit(const Feeds& feeds, const std::set<std::string>& values,
             const std::function<void(const std::string&, const Tensor&)>& show);

  /// The parts of run, for timing: bind_inputs keeps the feeds' buffers, execute runs the steps,
  /// outputs copies the results.
  void bind_inputs(const Feeds& feeds);
  void execute();
  /// As execute, and seconds per step.
  void execute_timed(std::vector<double>& seconds);
  std::map<std::string, Tensor> outputs() const;

  /// Gives the arena back until the next bind_inputs, for a program that waits while others run;
  /// packed weights stay. There are no outputs() to copy in between.
  void rest();

  const std::vector<StepInfo>& steps() const;
  /// Size of the arena in bytes, scratch included; 0 while the program rests.
  std::int64_t arena_bytes() const;
  int threads() const;

 private:
  explicit Program(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace assay::kernels
