#include "validation/certificate/reading.h"

#include <algorithm>
#include <map>
#include <set>

#include "fusion/constants.h"

namespace assay {
namespace {

class Reader {
 public:
  Reader(const Graph& g, const RewriteLog& log) : from_(g), to_(g) {
    for (const FiredRewrite& f : log.fired) {
      if (f.formulas.empty()) continue;
      Taken t{{f.formulas.begin(), f.formulas.end()}, {f.formulas.begin(), f.formulas.end()}};
      for (const NodeNote& n : f.removed) t.readers.insert(n.output);
      taken_.push_back(std::move(t));
    }
  }

  Graph run() {
    for (const NodeId n : from_.topological_order()) {
      const Node& node = from_.node(n);
      for (std::size_t i = 0; i < node.inputs.size(); ++i) store(n, i, node.inputs[i]);
    }
    to_.remove_dead();
    return std::move(to_);
  }

 private:
  struct Taken {
    std::set<std::string> formulas;
    std::set<std::string> readers;
  };

  bool as_formula(const Node& reader, const std::string& value) const {
    const std::string& out = from_.name(reader.outputs[0]);
    return std::any_of(taken_.begin(), taken_.end(), [&](const Taken& t) {
      return t.formulas.count(value) != 0 && t.readers.count(out) != 0;
    });
  }

  /// Input `i` of `n` as a stored number, if it is a constant that nodes compute.
  void store(NodeId n, std::size_t i, ValueId v) {
    const Node& node = from_.node(n);
    if (!v.valid() || from_.producer(v) == nullptr || from_.constant(v) != nullptr) return;
    if (!node.has_output(0) || as_formula(node, from_.name(v))) return;
    const Tensor* t = constants_.get(from_, v);
    if (t == nullptr) return;
    const auto [at, fresh] = stored_.try_emplace(v, ValueId{});
    if (fresh) at->second = to_.add_initializer(to_.fresh_name(from_.name(v) + "_stored"), *t);
    to_.set_input(n, i, at->second);
  }

  const Graph& from_;
  Graph to_;
  ConstantValues constants_;
  std::vector<Taken> taken_;
  std::map<ValueId, ValueId> stored_;
};

}  // namespace

Graph as_rules_read(const Graph& original, const RewriteLog& log) {
  return Reader(original, log).run();
}

}  // namespace assay
