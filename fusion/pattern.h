// Patterns: what a rewrite looks for, as data.
//
// A pattern reads like the graph, root first:
//   op("Relu", "relu", {commutative(op("Add", "add", {op("Conv", "conv"), any("skip")}))})
// It matches a root node and, through its inputs, the nodes that feed it. Operator types are hard: another operator is no
// match. Two things are soft, because a near-match deserves an answer: a value that has to be constant and is not, and an
// inner value that something outside the region still reads. They come back as Decline values.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/graph.h"

namespace assay {

struct Pattern {
  enum class Kind { op, any, constant, either };
  Kind kind = Kind::any;
  std::vector<std::string> types = {};  ///< op: alternatives; a type of Assay's own domain is written "ai.assay.ConvAdd"
  std::string capture = {};             ///< name of the node (op) or value (any, constant); empty: not kept
  std::vector<Pattern> inputs = {};     ///< op: inputs by position (further inputs are free); either: alternatives
  bool commutative = false;             ///< op: the first two inputs may change places
  bool may_share = false;               ///< op: other readers of its output are allowed (it stays if they need it)
  /// constant: anything that is not a stored parameter is no match at all; any: a constant is none.
  bool hard = false;
};

/// A node of one of the types in `types` ("Conv|ConvTranspose").
Pattern op(const std::string& types, const std::string& capture, std::vector<Pattern> inputs = {});
/// Any value. A capture named twice has to be the same value in both places.
Pattern any(const std::string& capture);
/// Any value that is not constant.
Pattern variable(const std::string& capture);
/// A value that has to be constant (computed from constants only); when it is not, the match carries a Decline.
Pattern constant(const std::string& capture);
/// A constant, or a default that the caller may override (that is a Decline); anything else is no match.
Pattern parameter(const std::string& capture);
Pattern commutative(Pattern p);
/// The node's output may be read elsewhere too.
Pattern shared(Pattern p);
/// The first alternative that matches.
Pattern either(std::vector<Pattern> alternatives);

/// Number of operators in the largest form of the pattern: larger patterns go first.
int pattern_size(const Pattern& p);
/// "Relu(Add(Conv, skip))", for the documentation.
std::string to_string(const Pattern& p);

/// One place where a pattern fits.
struct Match {
  NodeId root = {};
  std::map<std::string, NodeId> nodes = {};
  std::map<std::string, ValueId> values = {};
  std::vector<NodeId> region = {};      ///< every matched node, root first, each once
  std::vector<NodeId> may_share = {};   ///< those whose output may be read elsewhere
  std::vector<Decline> declines = {};   ///< why it is only a near-match

  bool has(const std::string& capture) const { return nodes.count(capture) || values.count(capture); }
  NodeId node(const std::string& capture) const { return nodes.at(capture); }
  ValueId value(const std::string& capture) const { return values.at(capture); }
};

/// Answers "is this value constant?" (transitively).
using IsConstant = std::function<bool(ValueId)>;

/// The best match at `root`: the first without declines, else the first with the fewest; nullopt when the operators differ.
std::optional<Match> match_at(const Graph& g, NodeId root, const Pattern& p, const IsConstant& is_constant);

/// Why `v`, computed inside `region`, may not vanish: readers outside, graph output, capture by a subgraph. nullopt if it may.
std::optional<Decline> still_needed(const Graph& g, ValueId v, const std::vector<NodeId>& region);

}  // namespace assay
