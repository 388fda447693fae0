// QuantizeLinear with one scale: code = clamp(rhe(x / s) + z), the quotient taken as a real number.
//
// The arithmetic is that of code_loops.h. A plain input that must become channels-last is quantized
// and transposed in one pass.
#include <algorithm>

#include "kernels/kernel.h"
#include "kernels/native/code_loops.h"
#include "kernels/native/dequantize.h"

namespace assay::kernels::quantize_kernel {
namespace {

constexpr std::int64_t tile = 256;  // positions quantized at a time before they are interleaved

/// Positions [begin, end) of every channel: planes of `x` to interleaved channels of `y`.
template <class T>
struct InterleaveLoop {
  ASSAY_SIMD_BODY void operator()(const float* x, T* y, std::int64_t channels, std::int64_t plane,
                                  std::int64_t begin, std::int64_t end, QuantizeParams p) const {
    T buffer[3][tile];
    for (std::int64_t first = begin; first < end; first += tile) {
      const std::int64_t n = std::min(tile, end - first);
      T* out = y + first * channels;
      std::int64_t c = 0;
      for (; c + 3 <= channels; c += 3) {
        for (std::int64_t k = 0; k < 3; ++k) {
          const float* row = x + (c + k) * plane + first;
          QuantizeLoop<T>{}(row, buffer[k], n, p);
        }
#pragma omp simd
        for (std::int64_t i = 0; i < n; ++i) {
          out[i * channels + c] = buffer[0][i];
          out[i * channels + c + 1] = buffer[1][i];
          out[i * channels + c + 2] = buffer[2][i];
        }
      }
      for (; c < channels; ++c) {
        const float* row = x + c * plane + first;
        QuantizeLoop<T>{}(row, buffer[0], n, p);
        for (std::int64_t i = 0; i < n; ++i) out[i * channels + c] = buffer[0][i];
      }
    }
  }
};

template <class T>
class QuantizeKernel : public Kernel {
 public:
  /// `interleave`: the input is plain, the output channels-last.
  QuantizeKernel(const Shape& shape, QuantizeParams params, bool interleave)
      : params_(params), level_(simd_level()), count_(shape.numel()), interleave_(interleave) {
    if (!interleave) return;
    batch_ = shape[0];
    channels_ = shape[1];
    plane_ = shape.numel(2, shape.rank());
  }

  void bind(const Binding& binding) override {
    x_ = reinterpret_cast<const float*>(binding.inputs[0]);
    y_ = reinterpret_cast<T*>(binding.outputs[0]);
  }

  void run() override {
    if (!interleave_) {
      split_work(count_, 16384, [this](std::int64_t begin, std::int64_t end) {
        run_simd(level_, QuantizeLoop<T>{}, x_ + begin, y_ + begin, end - begin, params_);
      });
      return;
    }
    for (std::int64_t n = 0; n < batch_; ++n) {
      const float* x = x_ + n * channels_ * plane_;
      T* y = y_ + n * channels_ * plane_;
      split_work(plane_, std::max(tile, 16384 / channels_ / tile * tile),
                 [&](std::int64_t begin, std::int64_t end) {
                   run_simd(level_, InterleaveLoop<T>{}, x, y, channels_, plane_, begin, end,
                            params_);
                 });
    }
  }

  std::string implementation() const override { return "native:quantize"; }

 private:
  QuantizeParams params_;
  SimdLevel level_;
  std::int64_t count_, batch_ = 1, channels_ = 1, plane_ = 1;
  bool interleave_;
  const float* x_ = nullptr;
  T* y_ = nullptr;
};

std::optional<Decline> refuse(const KernelRequest& r) {
  const DType y = r.outputs[0].dtype;
  if (r.inputs[0].dtype != DType::float32)
    return Decline{"input is " + to_string(r.inputs[0].dtype)};
  if (!is_code(y)) return Decline{"codes are " + to_string(y)};
  if (r.inputs[0].shape.numel() == 0) return Decline{"empty tensor"};
  if (auto d = refuse_grid(r)) return d;
  const float scale =
      r.constant(1)->dtype() == DType::float32 ? r.constant(1)->data<float>()[0] : 0.0F;
  if (!quantizes_exactly(scale)) return Decline{"scale is outside [1e-30, 1e30] or not float32"};
  return std::nullopt;
}

KernelAnswer make(const KernelRequest& r) {
  if (auto d = refuse(r)) return *d;
  const Slot& x = r.inputs[0];
  const std::int32_t zero =
      r.has_input(2) ? static_cast<std::int32_t>(to_ints(*r.constant(2))[0]) : 0;
  const QuantizeParams p =
      quantize_params(r.outputs[0].dtype, r.constant(1)->data<float>()[0], zero);
  const bool interleave = x.layout == Layout::plain && !layouts_coincide(x.shape);
  std::unique_ptr<Kernel> kernel;
  if (r.outputs[0].dtype == DType::uint8) {
    kernel = std::make_unique<QuantizeKernel<std::uint8_t>>(x.shape, p, interleave);
  } else {
    kernel = std::make_unique<QuantizeKernel<std::int8_t>>(x.shape, p, interleave);
  }
  return reads_first_input(r, std::move(kernel), x.layout,
                           interleave ? Layout::channels_last : x.layout);
}

const RegisterKernel registered{{.ops = {"QuantizeLinear"}, .make = make}};

}  // namespace
}  // namespace assay::kernels::quantize_kernel
