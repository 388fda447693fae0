#include "validation/session/batch.h"

#include <algorithm>

#include "runtime/infer.h"

namespace assay {
namespace {

/// Every input has an open first axis.
bool stacks(const Graph& g) {
  return std::none_of(g.inputs().begin(), g.inputs().end(), [&](ValueId v) {
    const auto& dims = g.value(v).type.dims;
    if (g.value(v).initializer.defined()) return false;
    return !dims || dims->empty() || (*dims)[0].size >= 0;
  });
}

}  // namespace

std::int64_t peak_activation_bytes(const Graph& g, const std::map<std::string, Shape>& inputs) {
  const StaticTypes types = infer_types(g, inputs);
  const std::vector<NodeId> order = g.topological_order();
  std::map<ValueId, std::size_t> last;  // reader
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const ValueId v : g.node(order[i]).inputs) last[v] = i;
    for (const ValueId v : g.node(order[i]).captures) last[v] = i;
    for (const ValueId v : g.node(order[i]).outputs) last.emplace(v, i);
  }
  for (const ValueId v : g.outputs()) last[v] = order.size();
  std::vector<std::vector<ValueId>> ends(order.size() + 1);
  for (const auto& [v, i] : last) ends[i].push_back(v);

  const auto bytes = [&](ValueId v) -> std::int64_t {
    if (!v.valid() || g.value(v).initializer.defined() || !types.type(v).known()) return 0;
    return bytes_of(types.type(v).dtype, types.type(v).shape());
  };
  std::int64_t alive = 0, peak = 0;
  for (const ValueId v : g.inputs()) alive += bytes(v);
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const ValueId v : g.node(order[i]).outputs) alive += bytes(v);
    peak = std::max(peak, alive);
    for (const ValueId v : ends[i]) alive -= bytes(v);
  }
  return peak;
}

std::int64_t usable_batch(const Graph& g, const Feeds& sample, std::int64_t wanted,
                          std::int64_t activation_bytes) {
  if (wanted <= 1 || !stacks(g)) return 1;
  const std::int64_t each = peak_activation_bytes(g, shapes_of(sample));
  while (wanted > 1 && wanted * each > activation_bytes) wanted /= 2;
  return wanted;
}

}  // namespace assay
