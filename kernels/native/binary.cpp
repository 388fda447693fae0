// Add, Sub, Mul, Div, Max, Min of two float32 tensors with NumPy broadcasting: one IEEE operation
// per element, so the bits are those of the reference. (Max and Min give NaN when either operand is
// NaN, as ONNX and NumPy do.)
#include <cmath>

#include "kernels/kernel.h"
#include "kernels/native/simd.h"

namespace assay::kernels::binary_kernel {
namespace {

constexpr std::int64_t grain =
    16384;  // elements: below this a second thread costs more than it saves

struct AddOp {
  ASSAY_SIMD_BODY static float f(float a, float b) { return a + b; }
};
struct SubOp {
  ASSAY_SIMD_BODY static float f(float a, float b) { return a - b; }
};
struct MulOp {
  ASSAY_SIMD_BODY static float f(float a, float b) { return a * b; }
};
struct DivOp {
  ASSAY_SIMD_BODY static float f(float a, float b) { return a / b; }
};
struct MaxOp {
  ASSAY_SIMD_BODY static float f(float a, float b) { return a > b || a != a ? a : b; }
};
struct MinOp {
  ASSAY_SIMD_BODY static float f(float a, float b) { return a < b || a != a ? a : b; }
};

/// The innermost run: each operand advances by 1 or stays.
template <class Op>
struct InnerLoop {
  ASSAY_SIMD_BODY void operator()(const float* a, const float* b, float* y, std::int64_t n,
                                  bool step_a, bool step_b) const {
    if (step_a && step_b) {
#pragma omp simd
      for (std::int64_t i = 0; i < n; ++i) y[i] = Op::f(a[i], b[i]);
    } else if (step_a) {
      const float v = *b;
#pragma omp simd
      for (std::int64_t i = 0; i < n; ++i) y[i] = Op::f(a[i], v);
    } else {
      const float v = *a;
#pragma omp simd
      for (std::int64_t i = 0; i < n; ++i) y[i] = Op::f(v, b[i]);
    }
  }
};

/// One axis of the joint index space; strides in elements, 0 where an operand repeats.
struct Axis {
  std::int64_t size, a, b;
};

std::vector<std::int64_t> memory_order(std::int64_t rank, Layout layout) {
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < rank; ++i) order.push_back(i);
  if (layout == Layout::channels_last && rank > 2) {
    order.erase(order.begin() + 1);
    order.push_back(1);
  }
  return order;
}

/// Sizes of `s` under the rank and memory order of the output.
std::vector<std::int64_t> ordered_sizes(const Shape& s, const std::vector<std::int64_t>& order) {
  const auto rank = static_cast<std::int64_t>(order.size());
  std::vector<std::int64_t> sizes;
  for (const std::int64_t axis : order) {
    const std::int64_t i = axis - (rank - s.rank());
    sizes.push_back(i < 0 ? 1 : s[i]);
  }
  return sizes;
}

std::vector<std::int64_t> strides_of(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> strides(sizes.size());
  std::int64_t step = 1;
  for (std::size_t i = sizes.size(); i-- > 0; step *= sizes[i])
    strides[i] = sizes[i] == 1 ? 0 : step;
  return strides;
}

/// The joint axes in memory order, neighbours merged where both operands run on.
std::vector<Axis> joint_axes(const Shape& a, const Shape& b, const Shape& y, Layout layout) {
  const auto order = memory_order(y.rank(), layout);
  const auto size_a = ordered_sizes(a, order), size_b = ordered_sizes(b, order);
  const auto size_y = ordered_sizes(y, order);
  const auto step_a = strides_of(size_a), step_b = strides_of(size_b);
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Axis next{size_y[i], step_a[i], step_b[i]};
    if (next.size == 1) continue;
    if (!axes.empty() && axes.back().a == next.a * next.size &&
        axes.back().b == next.b * next.size) {
      axes.back() = {axes.back().size * next.size, next.a, next.b};
    } else {
      axes.push_back(next);
    }
  }
  if (axes.empty()) axes.push_back({1, 1, 1});
  return axes;
}

template <class Op>
class BinaryKernel : public Kernel {
 public:
  explicit BinaryKernel(std::vector<Axis> axes) : axes_(std::move(axes)), level_(simd_level()) {
    inner_ = axes_.back();
    axes_.pop_back();
    for (const Axis& x : axes_) rows_ *= x.size;
  }

  void bind(const Binding& binding) override {
    a_ = reinterpret_cast<const float*>(binding.inputs[0]);
    b_ = reinterpret_cast<const float*>(binding.inputs[1]);
    y_ = reinterpret_cast<float*>(binding.outputs[0]);
  }

  void run() override {
    if (axes_.empty()) {
      split_work(inner_.size, grain, [this](std::int64_t begin, std::int64_t end) {
        inner(a_ + begin * inner_.a, b_ + begin * inner_.b, y_ + begin, end - begin);
      });
      return;
    }
    const std::int64_t rows_per_part = std::max<std::int64_t>(1, grain / inner_.size);
    split_work(rows_, rows_per_part, [this](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) run_row(row);
    });
  }

  std::string implementation() const override { return "native:binary"; }

 private:
  void run_row(std::int64_t row) const {
    std::int64_t rest = row, a = 0, b = 0;
    for (std::size_t i = axes_.size(); i-- > 0; rest /= axes_[i].size) {
      const std::int64_t at = rest % axes_[i].size;
      a += at * axes_[i].a;
      b += at * axes_[i].b;
    }
    inner(a_ + a, b_ + b, y_ + row * inner_.size, inner_.size);
  }

  void inner(const float* a, const float* b, float* y, std::int64_t n) const {
    run_simd(level_, InnerLoop<Op>{}, a, b, y, n, inner_.a != 0, inner_.b != 0);
  }

  std::vector<Axis> axes_;
  Axis inner_{};
  std::int64_t rows_ = 1;
  SimdLevel level_;
  const float* a_ = nullptr;
  const float* b_ = nullptr;
  float* y_ = nullptr;
};

std::unique_ptr<Kernel> kernel_for(const std::string& op, std::vector<Axis> axes) {
  if (op == "Add") return std::make_unique<BinaryKernel<AddOp>>(std::move(axes));
  if (op == "Sub") return std::make_unique<BinaryKernel<SubOp>>(std::move(axes));
  if (op == "Mul") return std::make_unique<BinaryKernel<MulOp>>(std::move(axes));
  if (op == "Div") return std::make_unique<BinaryKernel<DivOp>>(std::move(axes));
  if (op == "Max") return std::make_unique<BinaryKernel<MaxOp>>(std::move(axes));
  return std::make_unique<BinaryKernel<MinOp>>(std::move(axes));
}

/// Channels-last is kept when each operand either has the rank of the output or is a scalar: then
/// its axes are at hand.
Layout common_layout(const KernelRequest& r) {
  const std::int64_t rank = r.outputs[0].shape.rank();
  if (rank < 3 || kept_layout(r) == Layout::plain) return Layout::plain;
  for (const Slot& s : r.inputs) {
    if (s.shape.rank() != rank && s.shape.numel() != 1) return Layout::plain;
  }
  return Layout::channels_last;
}

KernelAnswer make(const KernelRequest& r) {
  if (r.inputs.size() != 2) return Decline{"it has " + std::to_string(r.inputs.size()) + " inputs"};
  for (const Slot& s : r.inputs) {
    if (s.dtype != DType::float32) return Decline{"operand is " + to_string(s.dtype)};
  }
  if (r.outputs[0].shape.numel() == 0) return Decline{"empty tensor"};
  const Layout layout = common_layout(r);
  KernelPlan plan;
  plan.kernel = kernel_for(r.node().op_type, joint_axes(r.inputs[0].shape, r.inputs[1].shape,
                                                        r.outputs[0].shape, layout));
  plan.outputs = {layout};
  for (std::size_t i = 0; i < 2; ++i) {
    const Shape& s = r.inputs[i].shape;
    plan.inputs.push_back(s.rank() < 3 ? Layout::plain : layout);
    // In place only when the layout at hand is the one used: a reordered copy is a buffer of its
    // own anyway.
    if (!plan.overwrites && r.dies[i] && s == r.outputs[0].shape && r.inputs[i].layout == layout) {
      plan.overwrites = i;
    }
  }
  return plan;
}

const RegisterKernel registered{{.ops = {"Add", "Sub", "Mul", "Div", "Max", "Min"}, .make = make}};

}  // namespace
}  // namespace assay::kernels::binary_kernel
