// QConcat: codes joined along one axis. An input with the output's scale, zero point and type is
// copied; any other becomes
//   v = f32(q - z_x) * s_x;  v = v * f32(1 / s_y);  v = v + z_y;  clamp;  rne.
#include <algorithm>
#include <cstring>

#include "kernels/kernel.h"
#include "kernels/native/simd.h"

namespace assay::kernels::qconcat_kernel {
namespace {

struct Rescale {
  float scale = 1, inverse = 1, zero_out = 0, low = 0, high = 255;
  std::int32_t zero_in = 0;
  bool copy = false;
};

template <class X, class Y>
struct RescaleLoop {
  ASSAY_SIMD_BODY void operator()(const X* x, Y* y, std::int64_t n, Rescale r) const {
    constexpr float magic =
        12582912.0F;  // 1.5 * 2^23: adding it rounds to the nearest even integer
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) {
      const float v = static_cast<float>(static_cast<std::int32_t>(x[i]) - r.zero_in) * r.scale;
      float q = v * r.inverse;
      q = q + r.zero_out;
      q = q > r.low ? q : r.low;
      q = q < r.high ? q : r.high;
      const float rounded = q + magic;
      y[i] = static_cast<Y>(static_cast<std::int32_t>(rounded - magic));
    }
  }
};

struct Part {
  std::size_t input;
  std::int64_t size, offset;  // elements of one row
  DType dtype;
  Rescale rescale;
};

class QConcatKernel : public Kernel {
 public:
  QConcatKernel(std::vector<Part> parts, std::int64_t rows, std::int64_t row, DType y)
      : parts_(std::move(parts)), rows_(rows), row_(row), y_(y), level_(simd_level()) {}
  void bind(const Binding& b) override { binding_ = b; }
  void run() override {
    split_work(rows_, std::max<std::int64_t>(1, 16384 / row_),
               [this](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t r = begin; r < end; ++r) {
                   for (const Part& p : parts_) run_part(p, r);
                 }
               });
  }
  std::string implementation() const override { return "native:qconcat"; }
  std::optional<IntArithmetic> arithmetic() const override { return IntArithmetic{}; }

 private:
  void run_part(const Part& p, std::int64_t r) const {
    const std::byte* from = binding_.inputs[p.input] + r * p.size;
    std::byte* to = binding_.outputs[0] + r * row_ + p.offset;
    if (p.rescale.copy) {
      std::memcpy(to, from, static_cast<std::size_t>(p.size));
    } else if (p.dtype == DType::uint8) {
      rescale<std::uint8_t>(from, to, p);
    } else {
      rescale<std::int8_t>(from, to, p);
    }
  }

  template <class X>
  void rescale(const std::byte* from, std::byte* to, const Part& p) const {
    const auto* x = reinterpret_cast<const X*>(from);
    if (y_ == DType::uint8) {
      run_simd(level_, RescaleLoop<X, std::uint8_t>{}, x, reinterpret_cast<std::uint8_t*>(to),
               p.size, p.rescale);
    } else {
      run_simd(level_, RescaleLoop<X, std::int8_t>{}, x, reinterpret_cast<std::int8_t*>(to), p.size,
               p.rescale);
    }
  }

  std::vector<Part> parts_;
  std::int64_t rows_, row_;
  DType y_;
  SimdLevel level_;
  Binding binding_;
};

Rescale rescale_of(const KernelRequest& r, std::size_t i, float scale, std::int64_t zero) {
  const Attributes& a = r.attributes();
  const DType y = r.outputs[0].dtype;
  const float y_scale = a.float_or("y_scale", 1.0F);
  const std::int64_t y_zero = a.int_or("y_zero_point", 0);
  Rescale s;
  s.copy = r.inputs[i].dtype == y && scale == y_scale && zero == y_zero;
  s.scale = scale;
  s.inverse = 1.0F / y_scale;
  s.zero_in = static_cast<std::int32_t>(zero);
  s.zero_out = static_cast<float>(y_zero);
  s.low = y == DType::uint8 ? 0.0F : -128.0F;
  s.high = y == DType::uint8 ? 255.0F : 127.0F;
  return s;
}

KernelAnswer make(const KernelRequest& r) {
  const Slot& y = r.outputs[0];
  const auto scales = r.attributes().floats_or("x_scales", {});
  const auto zeros = r.attributes().ints_or("x_zero_points", {});
  if (!is_code(y.dtype)) return Decline{"output is " + to_string(y.dtype)};
  if (scales.size() != r.inputs.size() || zeros.size() != r.inputs.size())
    return Decline{"scales do not name every input"};
  if (y.shape.numel() == 0) return Decline{"empty tensor"};
  const std::int64_t axis = normalize_axis(r.attributes().required_int("axis"), y.shape.rank());
  const bool last = y.shape.rank() > 2 && kept_layout(r) == Layout::channels_last;
  if (last && axis != 1)
    return Decline{"channels-last codes joined along axis " + std::to_string(axis)};
  const Layout layout = last ? Layout::channels_last : Layout::plain;
  const std::int64_t inner = last ? 1 : y.shape.numel(axis + 1, y.shape.rank());
  const std::int64_t rows = last ? y.shape.numel() / y.shape[1] : y.shape.numel(0, axis);
  std::vector<Part> parts;
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < r.inputs.size(); ++i) {
    if (!is_code(r.inputs[i].dtype)) return Decline{"operand is " + to_string(r.inputs[i].dtype)};
    const std::int64_t size = r.inputs[i].shape[axis] * inner;
    parts.push_back({i, size, offset, r.inputs[i].dtype, rescale_of(r, i, scales[i], zeros[i])});
    offset += size;
  }
  KernelPlan plan;
  plan.kernel = std::make_unique<QConcatKernel>(std::move(parts), rows, offset, y.dtype);
  plan.inputs.assign(r.inputs.size(), layout);
  plan.outputs = {layout};
  return plan;
}

const RegisterKernel registered{{.ops = {"QConcat"}, .make = make, .domain = assay_domain}};

}  // namespace
}  // namespace assay::kernels::qconcat_kernel
