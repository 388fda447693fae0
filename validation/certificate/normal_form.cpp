#include "validation/certificate/normal_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace assay {
namespace {

struct NoForm {
  std::string reason;
};

[[noreturn]] void give_up(const std::string& reason) { throw NoForm{reason}; }

std::string hex_of(const Tensor& t) {
  std::string text;
  for (const double x : to_doubles(t)) text += (text.empty() ? "" : ",") + fmt::format("{:a}", x);
  return text;
}

const std::set<std::string>& unary_activations() {
  static const std::set<std::string> list{"Relu",    "Clip",     "HardSwish", "HardSigmoid",
                                          "Sigmoid", "Tanh",     "LeakyRelu", "Elu",
                                          "Gelu",    "Softplus", "Mish",      "Selu"};
  return list;
}

/// Attributes of the convolution family with their defaults filled in, so that spelled-out defaults
/// change nothing.
std::string signature_of(const Node& n, std::int64_t spatial) {
  const Attributes& a = n.attributes;
  if (n.op_type == "Gemm") {
    return fmt::format("Gemm alpha={:a} transA={} transB={}", a.float_or("alpha", 1),
                       a.int_or("transA", 0), a.int_or("transB", 0));
  }
  if (n.op_type == "MatMul") return "MatMul";
  const auto ones = std::vector<std::int64_t>(static_cast<std::size_t>(spatial), 1);
  const auto zeros = std::vector<std::int64_t>(static_cast<std::size_t>(2 * spatial), 0);
  const auto list = [](const std::vector<std::int64_t>& v) {
    std::string text;
    for (const std::int64_t x : v) text += std::to_string(x) + ",";
    return text;
  };
  std::string text = fmt::format("{} group={} strides={} dilations={} pads={} auto_pad={}",
                                 n.op_type, a.int_or("group", 1), list(a.ints_or("strides", ones)),
                                 list(a.ints_or("dilations", ones)), list(a.ints_or("pads", zeros)),
                                 a.string_or("auto_pad", "NOTSET"));
  if (n.op_type == "ConvTranspose")
    text += " out=" +
            list(a.ints_or("output_padding",
                           std::vector<std::int64_t>(static_cast<std::size_t>(spatial), 0))) +
            list(a.ints_or("output_shape", {}));
  return text;
}

class Builder {
 public:
  Builder(const Graph& g, const std::map<std::string, Shape>& shapes) : g_(g), shapes_(shapes) {}

  NormalForm build() {
    if (g_.outputs().size() != 1) give_up("region with several outputs");
    ValueId v = g_.outputs()[0];
    std::vector<std::string> outside_in;
    while (const Node* n = g_.producer(v)) {
      if (!n->domain.empty()) break;
      if (n->op_type == "Identity" || n->op_type == "Dropout") {
        v = n->inputs[0];
        continue;
      }
      if (!unary_activations().count(n->op_type)) break;
      outside_in.push_back(activation_text(*n));
      v = n->inputs[0];
    }
    const Shape& shape = shape_of(v);
    axis_ = channel_axis(v);
    if (axis_ >= shape.rank()) give_up("'" + g_.name(v) + "' has no channel axis");
    form_.channels = axis_ < 0 ? 1 : shape[axis_];
    rank_ = shape.rank();
    const auto zero = std::vector<Real>(static_cast<std::size_t>(form_.channels), Real(0));
    form_.shift = form_.magnitude = form_.beta = zero;
    add(v, std::vector<Real>(static_cast<std::size_t>(form_.channels), Real(1)));
    form_.activations.assign(outside_in.rbegin(), outside_in.rend());
    return std::move(form_);
  }

 private:
  const Shape& shape_of(ValueId v) const {
    const auto it = shapes_.find(g_.name(v));
    if (it == shapes_.end()) give_up("shape of '" + g_.name(v) + "' is not known");
    return it->second;
  }

  std::string activation_text(const Node& n) const {
    std::string text = n.op_type;
    for (const auto& [name, value] : n.attributes.items()) {
      if (const auto* f = std::get_if<float>(&value)) text += fmt::format(" {}={:a}", name, *f);
      if (const auto* s = std::get_if<std::string>(&value)) text += " " + name + "=" + *s;
    }
    for (std::size_t i = 1; i < n.inputs.size(); ++i) {
      if (!n.inputs[i].valid()) {
        text += " -";
        continue;
      }
      const Tensor* t = g_.constant(n.inputs[i]);
      if (t == nullptr) give_up(describe(n) + " reads a parameter that is not constant");
      text += " " + hex_of(*t);
    }
    while (text.ends_with(" -")) text.resize(text.size() - 2);
    return text;
  }

  /// Channels lie on axis 1 behind a convolution and on the last axis behind a matrix product; -1
  /// for scalars.
  std::int64_t channel_axis(ValueId v) const {
    const Shape& s = shape_of(v);
    for (const Node* n = g_.producer(v); n != nullptr;) {
      if (n->op_type == "Gemm" || n->op_type == "MatMul") return s.rank() - 1;
      if (n->op_type == "Conv" || n->op_type == "ConvTranspose" ||
          n->op_type == "BatchNormalization")
        return 1;
      ValueId next{};
      for (const ValueId in : n->inputs) {
        if (in.valid() && g_.constant(in) == nullptr && !next.valid()) next = in;
      }
      n = next.valid() ? g_.producer(next) : nullptr;
    }
    return s.rank() > 1 ? 1 : s.rank() - 1;
  }

  /// A constant as one number per channel, when it broadcasts so.
  std::vector<Real> per_channel(const Tensor& t, const Node& n) const {
    const auto values = to_doubles(t);
    const auto count = static_cast<std::size_t>(form_.channels);
    if (values.size() == 1) return std::vector<Real>(count, Real(values[0]));
    const std::int64_t at = t.shape().rank() - (rank_ - axis_);
    if (axis_ < 0 || t.shape().rank() > rank_ || at < 0 || t.numel() != form_.channels ||
        t.shape()[at] != form_.channels) {
      give_up(describe(n) + ": constant " + to_string(t.shape()) + " is not one value per channel");
    }
    return {values.begin(), values.end()};
  }

  static std::vector<Real> times(const std::vector<Real>& a, const std::vector<Real>& b) {
    std::vector<Real> r;
    for (std::size_t i = 0; i < a.size(); ++i) r.push_back(a[i] * b[i]);
    return r;
  }

  /// Adds scale * constant to the shift; the outermost constant stays apart for the bias budget.
  void add_shift(const std::vector<Real>& scale, const std::vector<Real>& constant,
                 bool outermost) {
    for (std::size_t i = 0; i < scale.size(); ++i) {
      const Real part = scale[i] * constant[i];
      form_.shift[i] = form_.shift[i] + part;
      auto& kept = outermost ? form_.beta[i] : form_.magnitude[i];
      kept = kept + part.abs();
    }
  }

  bool is_unit(const std::vector<Real>& scale) const {
    return std::all_of(scale.begin(), scale.end(), [](const Real& s) { return s == Real(1); });
  }

  /// Adds scale * value(v) to the form.
  void add(ValueId v, const std::vector<Real>& scale) {
    const Node* n = g_.producer(v);
    if (n == nullptr) {
      if (g_.constant(v) != nullptr) give_up("constant value inside the region");
      add_value(g_.name(v), scale);
      return;
    }
    if (!n->domain.empty()) give_up(describe(*n) + " has no affine form");
    const std::string& op = n->op_type;
    if (op == "Identity" || op == "Dropout") return add(n->inputs[0], scale);
    if (op == "BatchNormalization") return add_batch_norm(*n, scale);
    if (op == "Add" || op == "Sub") return add_sum(*n, scale);
    if (op == "Mul" || op == "Div") return add_product(*n, scale);
    if (op == "Conv" || op == "ConvTranspose" || op == "Gemm" || op == "MatMul")
      return add_linear(*n, scale);
    give_up(describe(*n) + " has no affine form");
  }

  void add_value(const std::string& name, const std::vector<Real>& scale) {
    for (ValueTerm& t : form_.values) {
      if (t.input != name) continue;
      for (std::size_t i = 0; i < scale.size(); ++i) t.coeff[i] = t.coeff[i] + scale[i];
      return;
    }
    form_.values.push_back({name, scale});
  }

  void add_batch_norm(const Node& n, const std::vector<Real>& scale) {
    if (n.attributes.int_or("training_mode", 0) != 0 || n.outputs.size() > 1)
      give_up(describe(n) + " is in training mode");
    std::vector<std::vector<Real>> p;
    AffineStep stored{.kind = AffineStep::Kind::batch_norm};
    std::vector<double>* const kept[] = {&stored.gamma, &stored.beta, &stored.mean, &stored.var};
    for (std::size_t i = 1; i <= 4; ++i) {
      const Tensor* t = n.has_input(i) ? g_.constant(n.inputs[i]) : nullptr;
      if (t == nullptr) give_up(describe(n) + " has a parameter that is not constant");
      p.push_back(per_channel(t->reshaped(channel_shape(t->numel())), n));
      *kept[i - 1] = to_doubles(*t);
    }
    stored.epsilon = static_cast<double>(n.attributes.float_or("epsilon", 1e-5F));
    const Real epsilon(stored.epsilon);
    std::vector<Real> s;
    std::vector<Real> minus_mean;
    for (std::size_t c = 0; c < scale.size(); ++c) {
      const Real root = (p[3][c] + epsilon).sqrt();
      if (!root.finite() || root == Real(0))
        give_up(
            fmt::format("{}: variance + epsilon is not positive at channel {}", describe(n), c));
      s.push_back(p[0][c] / root);
      minus_mean.push_back(Real(0) - p[2][c]);
    }
    ++form_.divisions;
    ++form_.steps;
    const std::vector<Real> inner = times(scale, s);
    add_shift(scale, p[1], is_unit(scale));
    add_shift(inner, minus_mean, false);
    behind(n, std::move(stored), n.inputs[0], inner);
  }

  /// Goes on in front of the step `stored` of node `n`.
  void behind(const Node& n, AffineStep stored, ValueId in, const std::vector<Real>& scale) {
    chain_.push_back({std::move(stored), n.name});
    add(in, scale);
    chain_.pop_back();
  }

  Shape channel_shape(std::int64_t count) const {
    std::vector<std::int64_t> dims(
        static_cast<std::size_t>(rank_ - std::max<std::int64_t>(axis_, 0)), 1);
    dims[0] = count;
    return Shape(dims);
  }

  void add_sum(const Node& n, const std::vector<Real>& scale) {
    std::vector<Real> second = scale;
    if (n.op_type == "Sub") {
      for (Real& s : second) s = Real(0) - s;
    }
    for (std::size_t i = 0; i < 2; ++i) {
      const auto& own = i == 0 ? scale : second;
      const Tensor* t = g_.constant(n.inputs[i]);
      if (t != nullptr) {
        ++form_.steps;
        add_shift(own, per_channel(*t, n), is_unit(scale));
      } else {
        if (shape_of(n.inputs[i]) != shape_of(n.outputs[0]))
          give_up(describe(n) + ": an operand is broadcast");
        add_operand(n, i, own);
      }
    }
  }

  /// x + k, x - k, k - x or one operand of a sum of two values.
  void add_operand(const Node& n, std::size_t i, const std::vector<Real>& scale) {
    using Kind = AffineStep::Kind;
    const bool negated = n.op_type == "Sub" && i == 1;
    const Tensor* k = g_.constant(n.inputs[1 - i]);
    const std::size_t before = chain_.size();
    if (k != nullptr)
      chain_.push_back(
          {{.kind = n.op_type == "Sub" && i == 0 ? Kind::sub : Kind::add, .gamma = to_doubles(*k)},
           n.name});
    if (negated) chain_.push_back({{.kind = Kind::negate}, n.name});
    add(n.inputs[i], scale);
    chain_.resize(before);
  }

  void add_product(const Node& n, const std::vector<Real>& scale) {
    const Tensor* left = g_.constant(n.inputs[0]);
    const Tensor* right = g_.constant(n.inputs[1]);
    if ((left == nullptr) == (right == nullptr) || (n.op_type == "Div" && right == nullptr))
      give_up(describe(n) + " is not a product with a constant");
    std::vector<Real> k = per_channel(left != nullptr ? *left : *right, n);
    if (n.op_type == "Div") {
      for (Real& x : k) x = Real(1) / x;
      ++form_.divisions;
    }
    ++form_.steps;
    AffineStep stored{.kind = n.op_type == "Div" ? AffineStep::Kind::div : AffineStep::Kind::mul,
                      .gamma = to_doubles(left != nullptr ? *left : *right)};
    behind(n, std::move(stored), n.inputs[left != nullptr ? 1 : 0], times(scale, k));
  }

  /// Gemm without alpha and transA is a matrix product with a bias.
  static void as_matmul(LinearTerm& t) {
    if (t.channel_axis == 0) t.weights = transposed(t.weights);
    t.channel_axis = 1;
    t.signature = "MatMul w=" + to_string(t.weights.shape());
  }

  static Tensor transposed(const Tensor& w) {
    const std::int64_t rows = w.shape()[0], columns = w.shape()[1];
    if (w.dtype() != DType::float32) give_up("weights that are not float32");
    Tensor t(w.dtype(), Shape{columns, rows});
    const auto from = w.data<float>();
    auto to = t.mutable_data<float>();
    for (std::int64_t i = 0; i < w.numel(); ++i)
      to[static_cast<std::size_t>(i % columns * rows + i / columns)] =
          from[static_cast<std::size_t>(i)];
    return t;
  }

  void add_linear(const Node& n, const std::vector<Real>& scale) {
    ValueId x = n.inputs[0];
    while (g_.producer(x) != nullptr && g_.producer(x)->is("Identity"))
      x = g_.producer(x)->inputs[0];
    if (g_.producer(x) != nullptr || g_.constant(x) != nullptr)
      give_up(describe(n) + " reads a value computed inside the region");
    const Tensor* w = n.has_input(1) ? g_.constant(n.inputs[1]) : nullptr;
    if (w == nullptr) give_up(describe(n) + " has weights that are not constant");
    LinearTerm t{.signature = {}, .input = g_.name(x), .weights = *w, .coeff = scale};
    const std::int64_t rank = w->shape().rank();
    t.signature = signature_of(n, rank - 2) + " w=" + to_string(w->shape());
    if (n.op_type == "ConvTranspose") {
      t.channel_axis = 1;
      t.groups = n.attributes.int_or("group", 1);
    } else if (n.op_type == "Gemm") {
      t.channel_axis = n.attributes.int_or("transB", 0) != 0 ? 0 : 1;
      if (n.attributes.float_or("alpha", 1) == 1.0F && n.attributes.int_or("transA", 0) == 0)
        as_matmul(t);
    } else if (n.op_type == "MatMul") {
      if (rank != 2) give_up(describe(n) + ": weights of rank " + std::to_string(rank));
      t.channel_axis = 1;
    }
    if (n.has_input(2)) {
      const Tensor* b = g_.constant(n.inputs[2]);
      if (b == nullptr) give_up(describe(n) + " has a bias that is not constant");
      std::vector<Real> bias = b->numel() == 1
                                   ? std::vector<Real>(scale.size(), Real(to_doubles(*b)[0]))
                                   : per_channel(b->reshaped(channel_shape(b->numel())), n);
      for (const Real& v : bias) t.bias.push_back(v.to_double());
      if (n.op_type == "Gemm") {
        form_.plain = form_.plain && n.attributes.float_or("beta", 1) == 1.0F;
        for (Real& v : bias) v = v * Real(static_cast<double>(n.attributes.float_or("beta", 1)));
      }
      add_shift(scale, bias, is_unit(scale));
    }
    for (const LinearTerm& other : form_.linear) {
      if (other.signature == t.signature && other.input == t.input)
        give_up("two linear operators on one value");
    }
    t.chain.assign(chain_.rbegin(), chain_.rend());
    form_.linear.push_back(std::move(t));
  }

  const Graph& g_;
  const std::map<std::string, Shape>& shapes_;
  NormalForm form_;
  std::vector<ChainStep> chain_;  ///< on the way from the output, outermost first
  std::int64_t axis_ = 1;
  std::int64_t rank_ = 0;
};

}  // namespace

std::variant<NormalForm, std::string> normal_form(const Graph& region,
                                                  const std::map<std::string, Shape>& shapes) {
  try {
    return Builder(region, shapes).build();
  } catch (const NoForm& e) {
    return e.reason;
  }
}

std::int64_t weights_per_channel(const LinearTerm& t) {
  const std::int64_t channels = static_cast<std::int64_t>(t.coeff.size());
  return channels == 0 ? 0 : t.weights.numel() / channels;
}

std::int64_t weight_index(const LinearTerm& t, std::int64_t channel, std::int64_t i) {
  const Shape& s = t.weights.shape();
  const std::int64_t inner = s.numel(t.channel_axis + 1, s.rank());
  const std::int64_t along = s[t.channel_axis];
  const std::int64_t outer_all = s.numel(0, t.channel_axis);
  // ConvTranspose: the input channels of one group are consecutive on axis 0.
  const std::int64_t group = channel / along;
  const std::int64_t outer_per_group = outer_all / t.groups;
  const std::int64_t outer = group * outer_per_group + i / inner;
  return (outer * along + channel % along) * inner + i % inner;
}

}  // namespace assay
