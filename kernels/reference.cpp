// The step of a node without a fast kernel: the reference operator in float32 on plain buffers.
#include <cstring>

#include "kernels/kernel.h"
#include "runtime/op.h"

namespace assay::kernels {
namespace {

Tensor view(const Slot& slot, std::byte* data) {
  return Tensor(slot.dtype, slot.shape,
                std::shared_ptr<const std::byte>(data, [](const std::byte*) {}));
}

class ReferenceKernel : public Kernel {
 public:
  explicit ReferenceKernel(const KernelRequest& request)
      : node_(request.node()),
        place_(place_of(request.graph, request.id)),
        def_(require_op(node_, request.opset())),
        opset_(request.opset()),
        inputs_(request.inputs),
        outputs_(request.outputs) {
    if (!node_.captures.empty()) {
      throw Error({.what = "compiled programs do not run operators with a subgraph",
                   .where = place_,
                   .advice = "use --backend reference",
                   .kind = ErrorKind::unsupported});
    }
    for (const Tensor* t : request.constants) constant_.push_back(t != nullptr);
  }

  void bind(const Binding& binding) override { binding_ = binding; }

  void run() override {
    EvalContext c;
    c.node = &node_;
    c.opset = opset_;
    c.precision = Precision::f32;
    c.state = &state_;
    c.constant_input = constant_;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const bool present = inputs_[i].dtype != DType::undefined;
      c.inputs.push_back(present ? view(inputs_[i], binding_.inputs[i]) : Tensor());
    }
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const bool present = outputs_[i].dtype != DType::undefined;
      c.outputs.push_back(present ? view(outputs_[i], binding_.outputs[i]) : Tensor());
    }
    try {
      def_.eval(c);
    } catch (const Error& e) {
      throw e.at(place_);
    }
    for (std::size_t i = 0; i < outputs_.size(); ++i) take(c.outputs[i], i);
  }

  std::string implementation() const override { return "reference"; }

 private:
  /// An operator may have allocated its output itself instead of filling the buffer it got.
  void take(const Tensor& t, std::size_t i) {
    if (outputs_[i].dtype == DType::undefined || t.raw().data() == binding_.outputs[i]) return;
    if (t.dtype() != outputs_[i].dtype || t.shape() != outputs_[i].shape) {
      throw Error({.what = "output shape depends on data",
                   .where = place_,
                   .got = describe(t),
                   .expected = to_string(outputs_[i].dtype) + " " + to_string(outputs_[i].shape),
                   .advice = "use --backend reference",
                   .kind = ErrorKind::unsupported});
    }
    std::memcpy(binding_.outputs[i], t.raw().data(), t.raw().size());
  }

  Node node_;
  std::string place_;
  const OpDef& def_;
  std::int64_t opset_;
  std::vector<Slot> inputs_, outputs_;
  std::vector<char> constant_;
  std::shared_ptr<void> state_;
  Binding binding_;
};

}  // namespace

std::unique_ptr<Kernel> make_reference(const KernelRequest& request) {
  return std::make_unique<ReferenceKernel>(request);
}

}  // namespace assay::kernels
