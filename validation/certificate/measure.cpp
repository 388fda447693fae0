#include "validation/certificate/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "validation/certificate/exact_constants.h"
#include "validation/certificate/radius.h"
#include "validation/metric.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

/// Products that double-double may be asked for; more takes minutes.
constexpr std::int64_t largest_dd = 1 << 22;

/// What storing a constant again may have moved, where no proof says what it should be: constants
/// of the fused side that the original does not hold. Half a unit in the last place for Assay's
/// own; for other tools 2^-14 of the largest number of the tensor, which leaves room for a shift
/// that cancels to a hundredth of its parts.
std::map<std::string, Tensor> constant_radii(const Region& r, bool own) {
  std::vector<Tensor> known;
  for (const ValueId v : r.original.value_ids()) {
    if (const Tensor* t = r.original.constant(v)) known.push_back(*t);
  }
  std::map<std::string, Tensor> radii;
  for (const ValueId v : r.fused.value_ids()) {
    const Tensor* t = r.fused.constant(v);
    if (t == nullptr || !is_float(t->dtype())) continue;
    if (std::any_of(known.begin(), known.end(), [&](const Tensor& k) { return same_bits(k, *t); }))
      continue;
    Tensor radius = convert(*t, DType::float64).clone();
    double largest = 0;
    for (const double x : to_doubles(*t)) largest = std::max(largest, std::fabs(x));
    for (double& x : radius.mutable_data<double>())
      x = own ? std::fabs(x) * 0x1p-24 : largest * 0x1p-14;
    radii[r.fused.name(v)] = radius;
  }
  return radii;
}

class Measurement {
 public:
  Measurement(const Region& r, const std::vector<Segment>& segments, bool own)
      : r_(r), segments_(segments), proved_(!segments.empty()) {
    if (!proved_) radii_ = constant_radii(r, own);
    for (const auto& [name, type, precision] :
         {std::tuple("float32", DType::float32, Precision::f32),
          std::tuple("float64", DType::float64, Precision::f64),
          std::tuple("dd", DType::dd, Precision::dd)}) {
      auto g = proved_ ? with_exact_constants(r.plain, segments, type) : std::nullopt;
      if (!g) continue;
      exact_.push_back({*std::move(g), precision});
      m_.structure.push_back({name, {}});
    }
  }

  Measured run(const std::vector<Feeds>& samples) {
    for (std::size_t i = 0; i < samples.size() && m_.missing.empty(); ++i) sample(samples[i], i);
    if (!small_) std::erase_if(m_.structure, [](const auto& l) { return l.name == "dd"; });
    return std::move(m_);
  }

 private:
  struct Side {
    Graph graph;
    Precision precision;
  };

  void sample(const Feeds& feeds, std::size_t index) {
    const Bounded o32 = evaluate_bounded(r_.original, feeds, Precision::f32, false);
    const Bounded f32 = evaluate_bounded(r_.fused, feeds, Precision::f32, false);
    const Bounded o64 = evaluate_bounded(r_.original, feeds, Precision::f64, false);
    const Bounded f64 = evaluate_bounded(r_.fused, feeds, Precision::f64, false);
    for (const Bounded* b : {&o32, &f32, &o64, &f64}) {
      if (!b->radius) m_.missing = b->missing;
    }
    if (!m_.missing.empty()) return;
    const auto e64 = sum_of({to_doubles(*o64.radius), to_doubles(*f64.radius)});
    const Difference d64 = difference(o64.value, f64.value, e64);
    m_.real.merge(d64);
    const auto allowed =
        sum_of({to_doubles(*o32.radius), to_doubles(*f32.radius), gap(o64.value, f64.value), e64});
    const Difference d32 = difference(o32.value, f32.value, allowed);
    if (d32.at >= 0 && d32.usage >= m_.f32.usage)
      m_.bound = allowed[static_cast<std::size_t>(d32.at)];
    m_.f32.merge(d32);
    outside(o32, f32, index);
    if (proved_) {
      note(o64.value, f64.value, d64, index);
      structure(feeds, o32, o64);
    } else {
      unexplained(feeds, o64, index);
    }
  }

  /// Inputs that depend on others hold float32 roundings of the network in between: both sides see
  /// them off by 2^-14 of their largest number, generously.
  std::map<std::string, Tensor> input_radii(const Feeds& feeds) const {
    std::map<std::string, Tensor> radii;
    for (const std::string& name : r_.dependent) {
      const Tensor& t = feeds.at(name);
      if (!is_float(t.dtype())) continue;
      double largest = 0;
      for (const double x : to_doubles(t)) largest = std::max(largest, std::fabs(x));
      Tensor r = Tensor::zeros(DType::float64, t.shape());
      for (double& x : r.mutable_data<double>()) x = largest * 0x1p-14;
      radii[name] = r;
    }
    return radii;
  }

  void unexplained(const Feeds& feeds, const Bounded& o64, std::size_t index) {
    const auto inputs = input_radii(feeds);
    auto all = radii_;
    all.insert(inputs.begin(), inputs.end());
    const Bounded f = evaluate_bounded(r_.fused, feeds, Precision::f64, false, all);
    const Bounded o = evaluate_bounded(r_.original, feeds, Precision::f64, false, inputs);
    if (!f.radius || !o.radius) return;
    const Difference d =
        difference(o64.value, f.value, sum_of({to_doubles(*o.radius), to_doubles(*f.radius)}));
    m_.unexplained.merge(d);
    note(o64.value, f.value, d, index);
  }

  /// The constants of a level are the exact ones rounded to it: one more radius covers that.
  void structure(const Feeds& feeds, const Bounded& o32, const Bounded& o64) {
    for (std::size_t k = 0; k < exact_.size(); ++k) {
      const Side& side = exact_[k];
      if (side.precision == Precision::dd && !(small_ = small_ && products() < largest_dd))
        continue;
      Bounded odd;
      if (side.precision == Precision::dd)
        odd = evaluate_bounded(r_.original, feeds, Precision::dd, false);
      const Bounded& o = side.precision == Precision::f32   ? o32
                         : side.precision == Precision::f64 ? o64
                                                            : odd;
      const Bounded f = evaluate_bounded(side.graph, feeds, side.precision, false);
      if (!f.radius || !o.radius) continue;
      m_.structure[k].difference.merge(difference(
          o.value, f.value,
          sum_of({to_doubles(*o.radius), to_doubles(*f.radius), to_doubles(*f.radius)})));
    }
  }

  /// Rough count of multiplications: outputs times weights of one output channel.
  std::int64_t products() const {
    std::int64_t n = 0;
    for (const Segment& s : segments_) {
      for (const LinearTerm& t : s.original.linear) n += weights_per_channel(t) * outputs_;
    }
    return n;
  }

  /// The domain is: every number inside the original is finite.
  void outside(const Bounded& o, const Bounded& f, std::size_t index) {
    const auto x = to_doubles(o.value);
    const auto y = to_doubles(f.value);
    outputs_ = static_cast<std::int64_t>(x.size());
    std::int64_t pairs = 0;
    std::int64_t at = -1;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (std::isfinite(x[i]) == std::isfinite(y[i])) continue;
      ++pairs;
      if (at < 0 && std::isfinite(x[i])) at = static_cast<std::int64_t>(i);
    }
    if (pairs == 0) return;
    const bool inside = o.finite && at >= 0;
    if (m_.domain.is_null()) m_.domain = Json::array();
    m_.domain.push_back(
        {{"sample", index}, {"nonfinite_pairs", pairs}, {"original_finite_inside", o.finite}});
    if (!inside || m_.overflowed) return;
    m_.overflowed = true;
    m_.witness = witness_json(r_.output, o.value, f.value, at);
    m_.witness["sample"] = index;
    widest_ = INFINITY;
  }

  void note(const Tensor& o, const Tensor& f, const Difference& d, std::size_t index) {
    if (d.at < 0 || d.usage <= widest_) return;
    widest_ = d.usage;
    m_.witness = witness_json(r_.output, o, f, d.at);
    m_.witness["sample"] = index;
  }

  const Region& r_;
  const std::vector<Segment>& segments_;
  bool proved_;
  std::map<std::string, Tensor> radii_;
  std::vector<Side> exact_;
  Measured m_;
  double widest_ = 0;
  bool small_ = true;
  std::int64_t outputs_ = 0;
};

}  // namespace

Measured measure(const Region& r, const std::vector<Segment>& segments,
                 const std::vector<Feeds>& samples, bool own) {
  return Measurement(r, segments, own).run(samples);
}

Json Measured::rounding_json() const {
  return {{"max_abs", json_number(f32.max_abs)},
          {"max_ulp", json_number(f32.max_ulp)},
          {"bound", json_number(bound)},
          {"bound_usage", json_number(f32.usage)}};
}

Json Measured::scaling_json() const {
  Json j{{"float64_difference", json_number(real.max_abs)},
         {"float64_difference_over_radius", json_number(real.usage)}};
  for (const Level& level : structure)
    j[level.name + "_exact_constants_over_radius"] = json_number(level.difference.usage);
  return j;
}

Json witness_json(const std::string& name, const Tensor& original, const Tensor& fused,
                  std::int64_t index) {
  Json w{{"tensor", name}, {"index", index}};
  if (index < 0) return w;
  const auto i = static_cast<std::size_t>(index);
  const Shape& s = original.shape();
  if (s.rank() > 1) w["channel"] = index / s.numel(2, s.rank()) % s[1];
  w["original"] = fmt::format("{:a}", to_doubles(original)[i]);
  if (index < fused.numel()) w["fused"] = fmt::format("{:a}", to_doubles(fused)[i]);
  return w;
}

std::int64_t first_difference(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return a.numel() > 0 ? 0 : -1;
  const Tensor x = a.reshaped(Shape{a.numel()});
  const Tensor y = b.reshaped(Shape{a.numel()});
  for (std::int64_t i = 0; i < a.numel(); ++i) {
    if (!same_bits(x.rows(i, i + 1), y.rows(i, i + 1))) return i;
  }
  return -1;
}

}  // namespace assay
