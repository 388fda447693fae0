#include "validation/certificate/affine_step.h"

#include <fmt/format.h>

#include "validation/certificate/constant_value.h"

namespace assay {
namespace {

using Kind = AffineStep::Kind;
using Reals = std::vector<Real>;

std::vector<double> doubles(const Reals& values) {
  std::vector<double> list;
  for (const Real& x : values) list.push_back(x.to_double());
  return list;
}

class Parser {
 public:
  Parser(const Graph& g, const Node& n, const Channels& at)
      : g_(g), n_(n), at_(at), count_(static_cast<std::size_t>(at.count)) {
    step_.before = step_.after = Reals(count_, Real(0));
    step_.scale = Reals(count_, Real(1));
  }

  std::variant<Affine, std::string> run() {
    if (!n_.domain.empty()) return no("");
    const std::string& op = n_.op_type;
    if (op == "BatchNormalization") return batch_norm();
    if (op == "Neg") return negate();
    if (op == "Add" || op == "Sub" || op == "Mul" || op == "Div") return with_constant();
    return no("");
  }

 private:
  std::string no(const std::string& why) const {
    return describe(n_) + (why.empty() ? " has no affine form" : ": " + why);
  }

  std::variant<Affine, std::string> negate() {
    step_.in = n_.inputs[0];
    step_.scale = Reals(count_, Real(-1));
    step_.chain = {{{.kind = Kind::negate}, n_.name}};
    step_.steps = 0;
    return step_;
  }

  std::variant<Affine, std::string> with_constant() {
    const auto left = constant_value(g_, n_.inputs[0]);
    const auto right = constant_value(g_, n_.inputs[1]);
    if (left.has_value() == right.has_value()) return no("not a sum or product with a constant");
    const RealTensor& k = left ? *left : *right;
    const auto fitted = per_channel(k.shape, k.values, at_);
    if (const auto* why = std::get_if<std::string>(&fitted)) return no(*why);
    step_.in = n_.inputs[left ? 1 : 0];
    step_.stored = k.stored;
    return combine(std::get<Reals>(fitted), left.has_value());
  }

  std::variant<Affine, std::string> combine(const Reals& k, bool constant_first) {
    const std::string& op = n_.op_type;
    AffineStep stored{.gamma = doubles(k)};
    if (op == "Mul") {
      stored.kind = Kind::mul;
      step_.scale = k;
    } else if (op == "Div") {
      if (constant_first) return no("not a sum or product with a constant");
      stored.kind = Kind::div;
      for (std::size_t c = 0; c < count_; ++c) step_.scale[c] = Real(1) / k[c];
      step_.divisions = 1;
    } else {
      const bool minus = op == "Sub" && !constant_first;
      stored.kind = minus ? Kind::sub : Kind::add;
      for (std::size_t c = 0; c < count_; ++c) step_.after[c] = minus ? Real(0) - k[c] : k[c];
      if (op == "Sub" && constant_first) {
        step_.scale = Reals(count_, Real(-1));
        step_.chain.push_back({{.kind = Kind::negate}, n_.name});
      }
    }
    for (const Real& s : step_.scale) {
      if (!s.finite()) return no("division by zero");
    }
    step_.chain.push_back({std::move(stored), n_.name});
    return step_;
  }

  std::variant<Affine, std::string> batch_norm() {
    if (n_.attributes.int_or("training_mode", 0) != 0 || n_.outputs.size() > 1)
      return no("training mode");
    if (at_.axis != 1) return no("channels on another axis");
    std::vector<Reals> p;
    for (std::size_t i = 1; i <= 4; ++i) {
      const auto t = n_.has_input(i) ? constant_value(g_, n_.inputs[i]) : std::nullopt;
      if (!t) return no("a parameter is not constant");
      if (t->shape.numel() != at_.count) return no("parameters of another length");
      step_.stored = step_.stored && t->stored;
      p.push_back(t->values);
    }
    AffineStep stored{.kind = Kind::batch_norm,
                      .gamma = doubles(p[0]),
                      .beta = doubles(p[1]),
                      .mean = doubles(p[2]),
                      .var = doubles(p[3]),
                      .epsilon = static_cast<double>(n_.attributes.float_or("epsilon", 1e-5F))};
    for (std::size_t c = 0; c < count_; ++c) {
      const Real root = (p[3][c] + Real(stored.epsilon)).sqrt();
      if (!root.finite() || root == Real(0))
        return no(fmt::format("variance + epsilon is not positive at channel {}", c));
      step_.scale[c] = p[0][c] / root;
      step_.before[c] = Real(0) - p[2][c];
    }
    step_.after = p[1];
    step_.in = n_.inputs[0];
    step_.divisions = 1;
    step_.chain = {{std::move(stored), n_.name}};
    return step_;
  }

  const Graph& g_;
  const Node& n_;
  const Channels& at_;
  std::size_t count_;
  Affine step_;
};

}  // namespace

std::variant<std::vector<Real>, std::string> per_channel(const Shape& shape, const Reals& values,
                                                         const Channels& at) {
  if (values.size() == 1) return Reals(static_cast<std::size_t>(at.count), values[0]);
  const std::int64_t axis = shape.rank() - (at.rank - at.axis);
  if (at.axis < 0 || shape.rank() > at.rank || axis < 0 || shape.numel() != at.count ||
      shape[axis] != at.count)
    return "constant " + to_string(shape) + " is not one value per channel";
  return values;
}

std::variant<Affine, std::string> affine_step(const Graph& g, const Node& n, const Channels& at) {
  return Parser(g, n, at).run();
}

}  // namespace assay
