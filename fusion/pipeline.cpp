#include "fusion/pipeline.h"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>

#include "fusion/leftover.h"

namespace assay {
namespace {

constexpr std::array stages = {Stage::clean,     Stage::merge, Stage::fold,  Stage::forward,
                               Stage::quantized, Stage::fuse,  Stage::finish};

/// Shell-like wildcards: * any text, ? one character.
bool fits(const std::string& text, const std::string& glob, std::size_t t = 0, std::size_t p = 0) {
  if (p == glob.size()) return t == text.size();
  if (glob[p] == '*')
    return fits(text, glob, t, p + 1) || (t < text.size() && fits(text, glob, t + 1, p));
  return t < text.size() && (glob[p] == '?' || glob[p] == text[t]) &&
         fits(text, glob, t + 1, p + 1);
}

NodeNote note_of(const Graph& g, NodeId n) {
  const Node& node = g.node(n);
  const std::string type = node.domain.empty() ? node.op_type : node.domain + "." + node.op_type;
  return {node.name, type, node.has_output(0) ? g.name(node.outputs[0]) : ""};
}

bool names_node(const Graph& g, NodeId n, const std::string& glob) {
  const Node& node = g.node(n);
  if (!node.name.empty() && fits(node.name, glob)) return true;
  return std::any_of(node.outputs.begin(), node.outputs.end(),
                     [&](ValueId v) { return v.valid() && fits(g.name(v), glob); });
}

void check_skips(const Graph& g, const std::vector<std::string>& skips) {
  for (const std::string& glob : skips) {
    const auto rules = all_rewrites();
    const bool rule = std::any_of(rules.begin(), rules.end(),
                                  [&](const Rewrite* r) { return fits(r->name, glob); });
    const auto nodes = g.node_ids();
    const bool node =
        std::any_of(nodes.begin(), nodes.end(), [&](NodeId n) { return names_node(g, n, glob); });
    if (!rule && !node) {
      throw Error({.what = "nothing to skip has this name",
                   .got = "'" + glob + "'",
                   .expected = "a node, an output value or a rule of fuse --list"});
    }
  }
}

/// A small generator with a fixed sequence, so that shuffled orders are the same everywhere.
class Shuffle {
 public:
  explicit Shuffle(std::uint64_t seed) : state_(seed * 2654435761U + 1) {}
  std::size_t below(std::size_t n) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::size_t>(state_ >> 33) % n;
  }

 private:
  std::uint64_t state_;
};

class Pipeline {
 public:
  Pipeline(const Graph& g, const FusionOptions& options)
      : result_{g, {}}, options_(options), context_(result_.graph, options.mode) {
    log().mode = options.mode;
    log().skip = options.skip;
    log().nodes_before = graph().node_count();
  }

  FusionResult run() {
    check_skips(graph(), options_.skip);
    const auto rules = rules_of(options_.mode);
    note_subgraphs();
    if (options_.mode == "all") drop_dead_code();
    for (const Stage s : stages) run_stage(s, ordered(rules, s));
    for (DeclinedRewrite& d : unexplained_normalizations(context_, rules, log()))
      log().declined.push_back(std::move(d));
    log().nodes_after = graph().node_count();
    return std::move(result_);
  }

 private:
  Graph& graph() { return result_.graph; }
  RewriteLog& log() { return result_.log; }

  void note_subgraphs() {
    for (const NodeId n : graph().node_ids()) {
      for (const auto& [name, attribute] : graph().node(n).attributes.items()) {
        if (!std::holds_alternative<GraphPtr>(attribute)) continue;
        log().notes.push_back("the subgraph '" + name + "' of " + describe(graph().node(n)) +
                              " is not rewritten");
      }
    }
  }

  std::vector<const Rewrite*> ordered(const std::vector<const Rewrite*>& rules, Stage s) const {
    std::vector<const Rewrite*> list;
    std::copy_if(rules.begin(), rules.end(), std::back_inserter(list),
                 [&](const Rewrite* r) { return r->stage == s; });
    if (options_.order_seed == 0) {
      std::stable_sort(list.begin(), list.end(),
                       [](auto* a, auto* b) { return a->size() > b->size(); });
    } else if (options_.order_seed == 1) {
      std::stable_sort(list.begin(), list.end(),
                       [](auto* a, auto* b) { return a->size() > b->size(); });
      std::reverse(list.begin(), list.end());
    } else {
      Shuffle shuffle(options_.order_seed);
      for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[shuffle.below(i)]);
    }
    return list;
  }

  void run_stage(Stage s, const std::vector<const Rewrite*>& rules) {
    if (rules.empty()) return;
    const auto is_constant = [this](ValueId v) { return context_.constant(v) != nullptr; };
    while (apply_first(rules, is_constant)) graph().verify();
    explain_stage(s, rules, is_constant);
  }

  /// Applies the first rule, in its largest pattern, that fits anywhere; then the search starts
  /// again.
  bool apply_first(const std::vector<const Rewrite*>& rules, const IsConstant& is_constant) {
    const auto order = graph().topological_order();
    for (const Rewrite* rule : rules) {
      for (const Pattern& p : rule->patterns) {
        bool applied = false;
        for (const NodeId n : order) {
          if (graph().alive(n) && apply_at(*rule, p, n, is_constant)) applied = true;
        }
        if (applied) return true;
      }
    }
    return false;
  }

  bool apply_at(const Rewrite& rule, const Pattern& p, NodeId n, const IsConstant& is_constant) {
    const auto match = match_at(graph(), n, p, is_constant);
    if (!match || refusal(rule, *match)) return false;
    apply(rule, *match);
    return true;
  }

  std::optional<Decline> refusal(const Rewrite& rule, const Match& match) {
    if (!match.declines.empty()) return match.declines.front();
    if (const auto skip = skipped(rule, match)) return skip;
    context_.scratch.reset();
    return rule.guard == nullptr ? std::nullopt : rule.guard(context_, match);
  }

  std::optional<Decline> skipped(const Rewrite& rule, const Match& match) {
    for (const std::string& glob : options_.skip) {
      const bool node = std::any_of(match.region.begin(), match.region.end(),
                                    [&](NodeId n) { return names_node(graph(), n, glob); });
      if (node || fits(rule.name, glob))
        return Decline{"skipped by request ('" + glob + "')", "leave out --skip " + glob};
    }
    return std::nullopt;
  }

  void apply(const Rewrite& rule, const Match& match) {
    FiredRewrite fired{.rule = rule.name,
                       .stage = to_string(rule.stage),
                       .verdict = rule.verdict,
                       .proof = rule.proof,
                       .rows = rule.rows};
    std::vector<NodeId> region = match.region;
    if (rule.also_replaces != nullptr) {
      for (const NodeId n : rule.also_replaces(context_, match)) region.push_back(n);
    }
    fired.inputs = entering(region);
    fired.output = note_of(graph(), match.root).output;
    std::vector<NodeNote> notes;
    for (const NodeId n : region) notes.push_back(note_of(graph(), n));
    fired.formulas = formulas(region);
    const auto touched = values_of(region);
    const std::set<std::string> names_before = names(touched);
    const NodeId last = graph().node_ids().back();
    context_.made.clear();
    rule.build(context_, match);
    sweep(touched);
    for (std::size_t i = 0; i < region.size(); ++i) {
      if (!graph().alive(region[i])) fired.removed.push_back(notes[i]);
    }
    for (const NodeId n : graph().node_ids()) {
      if (n > last) fired.made.push_back(note_of(graph(), n));
    }
    for (const ValueId v : context_.made) {
      if (graph().alive(v)) fired.constants.push_back(graph().name(v));
    }
    for (const std::string& name : names_before) {
      if (!graph().find_value(name)) fired.vanished.push_back(name);
    }
    log().fired.push_back(std::move(fired));
  }

  std::vector<std::string> entering(const std::vector<NodeId>& region) {
    std::vector<std::string> inputs;
    for (const NodeId n : region) {
      for (const ValueId v : graph().node(n).inputs) {
        if (!v.valid() || context_.constant(v) != nullptr) continue;
        const NodeId producer = graph().value(v).producer;
        const bool inner = std::find(region.begin(), region.end(), producer) != region.end();
        const std::string& name = graph().name(v);
        if (!inner && std::find(inputs.begin(), inputs.end(), name) == inputs.end())
          inputs.push_back(name);
      }
    }
    return inputs;
  }

  /// What the region computes from constants.
  std::vector<std::string> formulas(const std::vector<NodeId>& region) {
    std::vector<std::string> list;
    for (const NodeId n : region) {
      const Node& node = graph().node(n);
      if (!node.inputs.empty() && node.has_output(0) &&
          context_.constant(node.outputs[0]) != nullptr)
        list.push_back(graph().name(node.outputs[0]));
    }
    return list;
  }

  std::set<ValueId> values_of(const std::vector<NodeId>& region) {
    std::set<ValueId> values;
    for (const NodeId n : region) {
      for (const ValueId v : graph().node(n).inputs) values.insert(v);
      for (const ValueId v : graph().node(n).outputs) values.insert(v);
    }
    values.erase(ValueId{});
    return values;
  }

  std::set<std::string> names(const std::set<ValueId>& values) {
    std::set<std::string> result;
    for (const ValueId v : values) {
      const Value& x = graph().value(v);
      if (x.producer.valid()) result.insert(x.name);
    }
    return result;
  }

  /// Erases what the rewrite left without use: inner values, and constants with the nodes that only
  /// computed them.
  void sweep(const std::set<ValueId>& touched) {
    std::vector<ValueId> work(touched.begin(), touched.end());
    while (!work.empty()) {
      const ValueId v = work.back();
      work.pop_back();
      if (!graph().alive(v) || graph().use_count(v) > 0 || graph().value(v).is_input) continue;
      const NodeId producer = graph().value(v).producer;
      if (!producer.valid()) {
        graph().erase_value(v);
        continue;
      }
      const Node node = graph().node(producer);
      const bool used = std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId o) {
        return o.valid() && graph().use_count(o) > 0;
      });
      if (used) continue;
      graph().erase_node(producer);
      for (const ValueId o : node.outputs) {
        if (o.valid()) work.push_back(o);
      }
      for (const ValueId i : node.inputs) {
        if (i.valid()) work.push_back(i);
      }
    }
  }

  void drop_dead_code() {
    const auto before = graph().node_ids();
    std::vector<NodeNote> notes;
    for (const NodeId n : before) notes.push_back(note_of(graph(), n));
    graph().remove_dead();
    FiredRewrite fired{.rule = "drop_dead_code",
                       .stage = "clean",
                       .verdict = "E0",
                       .proof = {"bits"},
                       .rows = {"M6"}};
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (!graph().alive(before[i])) fired.removed.push_back(notes[i]);
    }
    if (!fired.removed.empty()) log().fired.push_back(std::move(fired));
  }

  /// At the fixpoint every remaining near-match is refused for a reason that stays.
  void explain_stage(Stage s, const std::vector<const Rewrite*>& rules,
                     const IsConstant& is_constant) {
    for (const NodeId n : graph().topological_order()) {
      for (const Rewrite* rule : all_by_name(rules)) {
        for (const Pattern& p : rule->patterns) {
          const auto match = match_at(graph(), n, p, is_constant);
          if (!match) continue;
          const auto why = refusal(*rule, *match);
          if (why && !why->reason.empty()) {
            log().declined.push_back(
                {rule->name, to_string(s), note_of(graph(), n), why->reason, why->edit});
          }
          break;
        }
      }
    }
  }

  static std::vector<const Rewrite*> all_by_name(std::vector<const Rewrite*> rules) {
    std::sort(rules.begin(), rules.end(), [](auto* a, auto* b) { return a->name < b->name; });
    return rules;
  }

  FusionResult result_;
  FusionOptions options_;
  RuleContext context_;
};

}  // namespace

const std::vector<FusionMode>& fusion_modes() {
  static const std::vector<FusionMode> modes = {
      {"none", "nothing is rewritten"},
      {"bn", "Horizon's OnlyBN: batch normalization into the operator in front"},
      {"bn-add-relu",
       "Horizon's BNAddReLU: bn, and Conv + residual Add + ReLU/ReLU6 as one operator"},
      {"amct-onnx", "what AMCT documents for its ONNX front end"},
      {"amct-tf", "what AMCT documents for its TensorFlow front end, as ONNX graphs"},
      {"amct-caffe", "what AMCT documents for its Caffe front end, as ONNX graphs"},
      {"all", "every rule that keeps the real-number function"},
  };
  return modes;
}

std::vector<const Rewrite*> rules_of(const std::string& mode) {
  std::vector<const Rewrite*> rules;
  const auto& modes = fusion_modes();
  if (std::any_of(modes.begin(), modes.end(),
                  [&](const FusionMode& m) { return m.name == mode; })) {
    for (const Rewrite* r : all_rewrites()) {
      const bool member = std::find(r->sets.begin(), r->sets.end(), mode) != r->sets.end();
      if (mode == "all" ? r->in_all : member) rules.push_back(r);
    }
    return rules;
  }
  std::stringstream list(mode);
  for (std::string name; std::getline(list, name, ',');) {
    const Rewrite* rule = find_rewrite(name);
    if (rule == nullptr) {
      std::string known;
      for (const FusionMode& m : modes) known += (known.empty() ? "" : ", ") + m.name;
      for (const Rewrite* r : all_rewrites()) known += ", " + r->name;
      throw Error(
          {.what = "unknown fusion mode or rule", .got = "'" + name + "'", .expected = known});
    }
    rules.push_back(rule);
  }
  if (rules.empty())
    throw Error({.what = "the fusion mode is empty", .expected = "a mode or a list of rules"});
  return rules;
}

FusionResult fuse(const Graph& g, const FusionOptions& options) {
  return Pipeline(g, options).run();
}

}  // namespace assay
