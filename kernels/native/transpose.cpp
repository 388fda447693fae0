// Transpose of any element type. Channel moves that only rename the layout (NHWC <-> NCHW) cost
// nothing.
#include <cstring>

#include "kernels/kernel.h"
#include "kernels/native/simd.h"

namespace assay::kernels::transpose_kernel {
namespace {

using Sizes = std::vector<std::int64_t>;

/// Axes of the output walk in order; neighbours that stay neighbours in the input are merged.
struct Plan {
  Sizes size, stride;  // output sizes, input strides in elements
};

Plan merged(const Shape& in, const Sizes& perm) {
  const auto strides = in.strides();
  Plan p;
  for (const std::int64_t axis : perm) {
    const std::int64_t size = in[axis], stride = strides[static_cast<std::size_t>(axis)];
    if (size == 1) continue;
    if (!p.size.empty() && p.stride.back() == stride * size) {
      p.size.back() *= size;
      p.stride.back() = stride;
    } else {
      p.size.push_back(size);
      p.stride.push_back(stride);
    }
  }
  if (p.size.empty()) p = {{1}, {1}};
  return p;
}

template <class T>
void copy_run(const T* from, T* to, std::int64_t n, std::int64_t stride) {
  if (stride == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) to[i] = from[i * stride];
}

template <class T>
class TransposeKernel : public Kernel {
 public:
  explicit TransposeKernel(Plan plan) : plan_(std::move(plan)) {
    inner_ = plan_.size.back();
    inner_stride_ = plan_.stride.back();
    plan_.size.pop_back();
    plan_.stride.pop_back();
    for (const std::int64_t s : plan_.size) rows_ *= s;
  }

  void bind(const Binding& b) override {
    from_ = reinterpret_cast<const T*>(b.inputs[0]);
    to_ = reinterpret_cast<T*>(b.outputs[0]);
  }

  void run() override {
    split_work(rows_, std::max<std::int64_t>(1, 16384 / inner_),
               [this](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t row = begin; row < end; ++row) {
                   std::int64_t rest = row, at = 0;
                   for (std::size_t i = plan_.size.size(); i-- > 0; rest /= plan_.size[i]) {
                     at += rest % plan_.size[i] * plan_.stride[i];
                   }
                   copy_run(from_ + at, to_ + row * inner_, inner_, inner_stride_);
                 }
               });
  }

  std::string implementation() const override { return "native:transpose"; }

 private:
  Plan plan_;
  std::int64_t inner_ = 1, inner_stride_ = 1, rows_ = 1;
  const T* from_ = nullptr;
  T* to_ = nullptr;
};

std::unique_ptr<Kernel> kernel_for(std::int64_t bytes, Plan plan) {
  switch (bytes) {
    case 1:
      return std::make_unique<TransposeKernel<std::uint8_t>>(std::move(plan));
    case 2:
      return std::make_unique<TransposeKernel<std::uint16_t>>(std::move(plan));
    case 4:
      return std::make_unique<TransposeKernel<std::uint32_t>>(std::move(plan));
    default:
      return std::make_unique<TransposeKernel<std::uint64_t>>(std::move(plan));
  }
}

Sizes permutation(const KernelRequest& r) {
  const std::int64_t rank = r.inputs[0].shape.rank();
  Sizes reversed;
  for (std::int64_t i = rank; i-- > 0;) reversed.push_back(i);
  return r.attributes().ints_or("perm", reversed);
}

/// 0, 2, ..., n-1, 1
Sizes channel_to_back(std::int64_t rank) {
  Sizes p{0};
  for (std::int64_t i = 2; i < rank; ++i) p.push_back(i);
  p.push_back(1);
  return p;
}

/// 0, n-1, 1, ..., n-2
Sizes channel_to_front(std::int64_t rank) {
  Sizes p{0, rank - 1};
  for (std::int64_t i = 1; i + 1 < rank; ++i) p.push_back(i);
  return p;
}

KernelAnswer make(const KernelRequest& r) {
  const Slot& x = r.inputs[0];
  const std::int64_t bytes = size_of(x.dtype), rank = x.shape.rank();
  if (bytes == 0 || bytes > 8) return Decline{"element type " + to_string(x.dtype)};
  if (x.shape.numel() == 0) return Decline{"empty tensor"};
  const Sizes perm = permutation(r);
  KernelPlan plan{.inputs = {Layout::plain}, .outputs = {Layout::plain}};
  const bool constant = r.constant(0) != nullptr;
  if (!constant && rank > 2 && x.layout == Layout::channels_last && perm == channel_to_back(rank)) {
    plan.inputs = {Layout::channels_last};
    plan.alias = 0;
    return plan;
  }
  if (!constant && rank > 2 && rank < 6 && x.layout == Layout::plain &&
      perm == channel_to_front(rank)) {
    plan.outputs = {Layout::channels_last};
    plan.alias = 0;
    return plan;
  }
  plan.kernel = kernel_for(bytes, merged(x.shape, perm));
  return plan;
}

const RegisterKernel registered{{.ops = {"Transpose"}, .make = make}};

}  // namespace
}  // namespace assay::kernels::transpose_kernel
