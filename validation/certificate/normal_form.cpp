#include "validation/certificate/normal_form.h"

#include <algorithm>
#include <cmath>

#include "validation/certificate/affine_step.h"
#include "validation/certificate/constant_value.h"
#include "validation/certificate/linear_term.h"
#include "validation/certificate/padding.h"

namespace assay {
namespace {

using Reals = std::vector<Real>;

struct NoForm {
  std::string reason;
};

[[noreturn]] void give_up(const std::string& reason) { throw NoForm{reason}; }

bool all_equal(const Reals& values, double x) {
  return std::all_of(values.begin(), values.end(), [&](const Real& r) { return r == Real(x); });
}

class Builder {
 public:
  Builder(const Graph& g, const std::map<std::string, Shape>& shapes, const FormOptions& options)
      : g_(g), shapes_(shapes), options_(options) {}

  NormalForm build(ValueId v) {
    const Shape& shape = shape_of(v);
    at_ = {.count = 1,
           .axis = options_.axis >= 0 ? options_.axis : found_axis(v),
           .rank = shape.rank()};
    if (at_.axis >= at_.rank) give_up("'" + g_.name(v) + "' has no channel axis");
    at_.count = at_.axis < 0 ? 1 : shape[at_.axis];
    form_.channels = at_.count;
    form_.axis_from_end = at_.rank - at_.axis;
    form_.shift = form_.magnitude = form_.beta = Reals(count(), Real(0));
    root_ = behind_moves(v);
    add(v, Reals(count(), Real(1)));
    return std::move(form_);
  }

  std::vector<ValueId> atoms() const { return atoms_; }

 private:
  std::size_t count() const { return static_cast<std::size_t>(at_.count); }

  const Shape& shape_of(ValueId v) const {
    const auto it = shapes_.find(g_.name(v));
    if (it == shapes_.end()) give_up("shape of '" + g_.name(v) + "' is not known");
    return it->second;
  }

  bool last_axis() const { return at_.axis == at_.rank - 1; }

  /// Behind copies, and behind reshapes that keep the last axis when the channels lie there: rows
  /// stay rows in their order.
  ValueId behind_moves(ValueId v) const {
    for (v = behind_copies(g_, v); !options_.labels.count(v); v = behind_copies(g_, v)) {
      const Node* n = g_.producer(v);
      if (n == nullptr || !last_axis() ||
          !(n->is("Reshape") || n->is("Flatten") || n->is("Squeeze") || n->is("Unsqueeze")))
        break;
      const Shape& out = shape_of(v);
      const Shape& in = shape_of(n->inputs[0]);
      if (out.rank() < 1 || in.rank() < 1 || out[out.rank() - 1] != in[in.rank() - 1]) break;
      v = n->inputs[0];
    }
    return v;
  }

  /// Channels lie on axis 1 behind a convolution and on the last axis behind a matrix product; -1
  /// for scalars.
  std::int64_t found_axis(ValueId v) const {
    const std::int64_t rank = shape_of(v).rank();
    for (v = behind_copies(g_, v); g_.producer(v) != nullptr && !options_.labels.count(v);) {
      const Node& n = *g_.producer(v);
      if (n.is("Gemm") || n.is("MatMul")) return rank - 1;
      if (n.is("Conv") || n.is("ConvTranspose") || n.is("BatchNormalization")) return 1;
      ValueId next{};
      for (const ValueId in : n.inputs) {
        if (in.valid() && !constant_value(g_, in) && !next.valid()) next = in;
      }
      if (!next.valid()) break;
      v = next;
    }
    return rank > 1 ? 1 : rank - 1;
  }

  /// The label under which `v` is a term.
  std::string term(ValueId v) {
    if (const auto it = options_.labels.find(v); it != options_.labels.end()) return it->second;
    if (std::find(atoms_.begin(), atoms_.end(), v) == atoms_.end()) atoms_.push_back(v);
    return "?" + g_.name(v);
  }

  static Reals times(const Reals& a, const Reals& b) {
    Reals r;
    for (std::size_t i = 0; i < a.size(); ++i) r.push_back(a[i] * b[i]);
    return r;
  }

  /// Adds scale * constant to the shift; the outermost constant stays apart for the bias budget.
  void add_shift(const Reals& scale, const Reals& constant, bool outermost) {
    for (std::size_t i = 0; i < scale.size(); ++i) {
      const Real part = scale[i] * constant[i];
      form_.shift[i] = form_.shift[i] + part;
      auto& kept = outermost ? form_.beta[i] : form_.magnitude[i];
      kept = kept + part.abs();
    }
  }

  /// Adds scale * value(v) to the form.
  void add(ValueId v, const Reals& scale) {
    v = behind_moves(v);
    const Node* n = options_.labels.count(v) ? nullptr : g_.producer(v);
    if (n == nullptr) return add_value(v, scale);
    if (is_linear(*n) && g_.constant(n->inputs[1]) != nullptr) return add_linear(*n, scale);
    if (is_sum(*n)) return add_sum(*n, scale);
    const auto step = affine_step(g_, *n, at_);
    if (const auto* s = std::get_if<Affine>(&step)) {
      if (v == root_ && n->is("BatchNormalization") && s->stored) keep_outer(*s);
      return add_step(*s, scale);
    }
    if (v == root_) give_up(std::get<std::string>(step));
    add_value(v, scale);
  }

  void add_value(ValueId v, const Reals& scale) {
    const std::string name = term(v);
    for (ValueTerm& t : form_.values) {
      if (t.input != name) continue;
      for (std::size_t i = 0; i < scale.size(); ++i) t.coeff[i] = t.coeff[i] + scale[i];
      return;
    }
    form_.values.push_back({name, scale});
  }

  void keep_outer(const Affine& s) {
    const AffineStep& bn = s.chain.back().step;
    OuterNorm outer{.gamma = bn.gamma, .beta = bn.beta, .scale = s.scale, .mean = {}};
    for (const Real& minus : s.before) outer.mean.push_back(Real(0) - minus);
    if (outer.gamma.size() == count()) form_.outer = std::move(outer);
  }

  void add_step(const Affine& s, const Reals& scale) {
    form_.divisions += s.divisions;
    form_.steps += s.steps;
    form_.plain = form_.plain && s.stored;
    const Reals inner = times(scale, s.scale);
    add_shift(scale, s.after, all_equal(scale, 1));
    add_shift(inner, s.before, false);
    const std::size_t before = chain_.size();
    chain_.insert(chain_.end(), s.chain.rbegin(), s.chain.rend());
    add(s.in, inner);
    chain_.resize(before);
  }

  /// A sum or difference of two values of one shape.
  bool is_sum(const Node& n) const {
    return (n.is("Add") || n.is("Sub")) && !constant_value(g_, n.inputs[0]) &&
           !constant_value(g_, n.inputs[1]) && g_.constant(n.inputs[0]) == nullptr &&
           g_.constant(n.inputs[1]) == nullptr && shape_of(n.inputs[0]) == shape_of(n.inputs[1]);
  }

  void add_sum(const Node& n, const Reals& scale) {
    add(n.inputs[0], scale);
    if (n.is("Add")) return add(n.inputs[1], scale);
    chain_.push_back({{.kind = AffineStep::Kind::negate}, n.name});
    add(n.inputs[1], times(scale, Reals(count(), Real(-1))));
    chain_.pop_back();
  }

  // ---- linear operators

  void add_linear(const Node& n, const Reals& scale) {
    const Tensor w = *g_.constant(n.inputs[1]);
    if (n.is("MatMul") && w.shape().rank() != 2)
      give_up(describe(n) + ": weights of rank " + std::to_string(w.shape().rank()));
    if (form_.axis_from_end != (n.is("Conv") || n.is("ConvTranspose") ? w.shape().rank() - 1 : 1))
      give_up(describe(n) + ": its channels lie on another axis");
    std::vector<std::int64_t> pads;
    const ValueId x = behind_pad(behind_moves(n.inputs[0]), n, pads);
    LinearTerm t = linear_term(n, w, pads);
    t.output = g_.name(n.outputs[0]);
    t.coeff = scale;
    if (weights_per_channel(t) * form_.channels != w.numel()) give_up(describe(n) + ": channels");
    if (n.has_input(2)) add_bias(t, n, scale);
    t.input = options_.input_side && t.channel_axis < 2 ? absorb_input(t, n, x) : term(x);
    t.chain.assign(chain_.rbegin(), chain_.rend());
    for (const LinearTerm& other : form_.linear) {
      if (other.signature == t.signature && other.input == t.input)
        give_up("two linear operators on one value");
    }
    form_.linear.push_back(std::move(t));
  }

  void add_bias(LinearTerm& t, const Node& n, const Reals& scale) {
    const auto b = constant_value(g_, n.inputs[2]);
    if (!b) give_up(describe(n) + " has a bias that is not constant");
    Reals bias = b->values.size() == 1 ? Reals(count(), b->values[0]) : b->values;
    if (bias.size() != count()) give_up(describe(n) + ": bias is not one value per channel");
    for (const Real& x : bias) t.bias.push_back(x.to_double());
    form_.plain = form_.plain && b->stored;
    if (n.is("Gemm")) {
      const float beta = n.attributes.float_or("beta", 1);
      form_.plain = form_.plain && beta == 1.0F;
      for (Real& x : bias) x = x * Real(static_cast<double>(beta));
    }
    add_shift(scale, bias, all_equal(scale, 1));
  }

  /// Zero padding of the spatial axes in front of a Conv is the Conv's own.
  ValueId behind_pad(ValueId x, const Node& conv, std::vector<std::int64_t>& pads) const {
    const Node* n = options_.labels.count(x) ? nullptr : g_.producer(x);
    if (n == nullptr || !conv.is("Conv") ||
        conv.attributes.string_or("auto_pad", "NOTSET") != "NOTSET")
      return x;
    const auto padding = spatial_padding(g_, *n);
    if (!padding || padding->value != 0) return x;
    pads = padding->pads;
    return behind_copies(g_, n->inputs[0]);
  }

  static bool padded(const Node& n) {
    if (n.attributes.string_or("auto_pad", "NOTSET") != "NOTSET") return true;
    const auto pads = n.attributes.ints_or("pads", {});
    return std::any_of(pads.begin(), pads.end(), [](std::int64_t p) { return p != 0; });
  }

  /// Normalizations in front: input channel i is in_scale[i] * x + in_shift[i]. A shift goes in
  /// only where every output sums over all taps.
  std::string absorb_input(LinearTerm& t, const Node& n, ValueId x) {
    const Shape& w = t.weights.shape();
    const std::int64_t channels = t.channel_axis == 0 ? w[1] * t.groups : w[0];
    Reals scale(static_cast<std::size_t>(channels), Real(1));
    Reals shift(static_cast<std::size_t>(channels), Real(0));
    bool any = false;
    const bool all_taps = !n.is("ConvTranspose") && !padded(n);
    const bool flipped = n.is("Gemm") && n.attributes.int_or("transA", 0) != 0;
    while (!options_.labels.count(x) && g_.producer(x) != nullptr && !flipped) {
      const Shape& s = shape_of(x);
      const bool convolution = n.is("Conv") || n.is("ConvTranspose");
      const Channels in{channels, convolution ? 1 : s.rank() - 1, s.rank()};
      const auto parsed = affine_step(g_, *g_.producer(x), in);
      const auto* step = std::get_if<Affine>(&parsed);
      if (step == nullptr || shape_of(step->in) != s) break;
      if (!all_taps && !(all_equal(step->before, 0) && all_equal(step->after, 0))) break;
      for (std::size_t c = 0; c < scale.size(); ++c) {
        shift[c] = shift[c] + scale[c] * (step->after[c] + step->scale[c] * step->before[c]);
        scale[c] = scale[c] * step->scale[c];
      }
      any = true;
      form_.plain = false;
      ++form_.steps;
      x = behind_moves(step->in);
    }
    if (any) {
      t.input_coeff = scale;
      shift_weights(t, shift);
    }
    return term(x);
  }

  /// Adds sum_i w[o,i] shift[i] to each output channel. A float32 sum of n terms rounds n times, so
  /// the magnitude counts more for the budget of other tools.
  void shift_weights(const LinearTerm& t, const Reals& shift) {
    if (all_equal(shift, 0)) return;
    const auto w = to_doubles(t.weights);
    const std::int64_t n = weights_per_channel(t);
    for (std::int64_t c = 0; c < form_.channels; ++c) {
      Real sum(0);
      Real size(0);
      for (std::int64_t i = 0; i < n; ++i) {
        const Real part = Real(w[static_cast<std::size_t>(weight_index(t, c, i))]) *
                          shift[static_cast<std::size_t>(input_channel(t, c, i))];
        sum = sum + part;
        size = size + part.abs();
      }
      const auto at = static_cast<std::size_t>(c);
      form_.shift[at] = form_.shift[at] + t.coeff[at] * sum;
      form_.magnitude[at] =
          form_.magnitude[at] + t.coeff[at].abs() * size * Real(1 + static_cast<double>(n) / 5.5);
    }
  }

  const Graph& g_;
  const std::map<std::string, Shape>& shapes_;
  const FormOptions& options_;
  NormalForm form_;
  Channels at_;
  ValueId root_;
  std::vector<ChainStep> chain_;  ///< on the way from the output, outermost first
  std::vector<ValueId> atoms_;
};

}  // namespace

ValueId behind_copies(const Graph& g, ValueId v) {
  while (v.valid() && g.producer(v) != nullptr &&
         (g.producer(v)->is("Identity") || g.producer(v)->is("Dropout")) &&
         g.producer(v)->outputs[0] == v)
    v = g.producer(v)->inputs[0];
  return v;
}

bool is_affine(const Graph& g, ValueId v) {
  const Node* n = g.producer(v);
  if (n == nullptr || !n->domain.empty()) return false;
  if (is_linear(*n)) return g.constant(n->inputs[1]) != nullptr;
  if (n->is("Add") || n->is("Sub") || n->is("Neg") || n->is("BatchNormalization")) return true;
  if (!n->is("Mul") && !n->is("Div")) return false;
  return constant_value(g, n->inputs[1]).has_value() ||
         (n->is("Mul") && constant_value(g, n->inputs[0]).has_value());
}

FormResult normal_form(const Graph& g, ValueId v, const std::map<std::string, Shape>& shapes,
                       const FormOptions& options) {
  Builder builder(g, shapes, options);
  FormResult result;
  try {
    result.form = builder.build(v);
  } catch (const NoForm& e) {
    result.form = e.reason;
  }
  result.atoms = builder.atoms();
  return result;
}

}  // namespace assay
