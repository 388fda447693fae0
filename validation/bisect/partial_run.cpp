#include "validation/bisect/partial_run.h"

#include <algorithm>

#include "kernels/program.h"
#include "validation/certificate/input_types.h"

namespace assay {
namespace {

std::set<ValueId> reached_from(const Graph& g, ValueId start) {
  std::set<ValueId> reached{start};
  std::vector<ValueId> work{start};
  while (!work.empty()) {
    const ValueId v = work.back();
    work.pop_back();
    for (const NodeId n : g.value(v).readers) {
      for (const ValueId out : g.node(n).outputs) {
        if (out.valid() && reached.insert(out).second) work.push_back(out);
      }
    }
  }
  return reached;
}

/// Known values that the computation of `outputs` can start from.
std::vector<ValueId> starts(const Graph& g, const std::vector<ValueId>& outputs,
                            const std::set<ValueId>& changed, const Values& known) {
  std::set<ValueId> seen(outputs.begin(), outputs.end());
  std::vector<ValueId> work(outputs), list;
  while (!work.empty()) {
    const ValueId v = work.back();
    work.pop_back();
    if (!changed.count(v) && known.count(g.name(v))) {
      list.push_back(v);
      continue;
    }
    if (!g.value(v).producer.valid()) continue;
    const Node& n = g.node(g.value(v).producer);
    for (const auto* inputs : {&n.inputs, &n.captures}) {
      for (const ValueId in : *inputs) {
        if (in.valid() && g.constant(in) == nullptr && seen.insert(in).second) work.push_back(in);
      }
    }
  }
  std::sort(list.begin(), list.end());
  return list;
}

}  // namespace

RunGraph run_canonical() {
  return [](const Graph& g, const Feeds& feeds, const std::set<std::string>& also) {
    return Executor(g, Precision::f32).run(feeds, nullptr, also);
  };
}

RunGraph run_kernels() {
  return [](const Graph& g, const Feeds& feeds, const std::set<std::string>& also) {
    auto program = kernels::Program::compile(with_input_types(g, feeds), shapes_of(feeds));
    return program.run(feeds, also);
  };
}

Values all_values(const Graph& g, const Feeds& feeds, const RunGraph& run) {
  std::set<std::string> names;
  for (const NodeId n : g.node_ids()) {
    for (const ValueId v : g.node(n).outputs) {
      if (v.valid()) names.insert(g.name(v));
    }
  }
  Values values = run(g, feeds, names);
  for (const auto& [name, t] : feeds) values.emplace(name, t);
  return values;
}

Values run_behind(const Graph& g, const std::string& changed, const Values& known,
                  const RunGraph& run) {
  Values result;
  const auto start = g.find_value(changed);
  const std::set<ValueId> behind = start ? reached_from(g, *start) : std::set<ValueId>{};
  std::vector<ValueId> moved;
  for (const ValueId v : g.outputs()) {
    if (behind.count(v)) {
      moved.push_back(v);
    } else if (const auto it = known.find(g.name(v)); it != known.end()) {
      result[g.name(v)] = it->second;
    }
  }
  if (moved.empty()) return result;
  Feeds feeds;
  std::vector<ValueId> inputs;
  for (const ValueId v : starts(g, moved, behind, known)) {
    inputs.push_back(v);
    feeds[g.name(v)] = known.at(g.name(v));
  }
  // A node may give an output that is not moved beside one that is: it is computed twice.
  Values again = run(with_input_types(extract(g, inputs, moved), feeds), feeds, {});
  for (const ValueId v : moved) result[g.name(v)] = again.at(g.name(v));
  return result;
}

}  // namespace assay
