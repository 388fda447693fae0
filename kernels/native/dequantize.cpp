#include "kernels/native/dequantize.h"

#include "kernels/kernel.h"
#include "kernels/native/code_loops.h"

namespace assay::kernels {
namespace {

constexpr std::int64_t grain = 32768;

template <class T>
void dequantize_as(const CodeParams& p, const std::byte* codes, std::int64_t count, float* out) {
  const auto* q = reinterpret_cast<const T*>(codes);
  const SimdLevel level = simd_level();
  split_work(count, grain, [&](std::int64_t begin, std::int64_t end) {
    run_simd(level, DequantizeLoop<T>{}, q + begin, out + begin, end - begin, p.scale,
             p.zero_point);
  });
}

class DequantizeKernel : public Kernel {
 public:
  DequantizeKernel(CodeParams params, std::int64_t count) : params_(params), count_(count) {}
  void bind(const Binding& binding) override { binding_ = binding; }
  void run() override {
    dequantize_codes(params_, binding_.inputs[0], count_,
                     reinterpret_cast<float*>(binding_.outputs[0]));
  }
  std::string implementation() const override { return "native:dequantize"; }

 private:
  CodeParams params_;
  std::int64_t count_;
  Binding binding_;
};

std::optional<Decline> refuse(const KernelRequest& r) {
  const DType t = r.inputs[0].dtype;
  if (!is_code(t)) return Decline{"codes are " + to_string(t)};
  if (r.outputs[0].dtype != DType::float32)
    return Decline{"output is " + to_string(r.outputs[0].dtype)};
  if (r.inputs[0].shape.numel() == 0) return Decline{"empty tensor"};
  return refuse_grid(r);
}

KernelAnswer make(const KernelRequest& r) {
  if (auto d = refuse(r)) return *d;
  CodeParams p{r.inputs[0].dtype, r.constant(1)->data<float>()[0], 0};
  if (r.has_input(2)) p.zero_point = static_cast<std::int32_t>(to_ints(*r.constant(2))[0]);
  const Layout layout = r.inputs[0].layout;
  return reads_first_input(r, std::make_unique<DequantizeKernel>(p, r.inputs[0].shape.numel()),
                           layout, layout);
}

const RegisterKernel registered{{.ops = {"DequantizeLinear"}, .make = make}};

}  // namespace

std::optional<Decline> refuse_grid(const KernelRequest& r) {
  for (std::size_t i = 1; i < r.inputs.size(); ++i) {
    if (!r.has_input(i)) continue;
    if (r.constant(i) == nullptr) return Decline{"scale or zero point is not constant"};
    if (r.constant(i)->numel() != 1) return Decline{"more than one scale or zero point"};
  }
  return std::nullopt;
}

void dequantize_codes(const CodeParams& p, const std::byte* codes, std::int64_t count, float* out) {
  if (p.dtype == DType::uint8) return dequantize_as<std::uint8_t>(p, codes, count, out);
  if (p.dtype == DType::int8) return dequantize_as<std::int8_t>(p, codes, count, out);
  dequantize_as<std::int32_t>(p, codes, count, out);
}

}  // namespace assay::kernels
