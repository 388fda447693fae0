// Faults at the level of the rules, one at a time.
//
// A rule that reads a graph wrongly does what the right rule does on another graph. So a fault of
// reading (wrong epsilon, bias dropped, pad value ignored ...) is made by fusing a changed copy of
// the original, and judging the result against the original itself. A fault of writing (one unit
// in the last place, a lost activation ...) changes the fused graph.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/random_graphs/properties.h"
#include "tests/random_graphs/random.h"

namespace assay::testing {

/// What a fault may change, and with what.
struct FaultSite {
  Graph& graph;
  Random& random;
  /// Names of nodes: those of the original that rules removed (reading), those they made (writing).
  std::set<std::string> nodes;
  /// Constants that rules made (writing).
  std::set<std::string> constants;
  std::string what = {};  ///< set by the fault: which constant, where the name does not say

  /// The nodes of one of the types ("Add|Sub"), in random order.
  std::vector<NodeId> nodes_of(const std::string& types) const;
  /// The stored constant behind input `i`; nullptr when it is none.
  const Tensor* constant(NodeId n, std::size_t i) const;
  void set_constant(NodeId n, std::size_t i, Tensor t);
};

struct Fault {
  enum class Kind {
    reading,  ///< the same rules fire as without it
    guard,    ///< a condition is overlooked: more rules fire
    writing
  };
  std::string name;
  Kind kind = Kind::reading;
  /// True: the fault changes operators, and the function may stay the same (ReLU behind ReLU); such
  /// a mutant is drawn again when no sample shows more than float32 rounding. Faults that only
  /// change numbers must be seen in the constants; they are drawn again only when no number changes
  /// at all.
  bool may_be_equivalent = false;
  /// False when there is nothing to change.
  bool (*inject)(FaultSite&) = nullptr;
};

struct RegisterFault {
  explicit RegisterFault(Fault fault);
};

/// A mutant that is no fault: with double-double everywhere, no sample of `r`, scaled and negated,
/// gives another number than without it. (Epsilon in front of a factor 0; both orders of
/// DepthToSpace with one channel left.)
bool changes_nothing(const RandomGraph& r, const Graph& right, const Graph& wrong);

/// For faults that change operators and not only numbers: no sample leaves what float32 rounding
/// may do (both certified radii, twice for what constants were rounded by).
bool hides_in_rounding(const RandomGraph& r, const Graph& wrong);

/// Injects one fault into the graph's fusion under mode `all`, and judges it. nullopt when no fault
/// has an effect; else whether some region was found not equivalent. `text` says what was done.
std::optional<bool> fault_is_caught(const RandomGraph& r, std::uint64_t seed, Counts& counts,
                                    std::string& text);

}  // namespace assay::testing
