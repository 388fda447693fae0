#include "validation/certificate/regions.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "quant/unfuse.h"
#include "validation/certificate/bitwise.h"
#include "validation/certificate/reading.h"
#include "validation/certificate/structure.h"

namespace assay {
namespace {

bool same_constant(const Tensor* a, const Tensor* b) {
  return a != nullptr && b != nullptr && same_bits(*a, *b);
}

class Aligner {
 public:
  Aligner(const Graph& o, const Graph& f, const RewriteLog* log)
      : o_(o), f_(f), log_(log), counts_o_(shape_values(o)), counts_f_(shape_values(f)) {}

  Alignment run() {
    for (const NodeId n : f_.topological_order()) visit(n);
    for (const auto& [node, reason] : pending_)
      result_.unaligned.push_back(describe(f_.node(node)) + ": " + reason);
    return std::move(result_);
  }

 private:
  std::optional<ValueId> counterpart(ValueId v) const {
    if (!v.valid() || f_.constant(v) != nullptr) return std::nullopt;
    const auto found = o_.find_value(f_.name(v));
    if (!found || o_.constant(*found) != nullptr) return std::nullopt;
    return found;
  }

  bool same_input(ValueId a, ValueId b) const {
    if (!a.valid() || !b.valid()) return a.valid() == b.valid();
    if (f_.constant(a) != nullptr) return same_constant(f_.constant(a), o_.constant(b));
    return f_.name(a) == o_.name(b);
  }

  /// The original has this very node: operator, attributes, inputs by name, constants by bits.
  bool unchanged(const Node& x) const {
    const auto y = x.has_output(0) ? counterpart(x.outputs[0]) : std::nullopt;
    if (!y) return false;
    const Node* was = o_.producer(*y);
    if (was == nullptr || was->op_type != x.op_type || was->domain != x.domain ||
        !same(was->attributes, x.attributes))
      return false;
    const std::size_t n = std::max(was->inputs.size(), x.inputs.size());
    for (std::size_t i = 0; i < n; ++i) {
      const ValueId a = i < x.inputs.size() ? x.inputs[i] : ValueId{};
      const ValueId b = i < was->inputs.size() ? was->inputs[i] : ValueId{};
      if (!same_input(a, b)) return false;
    }
    return true;
  }

  void visit(NodeId n) {
    const Node& x = f_.node(n);
    if (unchanged(x)) {
      ++result_.unchanged;
      return;
    }
    ++result_.changed;
    pending_[n] = "its output is not a value of the original";
    for (const ValueId out : x.outputs) {
      if (!out.valid() || !counterpart(out)) continue;
      make_region(out);
    }
  }

  /// Values that `v` of the original is computed from.
  std::set<ValueId> ancestors(ValueId v) const {
    std::set<ValueId> seen;
    std::vector<ValueId> work{v};
    while (!work.empty()) {
      const NodeId n = o_.value(work.back()).producer;
      work.pop_back();
      if (!n.valid()) continue;
      for (const auto* list : {&o_.node(n).inputs, &o_.node(n).captures}) {
        for (const ValueId in : *list) {
          if (in.valid() && seen.insert(in).second) work.push_back(in);
        }
      }
    }
    return seen;
  }

  /// From `v` back through fused nodes to aligned values that the original goes through too (of two
  /// equal values a rewrite may have taken the other one). Numbers computed from shapes are exact
  /// and cheap: regions do not end there.
  void collect(ValueId v, const std::set<ValueId>& before, std::set<NodeId>& nodes,
               std::vector<std::string>& inputs) const {
    const NodeId n = f_.value(v).producer;
    if (!n.valid() || !nodes.insert(n).second) return;
    for (const ValueId in : f_.node(n).inputs) {
      if (!in.valid() || f_.constant(in) != nullptr) continue;
      const auto there = counterpart(in);
      if ((there && before.count(*there) && !counts_f_.count(in)) || f_.value(in).is_input) {
        if (std::find(inputs.begin(), inputs.end(), f_.name(in)) == inputs.end())
          inputs.push_back(f_.name(in));
      } else {
        collect(in, before, nodes, inputs);
      }
    }
  }

  static std::vector<ValueId> ids(const Graph& g, const std::vector<std::string>& names) {
    std::vector<ValueId> list;
    for (const std::string& name : names) {
      if (const auto v = g.find_value(name)) list.push_back(*v);
    }
    return list;
  }

  /// Defaults that the caller may override are inputs, also where the fused graph has none of that
  /// name: it must not depend on the default.
  Graph with_defaults_open(Graph part, ValueId out, std::vector<std::string>& inputs) const {
    const std::size_t before = inputs.size();
    for (const ValueId v : part.value_ids()) {
      const auto there = o_.find_value(part.name(v));
      if (there && o_.value(*there).is_input && o_.value(*there).initializer.defined() &&
          std::find(inputs.begin(), inputs.end(), part.name(v)) == inputs.end())
        inputs.push_back(part.name(v));
    }
    if (inputs.size() == before) return part;
    return extract(o_, ids(o_, inputs), {*counterpart(out)});
  }

  Graph fused_part(ValueId out, const std::vector<std::string>& inputs) const {
    std::vector<ValueId> computed;
    for (const ValueId v : ids(f_, inputs)) {
      if (f_.constant(v) == nullptr) computed.push_back(v);
    }
    Graph part = extract(f_, computed, {out});
    for (const std::string& name : inputs) {
      const auto constant = part.find_value(name);
      if (constant && part.value(*constant).is_input) continue;
      if (constant) part.rename(*constant, part.fresh_name(name + "_constant"));
      part.add_input(name, o_.value(*o_.find_value(name)).type);
    }
    return part;
  }

  /// The original's part. Where the two sides reach back to different values (a constant on one
  /// side, a computation on the other), the original's own aligned values enter the region too.
  Graph original_part(ValueId out, std::vector<std::string>& inputs) const {
    try {
      return extract(o_, ids(o_, inputs), {*counterpart(out)});
    } catch (const Error&) {
      std::set<NodeId> seen;
      collect_original(*counterpart(out), seen, inputs);
      return extract(o_, ids(o_, inputs), {*counterpart(out)});
    }
  }

  void collect_original(ValueId v, std::set<NodeId>& seen, std::vector<std::string>& inputs) const {
    const NodeId n = o_.value(v).producer;
    if (!n.valid() || !seen.insert(n).second) return;
    for (const ValueId in : o_.node(n).inputs) {
      if (!in.valid() || o_.constant(in) != nullptr) continue;
      const auto there = f_.find_value(o_.name(in));
      const bool aligned = there && f_.constant(*there) == nullptr && !counts_o_.count(in);
      if (!aligned && !o_.value(in).is_input) {
        collect_original(in, seen, inputs);
      } else if (std::find(inputs.begin(), inputs.end(), o_.name(in)) == inputs.end()) {
        inputs.push_back(o_.name(in));
      }
    }
  }

  std::set<std::string> dependent_inputs(const std::vector<std::string>& inputs) const {
    std::set<std::string> found;
    std::set<ValueId> reached;
    for (const ValueId v : ids(o_, inputs)) reached.insert(v);
    const std::set<ValueId> entry = reached;
    for (const NodeId n : o_.topological_order()) {
      const Node& node = o_.node(n);
      const bool behind = std::any_of(node.inputs.begin(), node.inputs.end(),
                                      [&](ValueId v) { return reached.count(v) != 0; });
      if (!behind) continue;
      for (const ValueId v : node.outputs) {
        if (entry.count(v)) found.insert(o_.name(v));
        reached.insert(v);
      }
    }
    return found;
  }

  void make_region(ValueId out) {
    Region r{.output = f_.name(out),
             .inputs = {},
             .dependent = {},
             .original = {},
             .fused = {},
             .read = {},
             .plain = {},
             .nodes = {},
             .fused_nodes = {},
             .fused_ids = {},
             .rule = {}};
    std::set<NodeId> members;
    collect(out, ancestors(*counterpart(out)), members, r.inputs);
    std::vector<std::string> own_inputs = r.inputs;
    try {
      const Graph whole = original_part(out, r.inputs);
      describe_nodes(r, whole);
      const auto merged = r.inputs == own_inputs ? std::nullopt : merged_part(out, own_inputs);
      if (merged) r.inputs = own_inputs;
      r.original = with_defaults_open(merged ? *merged : whole, out, r.inputs);
      r.fused = fused_part(out, r.inputs);
    } catch (const Error& e) {
      pending_[f_.value(out).producer] = e.what();
      return;
    }
    r.read = log_ == nullptr ? r.original : as_rules_read(r.original, *log_);
    r.plain = unfuse(r.fused);
    if (r.inputs.size() > 1) r.dependent = dependent_inputs(r.inputs);
    for (const NodeId n : members) {
      r.fused_nodes.push_back(f_.node(n).name);
      r.fused_ids.push_back(n);
      pending_.erase(n);
    }
    result_.regions.push_back(std::move(r));
  }

  /// Names of the original's nodes, and the rules that worked on their values.
  void describe_nodes(Region& r, const Graph& part) const {
    std::set<std::string> values;
    for (const NodeId n : part.topological_order()) {
      r.nodes.push_back(part.node(n).name);
      for (const ValueId v : part.node(n).outputs) {
        if (v.valid()) values.insert(part.name(v));
      }
    }
    name_rules(r, values);
  }

  /// The original's part where of equal operators on equal inputs one does for all, between these
  /// inputs: a rewrite may have taken one value for the other.
  std::optional<Graph> merged_part(ValueId out, const std::vector<std::string>& inputs) {
    if (!merged_) merged_ = merge_twins(o_);
    const auto there = merged_->find_value(f_.name(out));
    if (!there || ids(*merged_, inputs).size() != inputs.size()) return std::nullopt;
    try {
      return extract(*merged_, ids(*merged_, inputs), {*there});
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  void name_rules(Region& r, const std::set<std::string>& values) const {
    if (log_ == nullptr) return;
    for (const FiredRewrite& f : log_->fired) {
      if (!values.count(f.output) || r.rule.find(f.rule) != std::string::npos) continue;
      r.rule += (r.rule.empty() ? "" : " + ") + f.rule;
    }
  }

  const Graph& o_;
  const Graph& f_;
  const RewriteLog* log_;
  std::set<ValueId> counts_o_, counts_f_;  ///< computed from shapes alone
  std::optional<Graph> merged_;            ///< of the original; made when asked for
  Alignment result_;
  std::map<NodeId, std::string> pending_;
};

}  // namespace

Alignment align(const Graph& original, const Graph& fused, const RewriteLog* log) {
  return Aligner(original, fused, log).run();
}

}  // namespace assay
