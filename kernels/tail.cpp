#include "kernels/tail.h"

#include <cmath>

namespace assay::kernels {
namespace {

using From = ChainOperand::From;
using F = ChainFunction;

bool same(const ChainOperand& a, const ChainOperand& b) {
  return a.from == b.from && a.index == b.index && a.from != From::scalar;
}

bool is_number(const ChainOperand& o, float wanted) {
  return o.from == From::scalar && o.scalar == wanted;
}

bool is_power_of_two(float v) {
  int exponent = 0;
  return std::isnormal(v) && std::isnormal(1.0F / v) && std::fabs(std::frexp(v, &exponent)) == 0.5F;
}

class TailReader {
 public:
  explicit TailReader(const std::vector<ChainOp>& ops) : ops_(ops) {}

  std::optional<std::vector<ActivationParts>> read() {
    while (at_ < ops_.size()) {
      auto step = hard_swish();
      if (!step) step = one();
      if (!step) return std::nullopt;
      append(*std::move(step));
      now_ = {.from = From::earlier, .index = at_ - 1};
    }
    return std::move(steps_);
  }

 private:
  static ChainOperand result(std::size_t i) { return {.from = From::earlier, .index = i}; }
  bool left(std::size_t n) const { return at_ + n <= ops_.size(); }

  /// `f` of the two operands in either order.
  bool is(std::size_t i, F f, const ChainOperand& x, const ChainOperand& y) const {
    const ChainOp& op = ops_[i];
    return op.function == f &&
           ((same(op.a, x) && same(op.b, y)) || (same(op.a, y) && same(op.b, x)));
  }

  /// Division by 6, or the product with the float32 next to 1/6.
  bool is_sixth(std::size_t i, const ChainOperand& x) const {
    const ChainOp& op = ops_[i];
    if (op.function == F::div) return same(op.a, x) && is_number(op.b, 6);
    return op.function == F::mul && ((same(op.a, x) && is_number(op.b, 1.0F / 6.0F)) ||
                                     (same(op.b, x) && is_number(op.a, 1.0F / 6.0F)));
  }

  /// Clip(x + 3, 0, 6) in two steps.
  bool is_clipped(std::size_t i) const {
    const ChainOp &plus = ops_[i], &clip = ops_[i + 1];
    const bool three = (same(plus.a, now_) && is_number(plus.b, 3)) ||
                       (same(plus.b, now_) && is_number(plus.a, 3));
    return plus.function == F::add && three && clip.function == F::clip &&
           same(clip.a, result(i)) && clip.low == 0 && clip.high == 6;
  }

  std::optional<ActivationParts> hard_swish() {
    const std::size_t i = at_;
    if (left(2) && ops_[i].function == F::hard_sigmoid && same(ops_[i].a, now_) &&
        ops_[i].low == 1.0F / 6.0F && ops_[i].high == 0.5F && is(i + 1, F::mul, now_, result(i))) {
      at_ += 2;
      return ActivationParts{.name = "HardSwish"};
    }
    if (!left(4) || !is_clipped(i)) return std::nullopt;
    const bool product_first =
        is(i + 2, F::mul, now_, result(i + 1)) && is_sixth(i + 3, result(i + 2));
    const bool sixth_first =
        is_sixth(i + 2, result(i + 1)) && is(i + 3, F::mul, now_, result(i + 2));
    if (!product_first && !sixth_first) return std::nullopt;
    at_ += 4;
    return ActivationParts{.name = "HardSwish"};
  }

  std::optional<ActivationParts> one() {
    const ChainOp& op = ops_[at_++];
    if (op.function == F::relu && same(op.a, now_)) return ActivationParts{.name = "Relu"};
    if (op.function == F::clip && same(op.a, now_))
      return ActivationParts{.name = "Clip", .low = op.low, .high = op.high};
    if (op.function == F::hard_sigmoid && same(op.a, now_))
      return ActivationParts{.name = "HardSigmoid", .alpha = op.low, .beta = op.high};
    if (same(op.a, now_) && op.b.from == From::scalar) return with_scalar(op.function, op.b.scalar);
    if (same(op.b, now_) && op.a.from == From::scalar && op.function != F::div)
      return op.function == F::sub ? linear(-1, op.a.scalar)
                                   : with_scalar(op.function, op.a.scalar);
    return std::nullopt;
  }

  /// Only forms whose constants are exact.
  static std::optional<ActivationParts> with_scalar(F f, float value) {
    if (f == F::add) return linear(1, value);
    if (f == F::sub) return linear(1, -value);
    if (f == F::mul) return linear(value, 0);
    if (f == F::div && is_power_of_two(value)) return linear(1 / value, 0);
    return std::nullopt;
  }

  static ActivationParts linear(float alpha, float beta) {
    return {.name = "Linear", .alpha = alpha, .beta = beta};
  }

  /// A product and the sum behind it are one step.
  void append(ActivationParts step) {
    const bool joins = !steps_.empty() && step.name == "Linear" && steps_.back().name == "Linear" &&
                       step.alpha == 1 && steps_.back().beta == 0;
    if (joins) {
      steps_.back().beta = step.beta;
    } else {
      steps_.push_back(std::move(step));
    }
  }

  const std::vector<ChainOp>& ops_;
  std::size_t at_ = 0;
  ChainOperand now_ = {.from = From::input, .index = 0};
  std::vector<ActivationParts> steps_;
};

}  // namespace

std::optional<std::vector<ActivationParts>> tail_of(const ChainSpec& spec) {
  if (!spec.channels.empty()) return std::nullopt;
  return TailReader(spec.ops).read();
}

}  // namespace assay::kernels
