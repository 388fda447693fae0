// Rewrite: one fusion, as data, and the context its functions work in.
//
// A rule is one file in fusion/rules/ that ends with `const RegisterRewrite registered{{ .name =
// "fold_bn_conv", ... }};`. The engine (pipeline.h) finds matches, asks the guard, and calls build;
// the rule keeps the root's output value, so that alignment by name holds.
#pragma once

#include <any>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fusion/constants.h"
#include "fusion/pattern.h"
#include "fusion/rewrite_log.h"
#include "runtime/infer.h"

namespace assay {

/// Stages run one after the other, each to a fixpoint: clean up and recognize; merge constant
/// factors and addends into the normalization in front, while it still stands; fold backward; fold
/// forward (only what could not go backward); rules for graphs that hold QuantizeLinear nodes; fuse
/// into the operator in front; what is then left.
enum class Stage { clean, merge, fold, forward, quantized, fuse, finish };
std::string to_string(Stage s);

class ExactAffine;

/// What a constant made by a rule was made from, so that a later rule starts from the original
/// numbers and rounds once.
struct FoldOrigin {
  Tensor source = {};  ///< original tensor; undefined() for an absent bias
  std::shared_ptr<const ExactAffine> steps = {};  ///< per-channel steps applied to it, exact
  bool forward = false;  ///< the source is itself the end of a forward fold
};

/// What guard and build see. Reading is for both; editing is for build only.
class RuleContext {
 public:
  RuleContext(Graph& g, std::string mode);

  // ---- reading
  const Graph& graph() const { return g_; }
  const Node& node(NodeId n) const { return g_.node(n); }
  const std::string& mode() const { return mode_; }
  /// Constant tensor, transitively; nullptr otherwise.
  const Tensor* constant(ValueId v) const { return constants_.get(g_, v); }
  ConstantValues& constants() const { return constants_; }
  /// What is known of a value before running; sizes of -1 are unknown.
  TensorType type(ValueId v) const;
  /// -1 when unknown.
  std::int64_t rank(ValueId v) const;
  /// Equal shapes for sure: same rank, every size known and equal, or equal under two different
  /// fillings of the unknown sizes of the graph inputs.
  bool same_shape(ValueId a, ValueId b) const;
  /// The shape of a value when it is known, else its shapes under two fillings of the graph's
  /// unknown input sizes; empty when neither is known.
  std::vector<Shape> known_shapes(ValueId v) const;
  const FoldOrigin* origin(ValueId v) const;

  // ---- editing
  void erase(NodeId n) { g_.erase_node(n); }
  /// Adds a node; one of Assay's own domain makes the graph import that domain.
  NodeId add(Node node);
  /// A new initializer called `stem` or, when that is taken, stem_1 ...; listed in the log.
  ValueId make_constant(const std::string& stem, Tensor t);
  ValueId make_value(const std::string& stem, const TensorType& type);
  void set_origin(ValueId v, FoldOrigin origin) { origins_[v] = std::move(origin); }
  Graph& editable() { return g_; }
  void set_type(ValueId v, TensorType type) { types_.types[v] = std::move(type); }

  /// What a guard worked out and build uses.
  std::any scratch;
  std::vector<ValueId> made;  ///< constants of the rewrite that is being applied

 private:
  void infer();
  Graph& g_;
  std::string mode_;
  mutable ConstantValues constants_;
  StaticTypes types_;
  std::vector<StaticTypes> probes_;  ///< types under two fillings of the unknown input sizes
  std::map<ValueId, FoldOrigin> origins_;
};

struct Rewrite {
  std::string name;
  Stage stage = Stage::fuse;
  std::string summary;  ///< one line: before -> after
  std::vector<Pattern> patterns;
  std::vector<std::string> rows = {};  ///< F1.., M1..: rows of the vendors' lists that it covers
  std::vector<std::string> sets = {};  ///< modes it belongs to besides `all`
  bool in_all = true;                  ///< false: only when named
  std::string verdict;                 ///< best certificate its instances can get, "E0".."E3"
  std::vector<std::string>
      proof;  ///< obligations: algebra, constants, structure, radius, bits, codes
  std::vector<std::string> refusals;  ///< conditions under which it declines, for the documentation
  std::string test = {};              ///< test file under tests/
  std::optional<Decline> (*guard)(RuleContext&, const Match&) = nullptr;
  void (*build)(RuleContext&, const Match&) = nullptr;
  /// Nodes beyond the pattern that build replaces too (branches found by the guard); nullptr: none.
  std::vector<NodeId> (*also_replaces)(const RuleContext&, const Match&) = nullptr;

  int size() const;
};

struct RegisterRewrite {
  explicit RegisterRewrite(Rewrite rewrite);
};

/// Every registered rule, by name.
std::vector<const Rewrite*> all_rewrites();
const Rewrite* find_rewrite(const std::string& name);

}  // namespace assay
