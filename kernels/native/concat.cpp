// Concat: blocks of each input copied in turn, in either layout and any element type.
#include <cstring>

#include "kernels/kernel.h"

namespace assay::kernels::concat_kernel {
namespace {

struct Part {
  std::size_t input;
  std::int64_t bytes;   // of one block
  std::int64_t offset;  // in an output row
};

class ConcatKernel : public Kernel {
 public:
  ConcatKernel(std::vector<Part> parts, std::int64_t rows, std::int64_t row_bytes)
      : parts_(std::move(parts)), rows_(rows), row_bytes_(row_bytes) {}

  void bind(const Binding& binding) override { binding_ = binding; }

  void run() override {
#pragma omp parallel for schedule(static) if (rows_ * row_bytes_ > 65536)
    for (std::int64_t row = 0; row < rows_; ++row) {
      for (const Part& p : parts_) {
        std::memcpy(binding_.outputs[0] + row * row_bytes_ + p.offset,
                    binding_.inputs[p.input] + row * p.bytes, static_cast<std::size_t>(p.bytes));
      }
    }
  }

  std::string implementation() const override { return "native:concat"; }

 private:
  std::vector<Part> parts_;
  std::int64_t rows_, row_bytes_;
  Binding binding_;
};

/// Sizes outside and inside the axis in memory order.
std::pair<std::int64_t, std::int64_t> split_at(const Shape& s, std::int64_t axis, Layout layout) {
  const bool last = layout == Layout::channels_last && s.rank() > 2;
  if (!last) return {s.numel(0, axis), s.numel(axis + 1, s.rank())};
  if (axis == 1) return {s.numel() / s[1], 1};
  if (axis == 0) return {1, s.numel(1, s.rank())};
  return {s[0] * s.numel(2, axis), s.numel(axis + 1, s.rank()) * s[1]};
}

KernelAnswer make(const KernelRequest& r) {
  const Slot& y = r.outputs[0];
  if (size_of(y.dtype) == 0) return Decline{"element type " + to_string(y.dtype)};
  if (y.shape.numel() == 0) return Decline{"empty tensor"};
  const std::int64_t axis = normalize_axis(r.attributes().required_int("axis"), y.shape.rank());
  const Layout layout = y.shape.rank() < 3 ? Layout::plain : kept_layout(r);
  const std::int64_t size = size_of(y.dtype);
  std::vector<Part> parts;
  std::int64_t offset = 0, rows = 1;
  for (std::size_t i = 0; i < r.inputs.size(); ++i) {
    const auto [outer, inner] = split_at(r.inputs[i].shape, axis, layout);
    if (r.inputs[i].shape[axis] == 0) continue;
    rows = outer;
    const std::int64_t bytes = r.inputs[i].shape[axis] * inner * size;
    parts.push_back({i, bytes, offset});
    offset += bytes;
  }
  KernelPlan plan;
  plan.kernel = std::make_unique<ConcatKernel>(std::move(parts), rows, offset);
  plan.inputs.assign(r.inputs.size(), layout);
  plan.outputs = {layout};
  return plan;
}

const RegisterKernel registered{{.ops = {"Concat"}, .make = make}};

}  // namespace
}  // namespace assay::kernels::concat_kernel
