#include "fusion/pattern.h"

#include <algorithm>
#include <sstream>

#include "runtime/op.h"

namespace assay {
namespace {

std::vector<std::string> split_types(const std::string& text) {
  std::vector<std::string> types;
  std::stringstream in(text);
  for (std::string one; std::getline(in, one, '|');) types.push_back(one);
  return types;
}

std::string full_type(const Node& node) {
  return node.domain.empty() ? node.op_type : node.domain + "." + node.op_type;
}

std::string quoted(const Graph& g, ValueId v) { return "'" + g.name(v) + "'"; }

std::string reader_name(const Graph& g, NodeId n) {
  const Node& node = g.node(n);
  if (!node.name.empty()) return describe(node);
  return describe(node) + (node.has_output(0) ? " giving " + quoted(g, node.outputs[0]) : "");
}

bool contains(const std::vector<NodeId>& list, NodeId n) {
  return std::find(list.begin(), list.end(), n) != list.end();
}

/// Backtracking search. Each step calls `next` for every way in which it can hold; `next` returns
/// true to stop.
class Matcher {
 public:
  using Next = std::function<bool()>;

  Matcher(const Graph& g, const IsConstant& is_constant) : g_(g), is_constant_(is_constant) {}

  std::optional<Match> run(NodeId root, const Pattern& p) {
    state_.root = root;
    match_node(p, root, [this] { return finish(); });
    return best_;
  }

 private:
  bool finish() {
    Match found = state_;
    for (const NodeId n : found.region) {
      if (n == found.root || contains(found.may_share, n)) continue;
      for (const ValueId v : g_.node(n).outputs) {
        if (!v.valid()) continue;
        if (auto why = still_needed(g_, v, found.region)) found.declines.push_back(*why);
      }
    }
    if (!best_ || found.declines.size() < best_->declines.size()) best_ = std::move(found);
    return best_->declines.empty();
  }

  bool match_value(const Pattern& p, ValueId v, const Next& next) {
    if (!v.valid()) return false;
    switch (p.kind) {
      case Pattern::Kind::any:
        return !(p.hard && is_constant_(v)) && bind(p.capture, v, next);
      case Pattern::Kind::constant:
        return match_constant(p, v, next);
      case Pattern::Kind::either:
        for (const Pattern& one : p.inputs) {
          if (match_value(one, v, next)) return true;
        }
        return false;
      case Pattern::Kind::op:
        break;
    }
    const NodeId producer = g_.value(v).producer;
    if (!producer.valid() || g_.node(producer).outputs[0] != v) return false;
    return match_node(p, producer, next);
  }

  bool bind(const std::string& capture, ValueId v, const Next& next) {
    if (capture.empty()) return next();
    const auto [it, fresh] = state_.values.emplace(capture, v);
    if (!fresh) return it->second == v && next();
    const bool stop = next();
    if (!stop) state_.values.erase(capture);
    return stop;
  }

  bool match_constant(const Pattern& p, ValueId v, const Next& next) {
    if (is_constant_(v)) return bind(p.capture, v, next);
    const Value& value = g_.value(v);
    const bool overridable = value.initializer.defined() && value.is_input;
    if (p.hard && !overridable) return false;
    state_.declines.push_back(
        overridable ? Decline{"value '" + value.name +
                                  "' is a graph input with a default: the caller may override it",
                              "remove '" + value.name + "' from the graph inputs"}
                    : Decline{"value '" + value.name + "' is not constant",
                              "make '" + value.name + "' an initializer"});
    const bool stop = bind(p.capture, v, next);
    if (!stop) state_.declines.pop_back();
    return stop;
  }

  bool match_node(const Pattern& p, NodeId n, const Next& next) {
    if (p.kind == Pattern::Kind::either) {
      return std::any_of(p.inputs.begin(), p.inputs.end(),
                         [&](const Pattern& one) { return match_node(one, n, next); });
    }
    const Node& node = g_.node(n);
    const std::string type = full_type(node);
    const bool typed = std::find(p.types.begin(), p.types.end(), type) != p.types.end();
    if (!typed && p.types != std::vector<std::string>{"*"}) return false;
    if (const auto it = state_.nodes.find(p.capture); it != state_.nodes.end() && it->second != n)
      return false;
    const bool again = contains(state_.region, n);
    const bool named = !p.capture.empty() && state_.nodes.emplace(p.capture, n).second;
    if (!again) state_.region.push_back(n);
    if (p.may_share) state_.may_share.push_back(n);
    bool stop = match_inputs(p, n, {0, 1}, next);
    if (!stop && p.commutative) stop = match_inputs(p, n, {1, 0}, next);
    if (stop) return true;
    if (named) state_.nodes.erase(p.capture);
    if (!again) state_.region.pop_back();
    if (p.may_share) state_.may_share.pop_back();
    return false;
  }

  bool match_inputs(const Pattern& p, NodeId n, std::array<std::size_t, 2> first_two,
                    const Next& next) {
    return match_from(p, n, first_two, 0, next);
  }

  bool match_from(const Pattern& p, NodeId n, std::array<std::size_t, 2> first_two, std::size_t i,
                  const Next& next) {
    if (i == p.inputs.size()) return next();
    const std::size_t at = i < 2 && p.commutative ? first_two[i] : i;
    const Node& node = g_.node(n);
    if (at >= node.inputs.size()) return false;
    return match_value(p.inputs[i], node.inputs[at],
                       [&, i] { return match_from(p, n, first_two, i + 1, next); });
  }

  const Graph& g_;
  const IsConstant& is_constant_;
  Match state_;
  std::optional<Match> best_;
};

}  // namespace

Pattern op(const std::string& types, const std::string& capture, std::vector<Pattern> inputs) {
  return {.kind = Pattern::Kind::op,
          .types = split_types(types),
          .capture = capture,
          .inputs = std::move(inputs)};
}

Pattern any(const std::string& capture) { return {.kind = Pattern::Kind::any, .capture = capture}; }

Pattern variable(const std::string& capture) {
  return {.kind = Pattern::Kind::any, .capture = capture, .hard = true};
}

Pattern constant(const std::string& capture) {
  return {.kind = Pattern::Kind::constant, .capture = capture};
}

Pattern parameter(const std::string& capture) {
  return {.kind = Pattern::Kind::constant, .capture = capture, .hard = true};
}

Pattern commutative(Pattern p) {
  p.commutative = true;
  return p;
}

Pattern shared(Pattern p) {
  p.may_share = true;
  return p;
}

Pattern either(std::vector<Pattern> alternatives) {
  return {.kind = Pattern::Kind::either, .inputs = std::move(alternatives)};
}

int pattern_size(const Pattern& p) {
  int sum = p.kind == Pattern::Kind::op ? 1 : 0;
  for (const Pattern& in : p.inputs) {
    const int size = pattern_size(in);
    sum = p.kind == Pattern::Kind::either ? std::max(sum, size) : sum + size;
  }
  return sum;
}

std::string to_string(const Pattern& p) {
  if (p.kind == Pattern::Kind::any) return p.capture.empty() ? "_" : p.capture;
  if (p.kind == Pattern::Kind::constant) return "const " + p.capture;
  std::string text;
  const bool is_op = p.kind == Pattern::Kind::op;
  for (const std::string& t : p.types) text += (text.empty() ? "" : "|") + t;
  if (p.inputs.empty()) return text;
  std::string inner;
  for (const Pattern& in : p.inputs)
    inner += (inner.empty() ? "" : is_op ? ", " : " or ") + to_string(in);
  return is_op ? text + "(" + inner + ")" : inner;
}

std::optional<Match> match_at(const Graph& g, NodeId root, const Pattern& p,
                              const IsConstant& is_constant) {
  return Matcher(g, is_constant).run(root, p);
}

std::optional<Decline> still_needed(const Graph& g, ValueId v, const std::vector<NodeId>& region) {
  const Value& value = g.value(v);
  if (g.is_output(v)) {
    return Decline{"inner value '" + value.name + "' is a graph output",
                   "remove '" + value.name + "' from the graph outputs"};
  }
  for (const NodeId n : value.readers) {
    const auto& captures = g.node(n).captures;
    if (std::find(captures.begin(), captures.end(), v) != captures.end()) {
      return Decline{
          "inner value '" + value.name + "' is captured by a subgraph of " + reader_name(g, n),
          "compute '" + value.name + "' again for that subgraph"};
    }
    if (!contains(region, n)) {
      return Decline{"inner value '" + value.name + "' is also read by " + reader_name(g, n),
                     "let " + reader_name(g, n) + " read a copy computed by its own node"};
    }
  }
  return std::nullopt;
}

}  // namespace assay
