#include "validation/certificate/quantizer_change.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "validation/certificate/difference.h"
#include "validation/certificate/measure.h"
#include "validation/certificate/radius.h"
#include "validation/metric.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_pairs = 12;
constexpr std::size_t most_drops = 64;

bool same_parameters(const Graph& g, const Node& q, const Node& dq) {
  for (std::size_t i = 1; i < 3; ++i) {
    if (q.has_input(i) != dq.has_input(i)) return false;
    if (!q.has_input(i)) continue;
    const Tensor* a = g.constant(q.inputs[i]);
    const Tensor* b = g.constant(dq.inputs[i]);
    if (a == nullptr || b == nullptr || !same_bits(*a, *b)) return false;
  }
  return true;
}

/// `g` with `make` in the place of each pair, writing what the dequantizer wrote.
template <class Make>
Graph replaced(const Graph& g, const std::vector<QuantizerPair>& pairs, Make&& make) {
  Graph out = g;
  for (const QuantizerPair& p : pairs) {
    const ValueId in = *out.find_value(p.input);
    const ValueId to = *out.find_value(p.output);
    const NodeId dq = out.value(to).producer;
    const NodeId q = out.value(out.node(dq).inputs[0]).producer;
    out.erase_node(dq);
    out.erase_node(q);
    make(out, p, in, to);
  }
  out.remove_dead();
  return out;
}

std::string noise_name(const QuantizerPair& p) { return "noise of " + p.output; }

/// Each pair as v + 0, where the zero stands for an unknown error.
Graph with_noise(const Graph& g, const std::vector<QuantizerPair>& pairs,
                 const std::map<std::string, Tensor>& values) {
  return replaced(g, pairs, [&](Graph& out, const QuantizerPair& p, ValueId in, ValueId to) {
    const Tensor zero = Tensor::zeros(DType::float32, values.at(p.input).shape());
    out.add_node({.name = out.fresh_node_name("noise"),
                  .op_type = "Add",
                  .inputs = {in, out.add_initializer(noise_name(p), zero)},
                  .outputs = {to}});
  });
}

class Check {
 public:
  Check(const Graph& o, const std::vector<QuantizerPair>& dropped) : o_(o), dropped_(dropped) {}

  QuantizerCheck run(const std::vector<Feeds>& samples) {
    for (std::size_t i = 0; i < samples.size(); ++i) sample(samples[i], i);
    Json pairs = Json::array();
    for (const QuantizerPair& p : dropped_)
      pairs.push_back({{"node", p.quantizer}, {"scale", p.scale}});
    result_.json = {{"dropped", pairs},
                    {"saturated", saturated_},
                    {"elements", elements_},
                    {"interval_usage", json_number(result_.usage)}};
    if (!codes_.empty()) add_codes();
    return std::move(result_);
  }

 private:
  void sample(const Feeds& feeds, std::size_t index) {
    std::set<std::string> taps;
    for (const QuantizerPair& p : dropped_) taps.insert({p.input, p.output});
    auto values = Executor(o_, Precision::f64).run(feeds, nullptr, taps);
    for (const auto& [name, t] : feeds) values.emplace(name, t);
    const Graph noisy = with_noise(o_, dropped_, values);
    const Bounded n = evaluate_bounded(noisy, feeds, Precision::f64, false, errors(values));
    const Bounded b = evaluate_bounded(noisy, feeds, Precision::f64, false);
    const std::string out = o_.name(o_.outputs()[0]);
    if (!n.radius || !b.radius) {
      result_.inside = false;
      result_.witness = {{"tensor", out}, {"note", "no bound for " + n.missing}};
      return;
    }
    const Tensor& o = values.at(out);
    const Difference d =
        difference(o, n.value, sum_of({to_doubles(*n.radius), to_doubles(*b.radius)}));
    if (!is_float(o.dtype())) count_codes(o, n.value);
    if (d.usage > result_.usage) {
      result_.usage = d.usage;
      if (d.usage > 1) {
        result_.inside = false;
        result_.witness = witness_json(out, o, n.value, d.at);
        result_.witness["sample"] = index;
      }
    }
  }

  /// What each pair may do to each element.
  std::map<std::string, Tensor> errors(const std::map<std::string, Tensor>& values) {
    std::map<std::string, Tensor> radii;
    for (const QuantizerPair& p : dropped_) {
      const auto x = to_doubles(values.at(p.input));
      const auto y = to_doubles(values.at(p.output));
      Tensor r = Tensor::zeros(DType::float64, values.at(p.input).shape());
      auto radius = r.mutable_data<double>();
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double half = 0.5 * p.scale * (1 + 0x1p-40);
        const double off = std::fabs(x[i] - y[i]);
        saturated_ += off > half;
        radius[i] = std::max(half, off);
      }
      elements_ += static_cast<std::int64_t>(x.size());
      radii[noise_name(p)] = r;
    }
    return radii;
  }

  void count_codes(const Tensor& o, const Tensor& n) {
    const auto x = to_doubles(o);
    const auto y = to_doubles(n);
    for (std::size_t i = 0; i < x.size(); ++i) ++codes_[static_cast<std::int64_t>(y[i] - x[i])];
  }

  /// An error that is uniform in +-s/2 moves a code of step t with probability s / (4 t) when s is
  /// at most 2 t, else 1 - t / s.
  void add_codes() {
    Json histogram = Json::object();
    std::int64_t all = 0;
    std::int64_t moved = 0;
    for (const auto& [code, n] : codes_) {
      histogram[std::to_string(code)] = n;
      all += n;
      moved += code == 0 ? 0 : n;
    }
    result_.json["lsb_histogram"] = histogram;
    result_.json["observed_rate"] = static_cast<double>(moved) / static_cast<double>(all);
    const Node* last = o_.producer(o_.outputs()[0]);
    if (dropped_.size() != 1 || last == nullptr || !last->is("QuantizeLinear")) return;
    const Tensor* step = o_.constant(last->inputs[1]);
    if (step == nullptr || step->numel() != 1) return;
    const double s = dropped_[0].scale;
    const double t = to_doubles(*step)[0];
    result_.json["predicted_rate_at_unit_gain"] = s <= 2 * t ? s / (4 * t) : 1 - t / s;
  }

  const Graph& o_;
  const std::vector<QuantizerPair>& dropped_;
  QuantizerCheck result_;
  std::map<std::int64_t, std::int64_t> codes_;  ///< fused minus original
  std::int64_t saturated_ = 0, elements_ = 0;
};

}  // namespace

std::vector<QuantizerPair> quantizer_pairs(const Graph& g) {
  std::vector<QuantizerPair> list;
  for (const NodeId n : g.topological_order()) {
    const Node& dq = g.node(n);
    const Node* q = dq.is("DequantizeLinear") ? g.producer(dq.inputs[0]) : nullptr;
    if (q == nullptr || !q->is("QuantizeLinear") || g.use_count(dq.inputs[0]) != 1 ||
        !same_parameters(g, *q, dq))
      continue;
    const Tensor* scale = g.constant(q->inputs[1]);
    if (scale == nullptr || scale->numel() != 1) continue;
    list.push_back(
        {q->name, dq.name, g.name(q->inputs[0]), g.name(dq.outputs[0]), to_doubles(*scale)[0]});
  }
  return list;
}

Graph without_quantizers(const Graph& g, const std::vector<QuantizerPair>& pairs) {
  return replaced(g, pairs, [](Graph& out, const QuantizerPair& p, ValueId in, ValueId to) {
    out.add_node({.name = out.fresh_node_name(p.quantizer + "_dropped"),
                  .op_type = "Identity",
                  .inputs = {in},
                  .outputs = {to}});
  });
}

std::vector<std::vector<QuantizerPair>> possible_drops(const Region& r) {
  const auto have = quantizer_pairs(r.original);
  const auto kept = quantizer_pairs(r.plain);
  std::vector<std::vector<QuantizerPair>> drops;
  if (have.size() <= kept.size() || have.size() > most_pairs) return drops;
  const std::size_t count = have.size() - kept.size();
  // Masks of `count` bits, in lexicographic order.
  std::vector<bool> mask(have.size(), false);
  std::fill(mask.begin(), mask.begin() + static_cast<std::ptrdiff_t>(count), true);
  do {
    std::vector<QuantizerPair> drop;
    for (std::size_t i = 0; i < have.size(); ++i) {
      if (mask[i]) drop.push_back(have[i]);
    }
    drops.push_back(std::move(drop));
  } while (drops.size() < most_drops && std::prev_permutation(mask.begin(), mask.end()));
  return drops;
}

QuantizerCheck check_dropped(const Graph& original, const std::vector<QuantizerPair>& dropped,
                             const std::vector<Feeds>& samples) {
  return Check(original, dropped).run(samples);
}

}  // namespace assay
