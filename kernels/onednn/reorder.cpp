// Change of layout. oneDNN's reorder for the types it has, a plain loop for the others (int64,
// bool: small tensors).
#include <cstring>

#include "kernels/onednn/engine.h"

namespace assay::kernels {
namespace {

class LoopReorder : public Kernel {
 public:
  LoopReorder(const Slot& from, Layout to)
      : to_(to),
        size_(static_cast<std::size_t>(size_of(from.dtype))),
        batch_(static_cast<std::size_t>(from.shape[0])),
        channels_(static_cast<std::size_t>(from.shape[1])),
        positions_(static_cast<std::size_t>(from.shape.numel(2, from.shape.rank()))) {}

  void bind(const Binding& binding) override { binding_ = binding; }

  void run() override {
    const bool last = to_ == Layout::channels_last;
    for (std::size_t n = 0; n < batch_; ++n) {
      for (std::size_t c = 0; c < channels_; ++c) {
        for (std::size_t p = 0; p < positions_; ++p) {
          const std::size_t plain = (n * channels_ + c) * positions_ + p;
          const std::size_t tail = (n * positions_ + p) * channels_ + c;
          std::memcpy(binding_.outputs[0] + (last ? tail : plain) * size_,
                      binding_.inputs[0] + (last ? plain : tail) * size_, size_);
        }
      }
    }
  }

  std::string implementation() const override { return "loop"; }

 private:
  Layout to_;
  std::size_t size_, batch_, channels_, positions_;
  Binding binding_;
};

}  // namespace

std::unique_ptr<Kernel> make_reorder(const Slot& from, Layout to) {
  Slot target = from;
  target.layout = to;
  if (!dnnl_type(from.dtype) || from.shape.rank() > 5)
    return std::make_unique<LoopReorder>(from, to);
  const MemoryDesc source = describe_memory(from), result = describe_memory(target);
  const dnnl::reorder::primitive_desc desc(cpu_engine(), source, cpu_engine(), result, make_attr());
  Variant v{.name = desc.impl_info_str(), .primitive = dnnl::reorder(desc)};
  v.inputs = {{DNNL_ARG_FROM, 0, source}};
  v.outputs = {{DNNL_ARG_TO, 0, result}};
  v.scratchpad = desc.scratchpad_desc();
  return std::make_unique<PrimitiveKernel>(std::move(v));
}

}  // namespace assay::kernels
