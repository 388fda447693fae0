#include "runtime/tail.h"

#include <algorithm>
#include <map>

namespace assay {
namespace {

class ChainFinder {
 public:
  ChainFinder(const NodeOrder& nodes, Precision precision) : n_(nodes), precision_(precision) {
    for (std::size_t i = 0; i < n_.order.size(); ++i) position_[n_.order[i]] = i;
  }

  std::vector<std::size_t> behind(std::size_t head) const {
    std::vector<std::size_t> chain;
    if (!n_.ops[head]->takes_tail) return chain;
    for (std::size_t last = head;;) {
      const Node& node = n_.graph.node(n_.order[last]);
      if (node.outputs.size() != 1 || !node.outputs[0].valid()) break;
      const auto next = only_reader(node.outputs[0]);
      if (!next || !fits(*next, node.outputs[0], head)) break;
      chain.push_back(last = *next);
    }
    return chain;
  }

 private:
  std::optional<std::size_t> only_reader(ValueId v) const {
    if (n_.graph.use_count(v) != 1 || n_.graph.is_output(v)) return std::nullopt;
    return position_.at(n_.graph.value(v).readers[0]);
  }

  /// The node at `i` is elementwise in `v`, and what else it reads is there before node `head`.
  bool fits(std::size_t i, ValueId v, std::size_t head) const {
    const OpDef& def = *n_.ops[i];
    const Node& node = n_.graph.node(n_.order[i]);
    if (precision_ == Precision::cr && def.cr != nullptr) return false;
    if (node.outputs.size() != 1 || !node.captures.empty()) return false;
    const auto at = std::find(node.inputs.begin(), node.inputs.end(), v) - node.inputs.begin();
    if (at >= static_cast<std::ptrdiff_t>(def.elementwise.operands)) return false;
    return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId other) {
      if (!other.valid() || other == v) return true;
      const NodeId producer = n_.graph.value(other).producer;
      return !producer.valid() || position_.at(producer) < head;
    });
  }

  const NodeOrder& n_;
  Precision precision_;
  std::map<NodeId, std::size_t> position_;
};

}  // namespace

std::vector<std::vector<std::size_t>> tail_chains(const NodeOrder& nodes, Precision precision) {
  const ChainFinder finder(nodes, precision);
  std::vector<std::vector<std::size_t>> chains;
  for (std::size_t i = 0; i < nodes.order.size(); ++i) chains.push_back(finder.behind(i));
  return chains;
}

}  // namespace assay
