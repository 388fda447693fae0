// Judges the layers of a graph by a constraint table (target.h).
//
// For each node: the first row that it fits gives the answer; every constraint of the row, and
// every rule for its type, whose condition holds may lower it (quantizable, tensor-only,
// quantizable-degrades, no). Where a setting is left open the table's own value is taken and
// listed; an open product is listed when it could forbid, and counts as a failure when it only
// warns.
#pragma once

#include <map>
#include <set>

#include "quant/target_facts.h"

namespace assay {

struct FailedConstraint {
  std::string id;        ///< "amct-onnx/MatMul/constant_rank"
  std::string text;      ///< words of the source
  std::string meaning;   ///< in English
  std::string source;    ///< "document" or "code"
  std::string value;     ///< what was found
  std::string expected;  ///< what the table allows
  std::string edit;      ///< what to change
  LayerAnswer answer = LayerAnswer::no;
  bool error = false;  ///< the tool breaks here instead of leaving the layer alone
};

struct LayerVerdict {
  std::string node;
  std::string op_type;
  std::string output;
  LayerAnswer answer = LayerAnswer::not_listed;
  std::string row = {};  ///< type in the table; empty when not listed
  std::vector<std::string> ir = {};
  std::vector<FailedConstraint> failed = {};
  std::vector<std::string> open = {};              ///< conditions on a product that is not named
  std::map<std::string, FactValue> settings = {};  ///< what the table fixes for this layer
  std::string remark = {};                         ///< why a layer is not listed

  /// The constraints that failed and what they found, or the remark; empty when there is nothing.
  std::string reason() const;
  /// What to change, joined; empty when nothing failed.
  std::string edit() const;
};

/// `table` is the table for the scheme, `target` the front end's own (the same for scheme uniform).
LayerVerdict judge_layer(const Target& target, const Target& table, const LayerView& view, NodeId n,
                         const LayerRequest& request);

struct TargetQuery {
  std::string target;
  std::string product = {};  ///< as the user writes it
  std::string scheme = "uniform";
  std::map<std::string, FactValue> settings = {};
};

struct TargetReport {
  const Target* target = nullptr;
  const Target* table = nullptr;  ///< of the scheme
  std::string product = {};
  std::string scheme = {};
  std::vector<LayerVerdict> layers = {};
  std::vector<std::string> notes = {};  ///< subgraphs that were not judged

  std::int64_t count(LayerAnswer a) const;
  /// A layer of the table fails or degrades, or the table's own words rule the scheme out.
  bool fails_strict() const;
};

/// Every node of `g` in topological order. Throws Error for an unknown target, product, scheme or
/// setting, listing the known ones.
TargetReport judge_graph(const Graph& g, const TargetQuery& query,
                         const std::map<std::string, Shape>& input_shapes = {});

/// The same as verdicts by node, for the quantizer (scheme uniform). `settings_of` adds settings
/// for a node.
std::map<NodeId, LayerVerdict> judge_nodes(
    const Graph& g, const TargetQuery& query,
    const std::function<std::map<std::string, FactValue>(NodeId)>& settings_of);

/// "NAME=VALUE" as a setting: true, false or an integer. Throws Error listing the known names.
std::pair<std::string, FactValue> parse_setting(const std::string& text);

}  // namespace assay
