#include "fusion/rewrite_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace assay {
namespace {

std::string join(const std::vector<std::string>& items) {
  return fmt::format("{}", fmt::join(items, ", "));
}

std::string text_of(const NodeNote& n) {
  const std::string name = n.name.empty() ? "'" + n.output + "'" : "'" + n.name + "'";
  return n.op_type + " " + name;
}

std::string text_of(const std::vector<NodeNote>& nodes) {
  std::vector<std::string> items;
  for (const NodeNote& n : nodes) items.push_back(text_of(n));
  return join(items);
}

nlohmann::ordered_json json_of(const NodeNote& n) {
  return {{"name", n.name}, {"op", n.op_type}, {"output", n.output}};
}

nlohmann::ordered_json json_of(const std::vector<NodeNote>& nodes) {
  auto list = nlohmann::ordered_json::array();
  for (const NodeNote& n : nodes) list.push_back(json_of(n));
  return list;
}

nlohmann::ordered_json json_of(const FiredRewrite& f) {
  return {{"rule", f.rule},           {"stage", f.stage},      {"verdict_at_best", f.verdict},
          {"proof", f.proof},         {"rows", f.rows},        {"nodes", json_of(f.removed)},
          {"made", json_of(f.made)},  {"inputs", f.inputs},    {"output", f.output},
          {"constants", f.constants}, {"vanished", f.vanished}};
}

nlohmann::ordered_json json_of(const DeclinedRewrite& d) {
  return {{"rule", d.rule},
          {"stage", d.stage},
          {"node", json_of(d.node)},
          {"reason", d.reason},
          {"edit", d.edit}};
}

}  // namespace

std::int64_t RewriteLog::count(const std::string& rule) const {
  return std::count_if(fired.begin(), fired.end(),
                       [&](const FiredRewrite& f) { return f.rule == rule; });
}

std::string explain(const RewriteLog& log) {
  std::string text =
      fmt::format("mode {}: {} rewrites, {} declined; {} nodes before, {} after\n", log.mode,
                  log.fired.size(), log.declined.size(), log.nodes_before, log.nodes_after);
  for (const FiredRewrite& f : log.fired) {
    text += fmt::format("fired     {}: {} -> {}, output '{}'\n", f.rule, text_of(f.removed),
                        f.made.empty() ? "nothing" : text_of(f.made), f.output);
    if (!f.constants.empty())
      text += fmt::format("            new constants: {}\n", join(f.constants));
    if (!f.vanished.empty()) text += fmt::format("            values gone: {}\n", join(f.vanished));
  }
  for (const DeclinedRewrite& d : log.declined) {
    text += fmt::format("declined  {} at {}: {}\n", d.rule, text_of(d.node), d.reason);
    if (!d.edit.empty()) text += fmt::format("            would pass: {}\n", d.edit);
  }
  for (const std::string& note : log.notes) text += "note      " + note + "\n";
  return text;
}

std::string to_json(const RewriteLog& log) {
  nlohmann::ordered_json j;
  j["schema"] = "assay-rewrites/1";
  j["mode"] = log.mode;
  j["skip"] = log.skip;
  j["nodes_before"] = log.nodes_before;
  j["nodes_after"] = log.nodes_after;
  j["fired"] = nlohmann::ordered_json::array();
  for (const FiredRewrite& f : log.fired) j["fired"].push_back(json_of(f));
  j["declined"] = nlohmann::ordered_json::array();
  for (const DeclinedRewrite& d : log.declined) j["declined"].push_back(json_of(d));
  j["notes"] = log.notes;
  return j.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace assay
