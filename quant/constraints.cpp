#include "quant/constraints.h"

#include <fmt/format.h>

#include <algorithm>

#include "fusion/constants.h"
#include "runtime/infer.h"

namespace assay {
namespace {

/// One layer against one table.
class Judge {
 public:
  Judge(const Target& table, const LayerView& view, NodeId n, const LayerRequest& request)
      : table_(table), view_(view), n_(n), request_(request) {}

  const TargetRow* row_of(const std::vector<std::string>& ir) const {
    for (const TargetRow& row : table_.rows) {
      for (const NodeMatch& m : row.match) {
        if (fits(m, ir)) return &row;
      }
    }
    return nullptr;
  }

  void apply_row(const TargetRow& row, LayerVerdict& v) const {
    v.row = row.type;
    v.ir = row.ir;
    v.answer = row.answer;
    for (const Constraint& c : row.constraints) apply(c, row.type, v);
    for (const TargetRule& rule : table_.rules) {
      if (concerns(rule, row)) apply(rule.constraint, row.type, v);
    }
  }

  void apply(const Constraint& c, const std::string& row, LayerVerdict& v) const {
    if (c.when && !holds(*c.when)) return;
    if (!c.check) {
      lower(v, c.gives);
      return;
    }
    const Fact f = fact_of(c.check->fact, view_, n_, request_);
    if (f.free && take_free(c, v)) return;
    if (f.value && c.check->allows(*f.value)) return;
    v.failed.push_back({.id = fmt::format("{}/{}/{}", table_.name, row, c.id),
                        .text = c.text,
                        .meaning = c.meaning,
                        .source = c.source,
                        .value = f.shown,
                        .expected = c.check->text(),
                        .edit = c.edit,
                        .answer = c.otherwise,
                        .error = c.error});
    lower(v, c.otherwise);
  }

 private:
  bool holds(const Condition& c) const {
    const Fact f = fact_of(c.fact, view_, n_, request_);
    return f.value ? c.allows(*f.value) : c.negated;
  }

  bool fits(const NodeMatch& m, const std::vector<std::string>& ir) const {
    const Node& node = view_.graph.node(n_);
    if (!m.ir.empty()) return std::find(ir.begin(), ir.end(), m.ir) != ir.end();
    if (m.op != node.op_type || (m.domain != "*" && m.domain != node.domain)) return false;
    return std::all_of(m.when.begin(), m.when.end(), [&](const Condition& c) { return holds(c); });
  }

  bool concerns(const TargetRule& rule, const TargetRow& row) const {
    return std::any_of(rule.types.begin(), rule.types.end(), [&](const TargetRule::Type& t) {
      const bool named = t.type == "*" || t.type == row.type ||
                         std::find(row.ir.begin(), row.ir.end(), t.type) != row.ir.end();
      return named && (!t.when || holds(*t.when));
    });
  }

  /// An open setting takes the value that the table allows; an open product is only noted unless
  /// the constraint is a warning.
  bool take_free(const Constraint& c, LayerVerdict& v) const {
    if (c.check->fact != "product") {
      if (c.check->values.size() == 1 && !c.check->negated)
        v.settings[c.check->fact] = c.check->values.front();
      return true;
    }
    if (c.otherwise == LayerAnswer::degrades) return false;
    v.open.push_back(fmt::format("{} ({})", c.meaning, c.check->text()));
    return true;
  }

  static void lower(LayerVerdict& v, LayerAnswer to) { v.answer = std::max(v.answer, to); }

  const Target& table_;
  const LayerView& view_;
  NodeId n_;
  const LayerRequest& request_;
};

bool computes_a_constant(const LayerView& view, const Node& node) {
  return !node.outputs.empty() &&
         std::all_of(node.outputs.begin(), node.outputs.end(),
                     [&](ValueId v) { return !v.valid() || view.constant(v) != nullptr; });
}

/// The columns of the weight-only table that speak of quantizing weights and data together.
void apply_both(const Target& target, const Judge& judge_both, LayerVerdict& v) {
  if (target.weight_only.empty()) return;
  const TargetRow* row = judge_both.row_of(v.ir);
  if (row == nullptr) return;
  const bool listed = v.answer != LayerAnswer::not_listed;
  LayerVerdict both;
  for (const Constraint& c : row->when_both) judge_both.apply(c, row->type, both);
  v.failed.insert(v.failed.end(), both.failed.begin(), both.failed.end());
  if (listed) v.settings.insert(both.settings.begin(), both.settings.end());
  if (both.failed.empty()) return;
  v.answer = LayerAnswer::no;
  v.remark.clear();
  if (!listed) v.row = row->type;
}

/// What a judge needs to know of a graph, worked out once.
struct Known {
  Known(const Graph& g, const std::map<std::string, Shape>& shapes)
      : types(infer_types(g, shapes)),
        view{.graph = g,
             .constant = [this, &g](ValueId v) { return constants.get(g, v); },
             .type = [this, &g](ValueId v) { return type(g, v); }} {}

  Known(const Known&) = delete;  // the view points into it
  Known& operator=(const Known&) = delete;

  TensorType type(const Graph& g, ValueId v) const {
    const Tensor* t = g.constant(v);
    return t != nullptr ? TensorType::of(*t) : types.type(v);
  }

  ConstantValues constants;
  StaticTypes types;
  LayerView view;
};

const Target& table_for(const Target& target, const std::string& scheme) {
  if (target.scheme == scheme) return target;
  if (scheme == "weight-only" && !target.weight_only.empty())
    return find_target(target.weight_only);
  throw Error({.what = "the target has no table for this scheme",
               .where = "target " + target.name,
               .got = "'" + scheme + "'",
               .expected = target.weight_only.empty() ? "uniform" : "uniform or weight-only"});
}

void check_settings(const TargetQuery& query) {
  for (const auto& [name, value] : query.settings) parse_setting(name + "=" + to_string(value));
}

}  // namespace

std::string LayerVerdict::reason() const {
  std::vector<std::string> parts;
  for (const FailedConstraint& f : failed)
    parts.push_back(fmt::format("{}{}: {}", f.error ? "error, " : "", f.meaning, f.value));
  if (parts.empty()) return remark;
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string LayerVerdict::edit() const {
  std::vector<std::string> parts;
  for (const FailedConstraint& f : failed) {
    if (!f.edit.empty() && std::find(parts.begin(), parts.end(), f.edit) == parts.end())
      parts.push_back(f.edit);
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

LayerVerdict judge_layer(const Target& target, const Target& table, const LayerView& view, NodeId n,
                         const LayerRequest& request) {
  const Node& node = view.graph.node(n);
  LayerVerdict v{.node = node.name,
                 .op_type = node.domain.empty() ? node.op_type : node.domain + "." + node.op_type,
                 .output = node.has_output(0) ? view.graph.name(node.outputs[0]) : ""};
  if (computes_a_constant(view, node)) {
    v.remark = "computes a constant";
    return v;
  }
  const Judge own(target, view, n, request);
  const TargetRow* own_row = own.row_of({});
  const bool both = table.name == target.name;
  const Judge judge(table, view, n, request);
  const TargetRow* row =
      both ? own_row : judge.row_of(own_row == nullptr ? std::vector<std::string>{} : own_row->ir);
  if (row != nullptr) {
    judge.apply_row(*row, v);
  } else {
    v.remark = fmt::format("{} has no row for {}", table.name, v.op_type);
  }
  if (both && !target.weight_only.empty())
    apply_both(target, Judge(find_target(target.weight_only), view, n, request), v);
  return v;
}

std::int64_t TargetReport::count(LayerAnswer a) const {
  return std::count_if(layers.begin(), layers.end(),
                       [&](const LayerVerdict& v) { return v.answer == a; });
}

bool TargetReport::fails_strict() const {
  return count(LayerAnswer::no) + count(LayerAnswer::degrades) > 0 ||
         std::any_of(table->statements.begin(), table->statements.end(),
                     [](const Statement& s) { return s.strict; });
}

TargetReport judge_graph(const Graph& g, const TargetQuery& query,
                         const std::map<std::string, Shape>& input_shapes) {
  TargetReport report{.target = &find_front_end(query.target), .scheme = query.scheme};
  report.table = &table_for(*report.target, query.scheme);
  if (!query.product.empty()) report.product = find_product(*report.table, query.product);
  check_settings(query);
  const Known known(g, input_shapes);
  for (const NodeId n : g.topological_order()) {
    report.layers.push_back(judge_layer(*report.target, *report.table, known.view, n,
                                        {.product = report.product, .settings = query.settings}));
    for (const auto& [name, attribute] : g.node(n).attributes.items()) {
      if (std::holds_alternative<GraphPtr>(attribute))
        report.notes.push_back(
            fmt::format("the subgraph '{}' of {} is not judged", name, describe(g.node(n))));
    }
  }
  return report;
}

std::map<NodeId, LayerVerdict> judge_nodes(
    const Graph& g, const TargetQuery& query,
    const std::function<std::map<std::string, FactValue>(NodeId)>& settings_of) {
  const Target& target = find_front_end(query.target);
  LayerRequest request;
  if (!query.product.empty()) request.product = find_product(target, query.product);
  const Known known(g, {});
  std::map<NodeId, LayerVerdict> verdicts;
  for (const NodeId n : g.node_ids()) {
    request.settings = settings_of(n);
    verdicts.emplace(n,
                     judge_layer(target, table_for(target, query.scheme), known.view, n, request));
  }
  return verdicts;
}

std::pair<std::string, FactValue> parse_setting(const std::string& text) {
  const auto equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const auto& known = setting_names();
  if (equals == std::string::npos || std::find(known.begin(), known.end(), name) == known.end()) {
    throw Error(
        {.what = "unknown setting",
         .got = "'" + text + "'",
         .expected = fmt::format("NAME=VALUE with NAME one of {}", fmt::join(known, ", "))});
  }
  const std::string value = text.substr(equals + 1);
  const bool number = name == "shift_n" || name == "quantized_inputs";
  if (!number && (value == "true" || value == "false")) return {name, FactValue(value == "true")};
  const bool digits =
      !value.empty() && value.size() < 10 &&
      std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (number && digits) return {name, FactValue(std::int64_t{std::stoll(value)})};
  throw Error({.what = "setting has a value of the wrong kind",
               .got = "'" + text + "'",
               .expected = number ? "an integer from 0" : "true or false"});
}

}  // namespace assay
