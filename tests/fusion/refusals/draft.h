// Draft: a small net that can be changed before it is built, and the cases of refusal made of it.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/fusion/net.h"

namespace assay::testing {

class Draft {
 public:
  explicit Draft(std::vector<std::string> lines, std::int64_t opset = 13)
      : lines_(std::move(lines)), opset_(opset) {}

  Draft& input(const std::string& name, std::vector<std::int64_t> dims,
               DType dtype = DType::float32) {
    inputs_.push_back({name, {std::move(dims), dtype}});
    return *this;
  }
  Draft& constant(const std::string& name, Tensor t) {
    for (auto& [known, tensor] : constants_) {
      if (known == name) return tensor = std::move(t), *this;
    }
    constants_.push_back({name, std::move(t)});
    return *this;
  }
  // Each of these gives a changed copy.
  Draft with(const std::string& name, Tensor t) const {
    return Draft(*this).constant(name, std::move(t));
  }
  Draft plus(const std::string& line, std::vector<std::string> outputs) const {
    Draft d = *this;
    d.lines_.push_back(line);
    d.outputs_ = std::move(outputs);
    return d;
  }
  Draft outputs(std::vector<std::string> names) const {
    Draft d = *this;
    d.outputs_ = std::move(names);
    return d;
  }
  /// `from` in any line becomes `to`.
  Draft edited(const std::string& from, const std::string& to) const {
    Draft d = *this;
    for (std::string& line : d.lines_) {
      if (const auto at = line.find(from); at != std::string::npos)
        line.replace(at, from.size(), to);
    }
    return d;
  }
  Draft at_opset(std::int64_t opset) const {
    Draft d = *this;
    d.opset_ = opset;
    return d;
  }
  /// The constant `name` as a default of an input, or as a true input.
  Draft overridable(const std::string& name) const { return given(name, true); }
  Draft fed(const std::string& name) const { return given(name, false); }
  /// A subgraph reads `name`.
  Draft captured(const std::string& name) const {
    Draft d = *this;
    d.captured_ = name;
    return d;
  }

  /// What a line of text cannot say.
  Draft then(void (*edit)(Graph&)) const {
    Draft d = *this;
    d.edit_ = edit;
    return d;
  }

  Graph build() const {
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    Net net(text, opset_);
    for (const auto& [name, type] : inputs_) net.input(name, type.first, type.second);
    for (const auto& [name, t] : constants_) {
      if (name == given_ && overridable_)
        net.overridable(name, t);
      else if (name == given_)
        net.input(name, t.shape().vec(), t.dtype());
      else
        net.constant(name, t);
    }
    Graph g = net.outputs(outputs_).build();
    if (!captured_.empty()) add_reading_subgraph(g, captured_);
    if (edit_ != nullptr) edit_(g);
    return g;
  }

 private:
  Draft given(const std::string& name, bool overridable) const {
    Draft d = *this;
    d.given_ = name;
    d.overridable_ = overridable;
    return d;
  }

  static void add_reading_subgraph(Graph& g, const std::string& name) {
    Graph body;
    const ValueId in = body.add_capture(name);
    const ValueId out = body.add_value("inside");
    body.add_node({.name = "inner", .op_type = "Relu", .inputs = {in}, .outputs = {out}});
    body.add_output(out);
    const GraphPtr branch = std::make_shared<const Graph>(std::move(body));
    const ValueId cond = g.add_input("cond", {DType::boolean, std::vector<Dim>{}});
    Node node{.name = "if", .op_type = "If", .inputs = {cond}};
    node.attributes.set("then_branch", branch);
    node.attributes.set("else_branch", branch);
    node.captures = {*g.find_value(name)};
    node.outputs = {g.add_value("chosen")};
    g.add_output(node.outputs[0]);
    g.add_node(std::move(node));
    g.verify();
  }

  std::vector<std::string> lines_;
  std::int64_t opset_;
  std::vector<std::pair<std::string, std::pair<std::vector<std::int64_t>, DType>>> inputs_ = {};
  std::vector<std::pair<std::string, Tensor>> constants_ = {};
  std::vector<std::string> outputs_ = {};
  std::string given_ = {};
  std::string captured_ = {};
  bool overridable_ = false;
  void (*edit_)(Graph&) = nullptr;
};

/// One condition under which a rule declines, on the smallest net that shows it.
struct RefusalCase {
  std::string rule;
  std::string refusal;  ///< as in the rule's list
  Draft draft;
  std::string words;      ///< part of the reason: the failed condition with its values
  std::string mode = {};  ///< empty: the rule alone
};

struct RegisterRefusals {
  using Make = std::vector<RefusalCase> (*)();
  /// `base`: the net without a defect, on which the rule fires.
  RegisterRefusals(const std::string& rule, Draft base, Make make) {
    bases().emplace_back(rule, std::move(base));
    makers().push_back(make);
  }
  static std::vector<std::pair<std::string, Draft>>& bases() {
    static std::vector<std::pair<std::string, Draft>> list;
    return list;
  }
  static std::vector<Make>& makers() {
    static std::vector<Make> list;
    return list;
  }
};

/// The first three refusals of every rule: the inner value `c` may not vanish.
inline std::vector<RefusalCase> inner_value_cases(const std::string& rule, const Draft& base,
                                                  const std::string& c = "c",
                                                  const std::string& y = "y") {
  return {{rule, "second reader", base.plus("reader = Neg(" + c + ")", {y, "reader"}),
           "inner value '" + c + "' is also read by node 'n_reader' (Neg)"},
          {rule, "inner graph output", base.outputs({y, c}),
           "inner value '" + c + "' is a graph output"},
          {rule, "captured by a subgraph", base.captured(c),
           "inner value '" + c + "' is captured by a subgraph of node 'if' (If)"}};
}

inline void append(std::vector<RefusalCase>& to, std::vector<RefusalCase> more) {
  for (RefusalCase& c : more) to.push_back(std::move(c));
}

}  // namespace assay::testing
