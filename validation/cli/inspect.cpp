// assay inspect: what a model is made of.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "runtime/infer.h"
#include "runtime/onnx/reader.h"
#include "validation/cli/cli.h"
#include "validation/cli/options.h"
#include "validation/cli/outlook.h"
#include "validation/cli/target_flags.h"
#include "validation/cli/traffic.h"
#include "validation/report/target_report.h"

namespace assay::inspect_command {
namespace {

struct InspectCommand {
  std::string model = {};
  std::string mode = "all";
  InputOptions input = {};
  TargetFlags target = {};
  CommonOptions common = {};
};

struct OpCount {
  std::int64_t count = 0;
  std::int64_t macs = 0;
  bool supported = true;
};

struct Summary {
  std::map<std::string, OpCount> ops = {};
  std::int64_t nodes = 0;
  std::int64_t macs = 0;
  std::int64_t parameters = 0;
  std::int64_t weight_bytes = 0;
  std::int64_t initializers = 0;
  std::int64_t nodes_of_open_shape = 0;  ///< nodes whose MACs are not known without --shape
};

std::string op_name(const Node& node) {
  return node.domain.empty() ? node.op_type : node.domain + "." + node.op_type;
}

bool known(const Graph& g, const StaticTypes& types, const Node& node) {
  for (const auto* list : {&node.inputs, &node.outputs}) {
    for (const ValueId v : *list) {
      if (v.valid() && g.constant(v) == nullptr && !types.type(v).known()) return false;
    }
  }
  return true;
}

/// Subgraphs count their nodes and weights; their MACs depend on how often they run.
void add_graph(const Graph& g, const StaticTypes* types, Summary& s) {
  for (const ValueId v : g.value_ids()) {
    const Tensor& t = g.value(v).initializer;
    if (!t.defined()) continue;
    ++s.initializers;
    s.parameters += t.numel();
    s.weight_bytes += t.bytes();
  }
  for (const NodeId n : g.node_ids()) {
    const Node& node = g.node(n);
    const OpDef* def = find_op(node.domain, node.op_type, g.opset(node.domain));
    OpCount& op = s.ops[op_name(node)];
    ++op.count;
    ++s.nodes;
    op.supported = op.supported && def != nullptr && def->eval != nullptr;
    if (types != nullptr && def != nullptr && def->macs != nullptr) {
      const std::int64_t macs = macs_of(g, n, *types);
      op.macs += macs;
      s.macs += macs;
      s.nodes_of_open_shape += known(g, *types, node) ? 0 : 1;
    }
    for (const auto& [name, a] : node.attributes.items()) {
      if (const auto* body = std::get_if<GraphPtr>(&a)) add_graph(**body, nullptr, s);
    }
  }
}

std::string type_text(const Graph& g, const StaticTypes& types, ValueId v) {
  const TensorType& t = types.type(v);
  const ValueType& stated = g.value(v).type;
  if (g.value(v).initializer.defined() && !g.value(v).is_input)
    return describe(g.value(v).initializer);
  return t.known() || !stated.dims ? to_string(t) : to_string(stated);
}

nlohmann::json values_json(const Graph& g, const StaticTypes& types,
                           const std::vector<ValueId>& values) {
  auto list = nlohmann::json::array();
  for (const ValueId v : values) {
    nlohmann::json j = {{"name", g.name(v)}, {"type", type_text(g, types, v)}};
    if (g.value(v).is_input && g.value(v).initializer.defined()) j["default"] = true;
    list.push_back(std::move(j));
  }
  return list;
}

std::vector<std::string> unsupported(const Summary& s) {
  std::vector<std::string> names;
  for (const auto& [name, op] : s.ops) {
    if (!op.supported) names.push_back(name);
  }
  return names;
}

nlohmann::json to_json(const std::string& model, const Graph& g, const StaticTypes& types,
                       const Summary& s) {
  nlohmann::json opsets = nlohmann::json::object();
  for (const auto& [domain, version] : g.info.opsets)
    opsets[domain.empty() ? "ai.onnx" : domain] = version;
  auto ops = nlohmann::json::array();
  for (const auto& [name, op] : s.ops) {
    ops.push_back(
        {{"op", name}, {"count", op.count}, {"macs", op.macs}, {"supported", op.supported}});
  }
  return {{"model", model},
          {"ir_version", g.info.ir_version},
          {"producer", g.info.producer},
          {"producer_version", g.info.producer_version},
          {"graph", g.info.graph_name},
          {"opsets", opsets},
          {"inputs", values_json(g, types, g.inputs())},
          {"outputs", values_json(g, types, g.outputs())},
          {"nodes", s.nodes},
          {"operators", ops},
          {"unsupported", unsupported(s)},
          {"initializers", s.initializers},
          {"parameters", s.parameters},
          {"weight_bytes", s.weight_bytes},
          {"macs", s.macs},
          {"nodes_of_open_shape", s.nodes_of_open_shape}};
}

void print_values(const char* title, const Graph& g, const StaticTypes& types,
                  const std::vector<ValueId>& values) {
  std::cout << title << '\n';
  for (const ValueId v : values) {
    const bool fallback = g.value(v).is_input && g.value(v).initializer.defined();
    std::cout << fmt::format("  {} {}{}\n", g.name(v), type_text(g, types, v),
                             fallback ? " (has a default)" : "");
  }
}

void print(const std::string& model, const Graph& g, const StaticTypes& types, const Summary& s) {
  std::cout << fmt::format("model     {}\nproducer  {} {}\nIR        {}\nopset    ", model,
                           g.info.producer, g.info.producer_version, g.info.ir_version);
  for (const auto& [domain, version] : g.info.opsets) {
    std::cout << ' ' << (domain.empty() ? "ai.onnx" : domain) << ' ' << version;
  }
  std::cout << '\n';
  print_values("inputs", g, types, g.inputs());
  print_values("outputs", g, types, g.outputs());
  std::cout << fmt::format("{:<32}{:>8}{:>18}{:>9}\n", "operator", "count", "MACs", "share");
  for (const auto& [name, op] : s.ops) {
    const std::string share = op.macs == 0
                                  ? ""
                                  : fmt::format("{:.1f} %", 100.0 * static_cast<double>(op.macs) /
                                                                static_cast<double>(s.macs));
    std::cout << fmt::format("{:<32}{:>8}{:>18}{:>9}{}\n", name, op.count,
                             op.macs == 0 ? "" : std::to_string(op.macs), share,
                             op.supported ? "" : "  not supported");
  }
  std::cout << fmt::format("{:<32}{:>8}{:>18}\n", "total", s.nodes, s.macs);
  std::cout << fmt::format("parameters {} in {} tensors, {} bytes\n", s.parameters, s.initializers,
                           s.weight_bytes);
  if (s.nodes_of_open_shape > 0) {
    std::cout << fmt::format(
        "note: the MACs of {} nodes are not counted, their shapes are open; give --shape "
        "NAME=1x3x224x224\n",
        s.nodes_of_open_shape);
  }
}

int inspect(const InspectCommand& c) {
  apply(c.common);
  const Graph g = read_onnx(c.model);
  const auto shapes = parse_shapes(g, c.input.shapes);
  Summary s;
  StaticTypes types;
  try {
    types = infer_types(g, shapes);
  } catch (const Error& e) {
    throw e.at(c.model);
  }
  add_graph(g, &types, s);
  const auto target = judge_target(g, c.target, shapes, c.model);
  const TrafficReport traffic = measure_traffic(g, shapes);
  const Outlook outlook = look_ahead(g, c.mode, shapes);
  if (c.common.json) {
    auto j = to_json(c.model, g, types, s);
    add_to(j, traffic);
    add_to(j, outlook);
    if (target) j["target"] = to_json(*target);
    std::cout << j.dump(2) << '\n';
  } else if (!c.common.quiet) {
    print(c.model, g, types, s);
    std::cout << to_text(traffic);
    std::cout << (target ? to_text(*target) : to_text(outlook));
  }
  return target ? exit_code(*target, c.target) : 0;
}

const RegisterCommand registered{
    {.name = "inspect", .summary = "Show what a model is made of", .setup = [](CLI::App& app) {
       auto c = std::make_shared<InspectCommand>();
       app.add_option("model", c->model, "ONNX file")->required();
       app.add_option("--shape", c->input.shapes,
                      "NAME=1x3x224x224 for inputs with open sizes, repeatable")
           ->type_name("NAME=SHAPE");
       app.add_option("--mode", c->mode, "fusion mode or rule names, as in assay fuse");
       add_target_flags(app, c->target);
       add_common_options(app, c->common);
       app.footer(
           "Examples:\n  assay inspect model.onnx --shape image=1x3x224x224\n"
           "  assay inspect model.onnx --target amct-onnx --product atlas-a2 --sarif out.sarif");
       return [c] { return inspect(*c); };
     }}};

}  // namespace
}  // namespace assay::inspect_command
