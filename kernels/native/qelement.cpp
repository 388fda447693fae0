// QAdd and the averaging pools on codes. All float32, one rounding per operation unless it says
// fma:
//   QAdd:  v = f32(a - z_a) * s_a;  v = fma(f32(b - z_b), s_b, v)
//   pools: v = f32(sum of (q - z_x) over the window, exact in s32) * f32(s_x / count), padding not
//   counted then   v = max(v, low), min(v, high) of the activation;  v = v * f32(1 / s_y);  v = v +
//   z_y;  clamp;  rne.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/kernel.h"
#include "kernels/native/simd.h"

namespace assay::kernels::qelement_kernel {
namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();

struct Output {
  float inverse = 1, zero = 0, low = -infinite, high = infinite;  // bounds of the activation
  float code_low = 0, code_high = 255;
};

ASSAY_SIMD_BODY std::int32_t code_of(float v, const Output& o) {
  v = v > o.low ? v : o.low;
  v = v < o.high ? v : o.high;
  float q = v * o.inverse;
  q = q + o.zero;
  q = q > o.code_low ? q : o.code_low;
  q = q < o.code_high ? q : o.code_high;
  constexpr float magic = 12582912.0F;  // 1.5 * 2^23: adding it rounds to the nearest even integer
  const float rounded = q + magic;
  return static_cast<std::int32_t>(rounded - magic);
}

struct Source {
  float scale = 1;
  std::int32_t zero = 0;
};

template <class A, class B, class Y>
struct AddLoop {
  ASSAY_SIMD_BODY void operator()(const A* a, const B* b, Y* y, std::int64_t n, Source sa,
                                  Source sb, Output o) const {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) {
      const float first = static_cast<float>(static_cast<std::int32_t>(a[i]) - sa.zero) * sa.scale;
      const float second = static_cast<float>(static_cast<std::int32_t>(b[i]) - sb.zero);
      y[i] = static_cast<Y>(code_of(__builtin_fmaf(second, sb.scale, first), o));
    }
  }
};

template <class A, class B, class Y>
class AddKernel : public Kernel {
 public:
  AddKernel(std::int64_t count, Source a, Source b, Output y)
      : count_(count), sa_(a), sb_(b), out_(y), level_(simd_level()) {}
  void bind(const Binding& b) override { binding_ = b; }
  void run() override {
    const auto* a = reinterpret_cast<const A*>(binding_.inputs[0]);
    const auto* b = reinterpret_cast<const B*>(binding_.inputs[1]);
    auto* y = reinterpret_cast<Y*>(binding_.outputs[0]);
    split_work(count_, 32768, [&](std::int64_t begin, std::int64_t end) {
      run_simd(level_, AddLoop<A, B, Y>{}, a + begin, b + begin, y + begin, end - begin, sa_, sb_,
               out_);
    });
  }
  std::string implementation() const override { return "native:qadd"; }
  std::optional<IntArithmetic> arithmetic() const override {
    return IntArithmetic{.residual = ResidualForm::sum_fma};
  }

 private:
  std::int64_t count_;
  Source sa_, sb_;
  Output out_;
  SimdLevel level_;
  Binding binding_;
};

Source source_of(const Attributes& a, const std::string& prefix) {
  return {a.float_or(prefix + "_scale", 1.0F),
          static_cast<std::int32_t>(a.int_or(prefix + "_zero_point", 0))};
}

std::variant<Output, Decline> output_of(const KernelRequest& r) {
  const Attributes& a = r.attributes();
  const DType t = r.outputs[0].dtype;
  if (!is_code(t)) return Decline{"output is " + to_string(t)};
  Output o;
  o.inverse = 1.0F / a.float_or("y_scale", 1.0F);
  o.zero = static_cast<float>(a.int_or("y_zero_point", 0));
  o.code_low = t == DType::uint8 ? 0.0F : -128.0F;
  o.code_high = t == DType::uint8 ? 255.0F : 127.0F;
  const std::string activation = a.string_or("activation", "");
  if (activation == "Relu") {
    o.low = 0.0F;
  } else if (activation == "Clip") {
    o.low = a.float_or("act_min", -infinite);
    o.high = a.float_or("act_max", infinite);
  } else if (!activation.empty()) {
    return Decline{"activation " + activation};
  }
  return o;
}

/// f(std::type_identity<T>{}) with uint8 or int8.
template <class F>
auto visit_code(DType t, F&& f) {
  if (t == DType::uint8) return f(std::type_identity<std::uint8_t>{});
  return f(std::type_identity<std::int8_t>{});
}

KernelAnswer make_add(const KernelRequest& r) {
  const Slot &a = r.inputs[0], &b = r.inputs[1], &y = r.outputs[0];
  if (!is_code(a.dtype) || !is_code(b.dtype)) return Decline{"operand is not 8-bit codes"};
  if (a.shape != b.shape || a.shape != y.shape) return Decline{"operands have different shapes"};
  if (a.shape.numel() == 0) return Decline{"empty tensor"};
  const auto output = output_of(r);
  if (auto* d = std::get_if<Decline>(&output)) return *d;
  const Output o = std::get<Output>(output);
  const Source sa = source_of(r.attributes(), "a"), sb = source_of(r.attributes(), "b");
  const std::int64_t count = y.shape.numel();
  KernelPlan plan;
  plan.kernel = visit_code(a.dtype, [&](auto ta) {
    return visit_code(b.dtype, [&](auto tb) {
      return visit_code(y.dtype, [&](auto ty) -> std::unique_ptr<Kernel> {
        return std::make_unique<AddKernel<typename decltype(ta)::type, typename decltype(tb)::type,
                                          typename decltype(ty)::type>>(count, sa, sb, o);
      });
    });
  });
  const Layout layout = y.shape.rank() < 3 ? Layout::plain : kept_layout(r);
  plan.inputs.assign(r.inputs.size(), layout);
  plan.outputs = {layout};
  if (r.dies[0] && a.layout == layout) plan.overwrites = 0;
  return plan;
}

/// Window of one output position along both axes; 4-d tensors.
struct PoolShape {
  std::int64_t batch, channels, in_h, in_w, out_h, out_w;
  std::int64_t kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w;
};

template <class T>
struct RowSum {
  ASSAY_SIMD_BODY void operator()(const T* x, std::int32_t* sum, std::int64_t channels) const {
#pragma omp simd
    for (std::int64_t c = 0; c < channels; ++c) sum[c] += x[c];
  }
};

template <class Y>
struct Finish {
  ASSAY_SIMD_BODY void operator()(const std::int32_t* sum, Y* y, std::int64_t channels,
                                  std::int32_t zero, float scale, Output o) const {
#pragma omp simd
    for (std::int64_t c = 0; c < channels; ++c) {
      y[c] = static_cast<Y>(code_of(static_cast<float>(sum[c] - zero) * scale, o));
    }
  }
};

template <class X, class Y>
class AverageKernel : public Kernel {
 public:
  AverageKernel(PoolShape s, Source x, Output y) : s_(s), x_(x), out_(y), level_(simd_level()) {}
  void bind(const Binding& b) override { binding_ = b; }
  /// Sums live in the scratch buffer, one row of channels per output position.
  std::int64_t scratch_bytes() const override {
    return s_.batch * s_.out_h * s_.out_w * s_.channels * 4;
  }
  void run() override {
    split_work(s_.batch * s_.out_h * s_.out_w, s_.out_h * s_.out_w == 1 ? 1 : 8,
               [this](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) run_position(i);
               });
  }
  std::string implementation() const override { return "native:qaverage"; }
  std::optional<IntArithmetic> arithmetic() const override { return IntArithmetic{}; }

 private:
  void run_position(std::int64_t i) const {
    const std::int64_t n = i / (s_.out_h * s_.out_w), y = i / s_.out_w % s_.out_h, x = i % s_.out_w;
    const std::int64_t y0 = std::max<std::int64_t>(0, y * s_.stride_h - s_.pad_h);
    const std::int64_t x0 = std::max<std::int64_t>(0, x * s_.stride_w - s_.pad_w);
    const std::int64_t y1 = std::min(s_.in_h, y * s_.stride_h - s_.pad_h + s_.kernel_h);
    const std::int64_t x1 = std::min(s_.in_w, x * s_.stride_w - s_.pad_w + s_.kernel_w);
    auto* sum = reinterpret_cast<std::int32_t*>(binding_.scratch) + i * s_.channels;
    std::fill_n(sum, s_.channels, 0);
    for (std::int64_t row = y0; row < y1; ++row) {
      for (std::int64_t column = x0; column < x1; ++column) {
        const auto* from = reinterpret_cast<const X*>(binding_.inputs[0]) +
                           ((n * s_.in_h + row) * s_.in_w + column) * s_.channels;
        run_simd(level_, RowSum<X>{}, from, sum, s_.channels);
      }
    }
    const std::int64_t count = (y1 - y0) * (x1 - x0);
    run_simd(level_, Finish<Y>{}, static_cast<const std::int32_t*>(sum),
             reinterpret_cast<Y*>(binding_.outputs[0]) + i * s_.channels, s_.channels,
             static_cast<std::int32_t>(count) * x_.zero, x_.scale / static_cast<float>(count),
             out_);
  }

  PoolShape s_;
  Source x_;
  Output out_;
  SimdLevel level_;
  Binding binding_;
};

std::variant<PoolShape, Decline> pool_shape(const KernelRequest& r) {
  const Shape &x = r.inputs[0].shape, &y = r.outputs[0].shape;
  PoolShape s{x[0], x[1], x[2], x[3], y[2], y[3], x[2], x[3], 1, 1, 0, 0};
  if (r.node().op_type == "QGlobalAveragePool") return s;
  const Attributes& a = r.attributes();
  if (a.int_or("count_include_pad", 0) != 0) return Decline{"padding is counted"};
  if (a.string_or("auto_pad", "NOTSET") != "NOTSET") return Decline{"auto_pad"};
  if (a.ints_or("dilations", {1, 1}) != std::vector<std::int64_t>{1, 1})
    return Decline{"dilated pool"};
  const auto kernel = a.required_ints("kernel_shape"), strides = a.ints_or("strides", {1, 1});
  const auto pads = a.ints_or("pads", {0, 0, 0, 0});
  s.kernel_h = kernel[0];
  s.kernel_w = kernel[1];
  s.stride_h = strides[0];
  s.stride_w = strides[1];
  s.pad_h = pads[0];
  s.pad_w = pads[1];
  return s;
}

KernelAnswer make_average(const KernelRequest& r) {
  const Slot& x = r.inputs[0];
  if (!is_code(x.dtype)) return Decline{"codes are " + to_string(x.dtype)};
  if (x.shape.rank() != 4) return Decline{"pool of rank " + std::to_string(x.shape.rank())};
  if (x.shape.numel() == 0 || r.outputs[0].shape.numel() == 0) return Decline{"empty tensor"};
  const auto output = output_of(r);
  if (auto* d = std::get_if<Decline>(&output)) return *d;
  const auto shape = pool_shape(r);
  if (auto* d = std::get_if<Decline>(&shape)) return *d;
  const Source source = source_of(r.attributes(), "x");
  KernelPlan plan;
  plan.kernel = visit_code(x.dtype, [&](auto tx) {
    return visit_code(r.outputs[0].dtype, [&](auto ty) -> std::unique_ptr<Kernel> {
      return std::make_unique<
          AverageKernel<typename decltype(tx)::type, typename decltype(ty)::type>>(
          std::get<PoolShape>(shape), source, std::get<Output>(output));
    });
  });
  plan.inputs.assign(r.inputs.size(), Layout::channels_last);
  plan.outputs = {Layout::channels_last};
  return plan;
}

const RegisterKernel add{{.ops = {"QAdd"}, .make = make_add, .domain = assay_domain}};
const RegisterKernel average{
    {.ops = {"QGlobalAveragePool", "QAveragePool"}, .make = make_average, .domain = assay_domain}};

}  // namespace
}  // namespace assay::kernels::qelement_kernel
