#include "quant/value_origin.h"

#include <set>

namespace assay {
namespace {

bool changes_by_itself(const Node& node) {
  static const std::set<std::string> types = {"Multinomial", "Bernoulli"};
  return node.op_type.rfind("Random", 0) == 0 || types.count(node.op_type) != 0;
}

void note(Origin& o, const std::string& what, bool overridable) {
  if (o.changing.empty()) o.changing = what;
  o.only_overridable = o.only_overridable && overridable;
}

}  // namespace

Origin origin_of(const Graph& g, ValueId start) {
  Origin o;
  std::set<ValueId> seen;
  std::vector<ValueId> work = {start};
  while (!work.empty()) {
    const ValueId v = work.back();
    work.pop_back();
    if (!v.valid() || !seen.insert(v).second || g.constant(v) != nullptr) continue;
    const Node* producer = g.producer(v);
    if (producer == nullptr) {
      const bool stored = g.value(v).initializer.defined();
      note(o, "'" + g.name(v) + "'" + (stored ? ", which the caller may override" : ""), stored);
      continue;
    }
    if (changes_by_itself(*producer)) note(o, describe(*producer), false);
    work.insert(work.end(), producer->inputs.begin(), producer->inputs.end());
    work.insert(work.end(), producer->captures.begin(), producer->captures.end());
  }
  return o;
}

}  // namespace assay
