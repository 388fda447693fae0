// Operators: what an operator is (OpDef), how it registers itself (RegisterOp), and what it sees
// (InferContext, EvalContext, BoundContext).
//
// An operator is one file in runtime/ops/ that ends with `const RegisterOp registered{{ .type =
// "Relu", ... }};`.
#pragma once

#include <climits>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/graph.h"
#include "runtime/numeric/parallel.h"

namespace assay {

/// How a graph is evaluated (docs/numerics.md).
enum class Precision {
  cr,   ///< every node's output is the exact result on its inputs, rounded once
  f32,  ///< float32 in the canonical order
  f64,  ///< every float tensor widened to double, canonical order
  dd,   ///< every float tensor widened to double-double
};
std::string to_string(Precision p);
std::optional<Precision> parse_precision(const std::string& name);
/// The type that a float type of the model has under `p`: float types become float64 under f64, dd
/// under dd; others stay.
DType widened(DType t, Precision p);

/// Type of a value as known before or while running: a size of -1 is unknown.
struct TensorType {
  DType dtype = DType::undefined;
  std::optional<std::vector<std::int64_t>> dims = {};

  bool known() const;   ///< type, rank and every size are known
  Shape shape() const;  ///< asserts known()
  static TensorType of(const Tensor& t);
};
std::string to_string(const TensorType& t);

/// What shape inference sees. While running, every input is known and is also available as
/// `constant`.
class InferContext {
 public:
  const Node* node = nullptr;
  std::int64_t opset = 1;
  Precision precision = Precision::f32;
  std::vector<TensorType> input_types = {};
  std::vector<const Tensor*> constants = {};  ///< nullptr where the value is not known
  std::vector<TensorType> outputs = {};       ///< to be filled; undefined where nothing is known

  const Attributes& attributes() const { return node->attributes; }
  bool has_input(std::size_t i) const { return node->has_input(i); }
  /// Throws Error when a required input is absent.
  const TensorType& input(std::size_t i) const;
  const Tensor* constant(std::size_t i) const {
    return i < constants.size() ? constants[i] : nullptr;
  }
  std::size_t input_count() const { return node->inputs.size(); }
  std::size_t output_count() const { return node->outputs.size(); }
  DType widen(DType t) const { return widened(t, precision); }
  void set_output(std::size_t i, DType dtype, const Shape& shape);
  void set_output(std::size_t i, TensorType type);
};

/// What a running operator sees. Outputs whose type inference found are allocated already.
class EvalContext {
 public:
  using Subgraph = std::function<std::vector<Tensor>(const Graph&, const std::vector<Tensor>&)>;

  const Node* node = nullptr;
  std::int64_t opset = 1;
  Precision precision = Precision::f32;
  std::vector<Tensor> inputs = {};  ///< undefined() where absent
  std::vector<Tensor> outputs = {};
  Subgraph run_subgraph = {};  ///< runs a body with the outer values it captures
  std::shared_ptr<void>* state =
      nullptr;                    ///< kept by the executor per node between runs (packed weights)
  const RangeFn* tail = nullptr;  ///< see OpDef::takes_tail

  const Attributes& attributes() const { return node->attributes; }
  bool has_input(std::size_t i) const { return i < inputs.size() && inputs[i].defined(); }
  const Tensor& input(std::size_t i) const;  ///< throws Error when absent
  bool has_output(std::size_t i) const { return node->has_output(i); }
  Tensor& output(std::size_t i) { return outputs.at(i); }
  /// For outputs whose shape depends on data.
  Tensor& allocate(std::size_t i, DType dtype, Shape shape);
  DType widen(DType t) const { return widened(t, precision); }
  template <class T>
  std::span<const T> in(std::size_t i) const {
    return input(i).data<T>();
  }
  template <class T>
  std::span<T> out(std::size_t i) {
    return outputs.at(i).mutable_data<T>();
  }
  /// The node's cached object of type S, made by `make` on first use. Valid while inputs marked
  /// constant stay the same.
  template <class S, class Make>
  S& cached(Make&& make) {
    if (!*state) *state = std::make_shared<S>(make());
    return *static_cast<S*>(state->get());
  }
  /// True when input `i` is an initializer nobody can override: what derives from it may be cached.
  std::vector<char> constant_input = {};
  bool is_constant(std::size_t i) const {
    return i < constant_input.size() && constant_input[i] != 0;
  }
};

/// What the rounding radius of an operator is computed from. A radius bounds |computed - exact| per
/// element, where exact is the real-number result of the part of the graph since the last exact
/// tensor.
struct BoundContext {
  const Node* node = nullptr;
  std::int64_t opset = 1;
  /// Unit roundoff of the evaluation whose radius is wanted: 2^-24, 2^-53 or dd_unit().
  double unit = 0;
  /// Smallest positive number of that evaluation's type (the underflow term).
  double tiny = 0;
  /// True: any summation order (gamma_n); false: the canonical order (running bound).
  bool any_order = false;
  std::vector<Tensor> inputs = {};   ///< computed values, as float64
  std::vector<Tensor> radii = {};    ///< float64, same shapes; undefined() means exact
  std::vector<Tensor> outputs = {};  ///< computed values, as float64
  std::vector<Tensor> result = {};   ///< to be filled: radius per output, float64, rounded outward
};

using Infer = void (*)(InferContext&);
using Eval = void (*)(EvalContext&);
using Bound = void (*)(BoundContext&);
/// Multiply-accumulates of one run; called with known input types and filled outputs.
using Macs = std::int64_t (*)(const InferContext&);
/// The node as a graph of standard operators with the node's inputs and outputs in order: written
/// as a function of the file. How it refers to the node's attributes: runtime/onnx/writer.h.
using Decompose = Graph (*)(const Node&);

/// An operator whose only output has at each place a function of the elements of its first
/// `operands` inputs at that place; the other inputs are parameters.
struct Elementwise {
  std::size_t operands = 0;
  /// The evaluation (the same as eval's, under c.precision) of the elements [first, last) in memory
  /// order, any ranges in any order and on any thread. An operand and the output may be one memory,
  /// and operands need not be computed yet when this is called. It must not outlive the tensors of
  /// `c`, and does not throw on float32 and float64. Empty: not elementwise here (operands that
  /// are broadcast, training).
  RangeFn (*prepare)(EvalContext& c) = nullptr;
};

/// `cr` of operators whose eval is already exact or correctly rounded in float32 (copies,
/// selections, integers).
inline constexpr Eval same_as_eval = nullptr;

struct OpDef {
  std::string type;
  std::string domain = {};
  int since = 1;        ///< first opset in which these semantics hold
  int until = INT_MAX;  ///< last opset
  Infer infer = nullptr;
  Eval eval = nullptr;  ///< f32, f64, dd by the element types of the inputs
  Eval cr = same_as_eval;
  Bound bound = nullptr;  ///< nullptr: no radius; regions through it are judged by other evidence
  Macs macs = nullptr;
  Decompose decompose = nullptr;
  /// The only output may take the memory of an input of its type and shape that nobody reads
  /// afterwards: every element is read before the element at its place is written.
  bool in_place = false;
  /// May run as the tail of the node that makes one of its operands.
  Elementwise elementwise = {};
  /// Its eval calls EvalContext::tail, if there is one, once on every element of output 0 that has
  /// its final value, in ranges and on any thread. The tail maps them in place while they are in
  /// the cache. Only for a float32 or float64 output.
  bool takes_tail = false;
};

struct RegisterOp {
  explicit RegisterOp(OpDef def);
  /// Several operators of one shape in one file (Add, Sub, Mul, Div).
  explicit RegisterOp(std::vector<OpDef> defs);
};

/// The definition in force for an operator at an opset version; nullptr when there is none.
const OpDef* find_op(const std::string& domain, const std::string& type, std::int64_t opset);
/// As find_op; throws Error (unsupported) naming the operator.
const OpDef& require_op(const Node& node, std::int64_t opset);
/// Every registered definition, by (domain, type, since).
std::vector<const OpDef*> all_ops();

/// Domain of Assay's own (fused, integer) operators.
inline const std::string assay_domain = "ai.assay";

}  // namespace assay
