// Kernels: what a compiled step is (Kernel), how one is asked for (KernelRequest), and how a family
// of kernels registers itself (RegisterKernel).
//
// A family is one file in kernels/onednn/ that ends with `const RegisterKernel registered{{"Conv"},
// make};`. For a node the families of its operator are asked in order of registration rank; the
// first that accepts wins, the reasons of the others are kept. A node nobody accepts runs on the
// reference operator.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "kernels/arithmetic.h"
#include "kernels/layout.h"
#include "kernels/tail.h"
#include "runtime/graph.h"
#include "runtime/infer.h"

namespace assay::kernels {

/// Addresses of a step's operands; entries of absent or baked inputs are null.
struct Binding {
  std::vector<std::byte*> inputs;
  std::vector<std::byte*> outputs;
  std::byte* scratch = nullptr;  ///< scratch_bytes() or more, 64-byte aligned, shared by all steps
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  /// Called after planning and whenever an address changes; not in the timed part of a run.
  virtual void bind(const Binding& binding) = 0;
  /// Computes the outputs from the inputs. Allocates nothing of its own and creates no primitive.
  virtual void run() = 0;
  /// Name of the implementation that runs ("brgconv:avx512_core").
  virtual std::string implementation() const = 0;
  virtual std::int64_t scratch_bytes() const { return 0; }
  /// Arithmetic of an integer kernel.
  virtual std::optional<IntArithmetic> arithmetic() const { return std::nullopt; }
  /// Implementations of the same result and arithmetic class that tuning may choose between.
  virtual std::vector<std::string> variants() { return {implementation()}; }
  /// Runs variant `i` of variants() from now on; the binding stays.
  virtual void select(std::size_t /*i*/) {}
  /// Frees every variant but the selected one.
  virtual void settle() {}
};

/// What a family answers: the kernel and where its operands must lie.
struct KernelPlan {
  std::unique_ptr<Kernel> kernel = nullptr;  ///< null for an alias
  std::vector<Layout> inputs = {};           ///< per node input
  std::vector<bool> baked =
      {};  ///< per node input: true when the kernel took the constant; empty means none
  std::vector<Layout> outputs = {};  ///< per node output
  /// The output takes over the buffer of this input (sum in place). Only when the request says that
  /// the input dies.
  std::optional<std::size_t> overwrites = std::nullopt;
  /// Bytes that the kernel may write behind its first output; the program keeps them free.
  std::int64_t overrun = 0;
  /// The output is this input under another shape or name, byte for byte; nothing runs.
  std::optional<std::size_t> alias = std::nullopt;
};

using KernelAnswer = std::variant<KernelPlan, Decline>;

/// What a family sees of a node.
struct KernelRequest {
  const Graph& graph;
  NodeId id;
  std::vector<Slot>
      inputs;  ///< type, shape and the layout that is at hand; undefined dtype where absent
  std::vector<Slot> outputs;             ///< layout not yet chosen
  std::vector<const Tensor*> constants;  ///< per input, nullptr where not known before running
  std::vector<bool>
      dies;  ///< per input: this node is the last reader of an arena buffer, and reads it once
  int threads = 1;
  std::vector<ActivationParts> tail = {};  ///< applied to the output before it is stored

  const Node& node() const { return graph.node(id); }
  const Attributes& attributes() const { return node().attributes; }
  bool has_input(std::size_t i) const {
    return i < inputs.size() && inputs[i].dtype != DType::undefined;
  }
  const Tensor* constant(std::size_t i) const {
    return i < constants.size() ? constants[i] : nullptr;
  }
  std::int64_t opset() const { return graph.opset(node().domain); }
};

struct KernelFamily {
  std::vector<std::string> ops;  ///< operator types; not read when `matches` is set
  std::function<KernelAnswer(const KernelRequest&)> make;
  std::string domain = {};
  int rank = 0;             ///< lower is asked first
  bool takes_tail = false;  ///< false: not asked when the request has a tail
  /// For operator types composed from parts (ConvAddRelu): whether the family covers this one.
  std::function<bool(const std::string& op_type)> matches = nullptr;
};

struct RegisterKernel {
  explicit RegisterKernel(KernelFamily family);
};

/// Asks the families of the node's operator; the Decline joins the reasons of all that refused.
KernelAnswer make_kernel(const KernelRequest& request);

/// Whether a value of this type is 8-bit codes.
inline bool is_code(DType t) { return t == DType::uint8 || t == DType::int8; }

/// A kernel that reads input 0 in layout `in`; all other inputs are constants that it took.
KernelPlan reads_first_input(const KernelRequest& request, std::unique_ptr<Kernel> kernel,
                             Layout in, Layout out);

/// Copies a tensor from one layout to the other.
std::unique_ptr<Kernel> make_reorder(const Slot& from, Layout to);
/// Runs the reference operator in float32 on plain tensors.
std::unique_ptr<Kernel> make_reference(const KernelRequest& request);

/// Layout at hand when it is channels_last, else plain: what elementwise kernels keep.
Layout kept_layout(const KernelRequest& request);

}  // namespace assay::kernels
