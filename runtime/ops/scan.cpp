// Scan (9, 11, 16, 19, 21): body(states, slices) run once per position of the scan inputs; outputs
// are the last states, then every scan output stacked.
//
// scan_input_axes and scan_output_axes are 0 by default; direction 1 reads (writes) from the end.
// Opset 8, with its batch axis and sequence lengths, is not supported.
#include "runtime/ops/support/int_list.h"
#include "runtime/ops/support/movement.h"
#include "runtime/ops/support/stack.h"

namespace assay::ops::scan_op {
namespace {

/// Slice `at` of axis `axis`, that axis taken out.
Tensor slice_of(const Tensor& x, std::int64_t axis, std::int64_t at) {
  std::vector<std::int64_t> dims = x.shape().vec();
  auto strides = x.shape().strides();
  const std::int64_t offset = strides[static_cast<std::size_t>(axis)] * at;
  dims.erase(dims.begin() + axis);
  strides.erase(strides.begin() + axis);
  Tensor y(x.dtype(), Shape(dims));
  copy_strided({.box = dims,
                .from = x.raw().data() + offset * size_of(x.dtype()),
                .from_strides = strides,
                .to = y.mutable_raw().data(),
                .to_strides = y.shape().strides(),
                .size = size_of(x.dtype())});
  return y;
}

class ScanRun {
 public:
  explicit ScanRun(EvalContext& c) : c_(c), body_(c.attributes().required_graph("body")) {
    const auto scans = static_cast<std::size_t>(c.attributes().required_int("num_scan_inputs"));
    if (scans < 1 || scans > c.inputs.size() || body_.inputs().size() != c.inputs.size())
      throw Error({.what = "scan body does not fit the scan",
                   .got = std::to_string(body_.inputs().size()) + " inputs",
                   .expected = std::to_string(c.inputs.size())});
    states_ = c.inputs.size() - scans;
    if (body_.outputs().size() < states_) throw Error({.what = "scan body has too few outputs"});
    carried_.assign(c.inputs.begin(), c.inputs.begin() + static_cast<std::ptrdiff_t>(states_));
    axes_ = list("scan_input_axes", scans);
    backwards_ = list("scan_input_directions", scans);
    for (std::size_t i = states_; i < body_.outputs().size(); ++i)
      scans_.emplace_back(declared_item(c, body_, i));
    for (std::size_t i = 0; i < scans; ++i) set_steps(i);
  }

  void run() {
    for (std::int64_t i = 0; i < steps_; ++i) step(i);
    const Ints axes = list("scan_output_axes", scans_.size());
    const Ints backwards = list("scan_output_directions", scans_.size());
    for (std::size_t i = 0; i < c_.outputs.size(); ++i) {
      if (!c_.has_output(i)) continue;
      if (i < states_) {
        c_.output(i) = carried_[i];
        continue;
      }
      const std::size_t k = i - states_;
      c_.output(i) = scans_.at(k).stacked(axes[k], backwards[k] != 0);
    }
  }

 private:
  Ints list(const char* attribute, std::size_t count) const {
    Ints values = c_.attributes().ints_or(attribute, Ints(count, 0));
    require_count(attribute, values, count);
    return values;
  }

  void set_steps(std::size_t i) {
    const Tensor& x = c_.input(states_ + i);
    axes_[i] = normalize_axis(axes_[i], x.shape().rank());
    const std::int64_t size = x.shape()[axes_[i]];
    if (i > 0 && size != steps_)
      throw Error({.what = "scan inputs differ in length",
                   .got = std::to_string(size),
                   .expected = std::to_string(steps_)});
    steps_ = size;
  }

  void step(std::int64_t i) {
    std::vector<Tensor> inputs = carried_;
    for (std::size_t k = 0; k < axes_.size(); ++k) {
      const std::int64_t at = backwards_[k] != 0 ? steps_ - 1 - i : i;
      inputs.push_back(slice_of(c_.input(states_ + k), axes_[k], at));
    }
    auto results = c_.run_subgraph(body_, inputs);
    for (std::size_t k = 0; k < states_; ++k) carried_[k] = results[k];
    for (std::size_t k = 0; k < scans_.size(); ++k) scans_[k].add(results[states_ + k]);
  }

  EvalContext& c_;
  const Graph& body_;
  std::size_t states_ = 0;
  std::int64_t steps_ = 0;
  std::vector<Tensor> carried_;
  Ints axes_, backwards_;
  std::vector<Stack> scans_;
};

void infer(InferContext& c) { c.attributes().required_graph("body"); }

void eval(EvalContext& c) { ScanRun(c).run(); }

const RegisterOp registered{{.type = "Scan", .since = 9, .infer = infer, .eval = eval}};

}  // namespace
}  // namespace assay::ops::scan_op
