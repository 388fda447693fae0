// MaxPool on codes for what oneDNN has no vector kernel for: the largest code of each window,
// padding left out.
#include <algorithm>
#include <limits>

#include "kernels/kernel.h"
#include "kernels/native/simd.h"

namespace assay::kernels::qmax_pool_kernel {
namespace {

struct Extent {
  std::int64_t in_h, in_w, out_h, out_w, channels, batch;
  std::int64_t kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w;
};

template <class T>
struct RowMax {
  ASSAY_SIMD_BODY void operator()(const T* x, T* y, std::int64_t n) const {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] > y[i] ? x[i] : y[i];
  }
};

template <class T>
class MaxKernel : public Kernel {
 public:
  explicit MaxKernel(Extent e) : e_(e), level_(simd_level()) {}
  void bind(const Binding& b) override { binding_ = b; }
  void run() override {
    split_work(e_.batch * e_.out_h * e_.out_w, 64, [this](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) run_position(i);
    });
  }
  std::string implementation() const override { return "native:max_pool"; }

 private:
  void run_position(std::int64_t i) const {
    const std::int64_t n = i / (e_.out_h * e_.out_w), oy = i / e_.out_w % e_.out_h,
                       ox = i % e_.out_w;
    const std::int64_t y0 = oy * e_.stride_h - e_.pad_h, x0 = ox * e_.stride_w - e_.pad_w;
    T* to = reinterpret_cast<T*>(binding_.outputs[0]) + i * e_.channels;
    std::fill_n(to, e_.channels, std::numeric_limits<T>::lowest());
    for (std::int64_t y = std::max<std::int64_t>(0, y0); y < std::min(e_.in_h, y0 + e_.kernel_h);
         ++y) {
      for (std::int64_t x = std::max<std::int64_t>(0, x0); x < std::min(e_.in_w, x0 + e_.kernel_w);
           ++x) {
        const T* from = reinterpret_cast<const T*>(binding_.inputs[0]) +
                        ((n * e_.in_h + y) * e_.in_w + x) * e_.channels;
        run_simd(level_, RowMax<T>{}, from, to, e_.channels);
      }
    }
  }

  Extent e_;
  SimdLevel level_;
  Binding binding_;
};

KernelAnswer make(const KernelRequest& r) {
  const Slot &x = r.inputs[0], &y = r.outputs[0];
  const Attributes& a = r.attributes();
  if (x.dtype != DType::uint8 && x.dtype != DType::int8)
    return Decline{"codes are " + to_string(x.dtype)};
  if (x.dtype != y.dtype || x.shape.rank() != 4 || y.shape.numel() == 0)
    return Decline{"shape " + to_string(x.shape)};
  if (r.outputs.size() > 1 && r.outputs[1].dtype != DType::undefined)
    return Decline{"its index output is used"};
  if (a.string_or("auto_pad", "NOTSET") != "NOTSET") return Decline{"auto_pad"};
  if (a.ints_or("dilations", {1, 1}) != std::vector<std::int64_t>{1, 1})
    return Decline{"dilated pool"};
  const bool rescales =
      a.float_or("x_scale", 1.0F) != a.float_or("y_scale", a.float_or("x_scale", 1.0F)) ||
      a.int_or("x_zero_point", 0) != a.int_or("y_zero_point", a.int_or("x_zero_point", 0));
  if (rescales) return Decline{"it changes scale or zero point"};
  const auto kernel = a.required_ints("kernel_shape"), strides = a.ints_or("strides", {1, 1});
  const auto pads = a.ints_or("pads", {0, 0, 0, 0});
  const Extent e{x.shape[2], x.shape[3], y.shape[2], y.shape[3], x.shape[1], x.shape[0],
                 kernel[0],  kernel[1],  strides[0], strides[1], pads[0],    pads[1]};
  KernelPlan plan;
  if (x.dtype == DType::uint8) {
    plan.kernel = std::make_unique<MaxKernel<std::uint8_t>>(e);
  } else {
    plan.kernel = std::make_unique<MaxKernel<std::int8_t>>(e);
  }
  plan.inputs.assign(r.inputs.size(), Layout::channels_last);
  plan.outputs.assign(r.outputs.size(), Layout::channels_last);
  return plan;
}

const RegisterKernel own{{.ops = {"QMaxPool"}, .make = make, .domain = assay_domain, .rank = 2}};
const RegisterKernel plain{{.ops = {"MaxPool"}, .make = make, .rank = 2}};

}  // namespace
}  // namespace assay::kernels::qmax_pool_kernel
