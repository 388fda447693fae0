#include "fusion/fold_math.h"

#include <mpfr.h>

#include <array>
#include <bit>
#include <map>

#include "runtime/numeric/finite.h"
#include "runtime/numeric/parallel.h"

namespace assay {
namespace {

/// An MPFR number with its precision; rounds to nearest.
class Wide {
 public:
  explicit Wide(mpfr_prec_t p) { mpfr_init2(x_, p), mpfr_set_zero(x_, 1); }
  Wide(mpfr_prec_t p, double v) : Wide(p) { mpfr_set_d(x_, v, MPFR_RNDN); }
  Wide(const Wide& o) : Wide(mpfr_get_prec(o.x_)) { mpfr_set(x_, o.x_, MPFR_RNDN); }
  Wide& operator=(const Wide& o) {
    mpfr_set(x_, o.x_, MPFR_RNDN);
    return *this;
  }
  ~Wide() { mpfr_clear(x_); }
  mpfr_ptr get() { return x_; }
  mpfr_srcptr get() const { return x_; }

 private:
  mpfr_t x_;
};

/// A value with the sum of the magnitudes of its terms: the error is at most 2^(10-p) of the
/// latter.
struct Bounded {
  Wide value;
  Wide magnitude;
  explicit Bounded(mpfr_prec_t p) : value(p), magnitude(p) {}
  Bounded(mpfr_prec_t p, double v) : value(p, v), magnitude(p, std::fabs(v)) {}

  void times(const Wide& k) {
    mpfr_mul(value.get(), value.get(), k.get(), MPFR_RNDN);
    mpfr_mul(magnitude.get(), magnitude.get(), k.get(), MPFR_RNDN);
    mpfr_abs(magnitude.get(), magnitude.get(), MPFR_RNDN);
  }
  void plus(const Wide& t) {
    mpfr_add(value.get(), value.get(), t.get(), MPFR_RNDN);
    Wide size(t);
    mpfr_abs(size.get(), size.get(), MPFR_RNDN);
    mpfr_add(magnitude.get(), magnitude.get(), size.get(), MPFR_RNDN);
  }
};

double at(const std::vector<double>& v, std::int64_t channel) {
  return v.size() == 1 ? v[0] : v[static_cast<std::size_t>(channel)];
}

/// γ/√(v+ε). v+ε of two doubles is kept exactly enough: the sum is computed at 2200 bits, more than
/// their range needs.
Wide bn_factor(const AffineStep& s, std::int64_t c, mpfr_prec_t p) {
  Wide sum(2200, at(s.var, c));
  mpfr_add_d(sum.get(), sum.get(), s.epsilon, MPFR_RNDN);
  Wide root(p);
  mpfr_sqrt(root.get(), sum.get(), MPFR_RNDN);
  Wide factor(p, at(s.gamma, c));
  mpfr_div(factor.get(), factor.get(), root.get(), MPFR_RNDN);
  return factor;
}

/// x <- step(x); `linear` leaves the shift out (weights).
void act(Bounded& x, const AffineStep& s, std::int64_t c, mpfr_prec_t p, bool linear) {
  using Kind = AffineStep::Kind;
  switch (s.kind) {
    case Kind::batch_norm: {
      if (!linear) x.plus(Wide(p, -at(s.mean, c)));
      x.times(bn_factor(s, c, p));
      if (!linear) x.plus(Wide(p, at(s.beta, c)));
      return;
    }
    case Kind::mul:
      return x.times(Wide(p, at(s.gamma, c)));
    case Kind::div: {
      Wide k(p, 1.0);
      mpfr_div_d(k.get(), k.get(), at(s.gamma, c), MPFR_RNDN);
      return x.times(k);
    }
    case Kind::add:
      if (!linear) x.plus(Wide(p, at(s.gamma, c)));
      return;
    case Kind::sub:
      if (!linear) x.plus(Wide(p, -at(s.gamma, c)));
      return;
    case Kind::negate:
      return x.times(Wide(p, -1.0));
  }
}

template <class T>
T round_to(mpfr_srcptr x);
template <>
float round_to<float>(mpfr_srcptr x) {
  return mpfr_get_flt(x, MPFR_RNDN);
}
template <>
double round_to<double>(mpfr_srcptr x) {
  return mpfr_get_d(x, MPFR_RNDN);
}

/// Of two neighbours, the one with the even last bit.
template <class T>
T even_one(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return (std::bit_cast<Bits>(a) & 1U) == 0 ? a : b;
}

template <class T>
struct Rounded {
  T low;
  T high;
  bool exact_zero;
};

template <class T>
Rounded<T> round_interval(const Bounded& x) {
  const mpfr_prec_t p = mpfr_get_prec(x.value.get());
  Wide radius(x.magnitude);
  mpfr_mul_2si(radius.get(), radius.get(), 10 - p, MPFR_RNDN);
  Wide end(p);
  mpfr_sub(end.get(), x.value.get(), radius.get(), MPFR_RNDD);
  const T low = round_to<T>(end.get());
  mpfr_add(end.get(), x.value.get(), radius.get(), MPFR_RNDU);
  return {low, round_to<T>(end.get()), mpfr_zero_p(x.magnitude.get()) != 0};
}

/// Ziv's loop: `compute(p)` gives the value at precision p.
template <class T, class Compute>
T round_once(Compute&& compute) {
  constexpr std::array<mpfr_prec_t, 4> precisions = {160, 640, 4096, 20000};
  Rounded<T> r{};
  for (const mpfr_prec_t p : precisions) {
    r = round_interval<T>(compute(p));
    if (r.low == r.high) break;
  }
  if (r.low == r.high)
    return r.low == 0 && std::signbit(r.low) != std::signbit(r.high) ? T(0) : r.low;
  return even_one(r.low, r.high);
}

/// Fast product: the scale as a double is within 2^-53 of the exact one, so the double product is
/// within 2^-52 of the exact product. Its rounding to float is decided unless the 29 bits below the
/// float's last lie within 4 units of a tie.
bool decided_in_double(double product) {
  const double size = std::fabs(product);
  if (!(size >= 0x1p-125 && size < 0x1p127)) return product == 0;
  const auto below = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(product) & 0x1FFFFFFFU);
  return std::llabs(below - 0x10000000) > 4;
}

/// Weights [first, last) of channel `c`, whose scale is `s` as a double.
template <class T>
void scale_stretch(std::span<const T> w, std::span<T> out, const ExactAffine& map, std::int64_t c,
                   double s) {
  const bool usual = std::isfinite(s) && std::fabs(s) > 0x1p-1000;
  for (std::size_t i = 0; i < w.size(); ++i) {
    if (w[i] == T(0) && std::isfinite(s)) {
      out[i] = w[i] * static_cast<T>(s);
      continue;
    }
    if constexpr (std::is_same_v<T, float>) {
      const double product = static_cast<double>(w[i]) * s;
      if (usual && std::isfinite(w[i]) && decided_in_double(product)) {
        out[i] = static_cast<float>(product);
        continue;
      }
    }
    out[i] = map.weight<T>(w[i], c);
  }
}

/// Weights [first, last).
template <class T>
void scale_part(std::span<const T> w, std::span<T> out, std::int64_t first, std::int64_t last,
                const ExactAffine& map, const ChannelOf& channel_of) {
  std::vector<double> scales;
  std::vector<char> known;
  for (std::int64_t i = first; i < last;) {
    const std::int64_t end = std::min(last, (i / channel_of.stretch + 1) * channel_of.stretch);
    const std::int64_t c = channel_of(i);
    const auto at = static_cast<std::size_t>(c);
    if (at >= scales.size()) scales.resize(at + 1), known.resize(at + 1, 0);
    if (!known[at]) scales[at] = map.scale<double>(c), known[at] = 1;
    const auto begin = static_cast<std::size_t>(i), size = static_cast<std::size_t>(end - i);
    scale_stretch(w.subspan(begin, size), out.subspan(begin, size), map, c, scales[at]);
    i = end;
  }
}

template <class T>
void scale_all(std::span<const T> w, std::span<T> out, const ExactAffine& map,
               const ChannelOf& channel_of) {
  const auto n = static_cast<std::int64_t>(w.size());
  // A part finds the scales of its channels itself: few parts, so that this stays little work.
  const std::int64_t grain = std::max<std::int64_t>(1 << 16, n / 16);
  parallel_for(0, n, grain, [&](std::int64_t first, std::int64_t last) {
    scale_part(w, out, first, last, map, channel_of);
  });
}

/// The exact shifts t of the channels, kept per precision.
class ShiftTable {
 public:
  explicit ShiftTable(const ExactAffine& map) : map_(map) {}

  const Bounded& at(std::int64_t channel, mpfr_prec_t p) {
    const auto [it, fresh] = known_.try_emplace({channel, p}, Bounded(p, 0.0));
    if (fresh) {
      for (const AffineStep& s : map_.steps()) act(it->second, s, channel, p, false);
    }
    return it->second;
  }

 private:
  const ExactAffine& map_;
  std::map<std::pair<std::int64_t, mpfr_prec_t>, Bounded> known_;
};

Tensor undefined_bias(std::int64_t channels, DType dtype) {
  return Tensor::zeros(dtype, Shape{channels});
}

}  // namespace

ExactAffine ExactAffine::then(const ExactAffine& next) const {
  ExactAffine both(*this);
  both.steps_.insert(both.steps_.end(), next.steps_.begin(), next.steps_.end());
  return both;
}

ExactAffine ExactAffine::then(AffineStep step) const {
  ExactAffine both(*this);
  both.steps_.push_back(std::move(step));
  return both;
}

template <class T>
T ExactAffine::apply(T x, std::int64_t channel) const {
  return round_once<T>([&](mpfr_prec_t p) {
    Bounded v(p, static_cast<double>(x));
    for (const AffineStep& s : steps_) act(v, s, channel, p, false);
    return v;
  });
}

template <class T>
T ExactAffine::weight(T x, std::int64_t channel) const {
  if (x == 0) return std::signbit(scale<double>(channel)) ? -x : x;
  return round_once<T>([&](mpfr_prec_t p) {
    Bounded v(p, static_cast<double>(x));
    for (const AffineStep& s : steps_) act(v, s, channel, p, true);
    return v;
  });
}

template <class T>
T ExactAffine::scale(std::int64_t channel) const {
  return round_once<T>([&](mpfr_prec_t p) {
    Bounded v(p, 1.0);
    for (const AffineStep& s : steps_) act(v, s, channel, p, true);
    return v;
  });
}

template <class T>
T ExactAffine::shift(std::int64_t channel) const {
  return apply<T>(T(0), channel);
}

bool ExactAffine::shift_is_zero(std::int64_t channel) const {
  constexpr mpfr_prec_t p = 4096;
  Bounded v(p, 0.0);
  for (const AffineStep& s : steps_) act(v, s, channel, p, false);
  if (mpfr_zero_p(v.value.get())) return true;
  Wide radius(v.magnitude);
  mpfr_mul_2si(radius.get(), radius.get(), 10 - p, MPFR_RNDN);
  return mpfr_cmpabs(v.value.get(), radius.get()) <= 0;
}

std::optional<std::string> ExactAffine::undefined_at(std::int64_t channels) const {
  using Kind = AffineStep::Kind;
  for (const AffineStep& s : steps_) {
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::string where = "channel " + std::to_string(c);
      for (const auto* list : {&s.gamma, &s.beta, &s.mean, &s.var}) {
        if (!list->empty() && !std::isfinite(at(*list, c)))
          return where + " has a parameter that is not finite";
      }
      if (s.kind == Kind::div && at(s.gamma, c) == 0) return where + " divides by 0";
      if (s.kind != Kind::batch_norm) continue;
      // A sum of two finite doubles has the right sign also after rounding.
      if (!(at(s.var, c) + s.epsilon > 0)) {
        return where + " has variance " + std::to_string(at(s.var, c)) + " and epsilon " +
               std::to_string(s.epsilon) + ", whose sum is not positive";
      }
    }
  }
  return std::nullopt;
}

template float ExactAffine::scale<float>(std::int64_t) const;
template double ExactAffine::scale<double>(std::int64_t) const;
template float ExactAffine::shift<float>(std::int64_t) const;
template double ExactAffine::shift<double>(std::int64_t) const;
template float ExactAffine::apply<float>(float, std::int64_t) const;
template double ExactAffine::apply<double>(double, std::int64_t) const;
template float ExactAffine::weight<float>(float, std::int64_t) const;
template double ExactAffine::weight<double>(double, std::int64_t) const;

Tensor scale_weights(const Tensor& w, const ExactAffine& map, const ChannelOf& channel_of) {
  Tensor out(w.dtype(), w.shape());
  if (w.dtype() == DType::float64) {
    scale_all<double>(w.data<double>(), out.mutable_data<double>(), map, channel_of);
  } else {
    scale_all<float>(w.data<float>(), out.mutable_data<float>(), map, channel_of);
  }
  return out;
}

Tensor map_bias(const Tensor& bias, const ExactAffine& map, std::int64_t channels, DType dtype) {
  const Tensor from = bias.defined() ? bias : undefined_bias(channels, dtype);
  Tensor out(dtype, Shape{channels});
  const auto fill = [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto in = from.data<T>();
    const auto to = out.mutable_data<T>();
    for (std::int64_t c = 0; c < channels; ++c) {
      to[static_cast<std::size_t>(c)] =
          map.apply<T>(in[in.size() == 1 ? 0 : static_cast<std::size_t>(c)], c);
    }
  };
  if (dtype == DType::float64)
    fill(std::type_identity<double>{});
  else
    fill(std::type_identity<float>{});
  return out;
}

Tensor scale_weights(const Tensor& w, const TwoSided& maps) {
  Tensor result(w.dtype(), w.shape());
  const auto fill = [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto from = w.data<T>();
    const auto to = result.mutable_data<T>();
    for (std::int64_t i = 0; i < w.numel(); ++i) {
      to[static_cast<std::size_t>(i)] = round_once<T>([&](mpfr_prec_t p) {
        Bounded v(p, static_cast<double>(from[static_cast<std::size_t>(i)]));
        for (const AffineStep& s : maps.in.steps()) act(v, s, maps.in_channel_of(i), p, true);
        for (const AffineStep& s : maps.out.steps()) act(v, s, maps.out_channel_of(i), p, true);
        return v;
      });
    }
  };
  if (w.dtype() == DType::float64)
    fill(std::type_identity<double>{});
  else
    fill(std::type_identity<float>{});
  return result;
}

Tensor map_bias(const Tensor& bias, const Tensor& w, const TwoSided& maps, std::int64_t channels) {
  const Tensor from = bias.defined() ? bias : undefined_bias(channels, w.dtype());
  Tensor result(w.dtype(), Shape{channels});
  std::vector<std::vector<std::int64_t>> members(static_cast<std::size_t>(channels));
  for (std::int64_t i = 0; i < w.numel(); ++i)
    members[static_cast<std::size_t>(maps.out_channel_of(i))].push_back(i);
  ShiftTable shifts(maps.in);
  const auto fill = [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto weights = w.data<T>();
    for (std::size_t m = 0; m < members.size(); ++m) {
      result.mutable_data<T>()[m] = round_once<T>([&](mpfr_prec_t p) {
        // The products and up to 2^20 additions per channel cost at most 21 bits of the radius; 32
        // more bits pay for them.
        const mpfr_prec_t inner = p + 32;
        Bounded sum(inner, static_cast<double>(from.data<T>()[m]));
        for (const std::int64_t i : members[m]) {
          Bounded term = shifts.at(maps.in_channel_of(i), inner);
          term.times(Wide(inner, static_cast<double>(weights[static_cast<std::size_t>(i)])));
          mpfr_add(sum.value.get(), sum.value.get(), term.value.get(), MPFR_RNDN);
          mpfr_add(sum.magnitude.get(), sum.magnitude.get(), term.magnitude.get(), MPFR_RNDN);
        }
        for (const AffineStep& s : maps.out.steps())
          act(sum, s, static_cast<std::int64_t>(m), inner, false);
        Bounded rounded(p);
        mpfr_set(rounded.value.get(), sum.value.get(), MPFR_RNDN);
        mpfr_set(rounded.magnitude.get(), sum.magnitude.get(), MPFR_RNDN);
        return rounded;
      });
    }
  };
  if (w.dtype() == DType::float64)
    fill(std::type_identity<double>{});
  else
    fill(std::type_identity<float>{});
  return result;
}

std::optional<std::string> not_finite(const Tensor& t) {
  const auto in = [](const auto& values) -> std::optional<std::string> {
    const auto i = first_not_finite(values);
    if (!i) return std::nullopt;
    return "element " + std::to_string(*i) + " is " + std::to_string(values[*i]);
  };
  if (t.dtype() == DType::float32) return in(t.data<float>());
  return in(std::span<const double>(to_doubles(t)));
}

}  // namespace assay
