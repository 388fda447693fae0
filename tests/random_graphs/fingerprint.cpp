#include "tests/random_graphs/fingerprint.h"

#include <cstring>

namespace assay::testing {
namespace {

/// FNV-1a, 64 bits (Fowler, Noll, Vo).
class Hash {
 public:
  void bytes(const void* data, std::size_t n) {
    const auto* p = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < n; ++i) h_ = (h_ ^ p[i]) * 0x100000001B3U;
  }
  void add(std::int64_t v) { bytes(&v, sizeof v); }
  void add(std::uint64_t v) { bytes(&v, sizeof v); }
  void add(float v) { bytes(&v, sizeof v); }
  void add(const std::string& s) {
    add(static_cast<std::uint64_t>(s.size()));
    bytes(s.data(), s.size());
  }
  void add(const Tensor& t) {
    add(static_cast<std::int64_t>(t.dtype()));
    add(to_string(t.shape()));
    bytes(t.raw().data(), t.raw().size());
  }
  /// A body is the same when the values it captures are: rules do not edit bodies.
  void add(const GraphPtr& g) { add(g->node_count()); }
  template <class T>
  void add(const std::vector<T>& list) {
    add(static_cast<std::uint64_t>(list.size()));
    for (const T& one : list) add(one);
  }
  std::uint64_t value() const { return h_; }

 private:
  std::uint64_t h_ = 0xCBF29CE484222325U;
};

class Prints {
 public:
  explicit Prints(const Graph& g) : g_(g) {
    for (const NodeId n : g.topological_order()) visit(g.node(n));
  }

  std::uint64_t of(ValueId v) const {
    if (!v.valid()) return 0;
    if (const auto it = known_.find(v); it != known_.end()) return it->second;
    Hash h;
    const Value& value = g_.value(v);
    if (value.is_input) h.add(value.name);
    if (value.initializer.defined()) h.add(value.initializer);
    return h.value();
  }

 private:
  void visit(const Node& node) {
    Hash h;
    h.add(node.domain + "." + node.op_type);
    for (const auto& [name, a] : node.attributes.items()) {
      h.add(name);
      std::visit([&](const auto& x) { h.add(x); }, a);
    }
    std::size_t used = node.inputs.size();
    while (used > 0 && !node.inputs[used - 1].valid()) --used;
    for (std::size_t i = 0; i < used; ++i) h.add(of(node.inputs[i]));
    for (const ValueId v : node.captures) h.add(of(v));
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      Hash one = h;
      one.add(static_cast<std::uint64_t>(i));
      if (node.outputs[i].valid()) known_[node.outputs[i]] = one.value();
    }
  }

  const Graph& g_;
  std::map<ValueId, std::uint64_t> known_;
};

}  // namespace

std::map<std::string, std::uint64_t> fingerprint(const Graph& g) {
  const Prints prints(g);
  std::map<std::string, std::uint64_t> result;
  for (const ValueId v : g.outputs()) result[g.name(v)] = prints.of(v);
  return result;
}

}  // namespace assay::testing
