#include "validation/certificate/exact_constants.h"

#include <algorithm>

#include "runtime/numeric/parallel.h"
#include "validation/certificate/linear_term.h"

namespace assay {
namespace {

template <class T>
T rounded(long double x) {
  if constexpr (std::is_same_v<T, dd>) {
    return dd(static_cast<double>(x));
  } else {
    return static_cast<T>(x);
  }
}

template <class T>
T rounded(const Real& x) {
  if constexpr (std::is_same_v<T, dd>) {
    const double high = x.to_double();
    return dd(high, (x - Real(high)).to_double());
  } else if constexpr (std::is_same_v<T, float>) {
    return x.to_float();
  } else {
    return static_cast<T>(x.to_double());
  }
}

/// A tensor of `level` with these elements.
template <class Element>
Tensor filled(DType level, const Shape& shape, Element&& element) {
  const auto make = [&]<class T>(T) {
    Tensor t(dtype_of<T>, shape);
    auto data = t.mutable_data<T>();
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = rounded<T>(element(i));
    return t;
  };
  if (level == DType::dd) return make(dd(0.0));
  return level == DType::float32 ? make(0.0F) : make(0.0);
}

/// Every weight times its factor: exact for dd, else a long double product, which is within 2^-62
/// and so far inside what the radius of the level covers.
Tensor exact_weights(const LinearTerm& o, bool transposed, DType level) {
  const auto stored = to_doubles(o.weights);
  const Shape& s = o.weights.shape();
  const Shape shape = transposed ? Shape{s[1], s[0]} : s;
  Tensor out(level, shape);
  const auto place = [&]<class T>(T, const auto& product) {
    const auto to = out.mutable_data<T>();
    parallel_for(0, static_cast<std::int64_t>(o.coeff.size()), 1,
                 [&](std::int64_t first, std::int64_t last) {
                   for (std::int64_t c = first; c < last; ++c) {
                     const long double scale =
                         o.coeff[static_cast<std::size_t>(c)].to_long_double();
                     for (std::int64_t i = 0; i < weights_per_channel(o); ++i) {
                       const std::int64_t at = weight_index(o, c, i);
                       const std::int64_t k = transposed ? at % s[1] * s[0] + at / s[1] : at;
                       to[static_cast<std::size_t>(k)] =
                           rounded<T>(product(c, i, scale, stored[static_cast<std::size_t>(at)]));
                     }
                   }
                 });
  };
  const auto exact = [&](std::int64_t c, std::int64_t i, long double, double w) {
    return weight_factor(o, c, i) * Real(w);
  };
  const auto near = [&](std::int64_t c, std::int64_t i, long double scale, double w) {
    return static_cast<long double>(w) *
           (o.input_coeff.empty() ? scale : weight_factor(o, c, i).to_long_double());
  };
  if (level == DType::dd) {
    place(dd(0.0), exact);
  } else if (level == DType::float32) {
    place(0.0F, near);
  } else {
    place(0.0, near);
  }
  return out;
}

/// The fused side has the operator's own weights and no factor around them.
bool replaceable(const Segment& s) {
  if (s.original.linear.size() != 1 || s.fused.linear.size() != 1) return false;
  const LinearTerm& f = s.fused.linear[0];
  return f.input_coeff.empty() &&
         std::all_of(f.coeff.begin(), f.coeff.end(), [](const Real& c) { return c == Real(1); });
}

/// False when some constant of the segment could not be replaced.
bool replace(Graph& g, const Segment& s, DType level) {
  if (!replaceable(s)) return false;
  const auto out = g.find_value(s.fused.linear[0].output);
  if (!out || !g.value(*out).producer.valid()) return false;
  const NodeId n = g.value(*out).producer;
  const bool transposed = g.node(n).attributes.int_or("transB", 0) != 0;
  g.set_input(n, 1,
              g.add_initializer(g.fresh_name("exact_weights"),
                                exact_weights(s.original.linear[0], transposed, level)));
  if (!g.node(n).has_input(2) || s.fused.steps > 0) return false;
  const auto& shift = s.original.shift;
  const Tensor b = filled(level, Shape{static_cast<std::int64_t>(shift.size())},
                          [&](std::size_t c) { return shift[c]; });
  g.set_input(n, 2, g.add_initializer(g.fresh_name("exact_bias"), b));
  return true;
}

}  // namespace

std::optional<Graph> with_exact_constants(const Graph& plain, const std::vector<Segment>& segments,
                                          DType level) {
  Graph g = plain;
  bool any = false;
  for (const Segment& s : segments) {
    if (s.audit.exact) continue;
    if (!replace(g, s, level)) return std::nullopt;
    any = true;
  }
  return any ? std::optional<Graph>(std::move(g)) : std::nullopt;
}

}  // namespace assay
