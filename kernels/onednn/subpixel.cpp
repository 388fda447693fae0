// ConvTranspose whose windows do not overlap (kernel = stride, no padding): every input position
// gives its own block of output positions, so it is a 1x1 convolution followed by a move.
//
//   t[n, (a, b, o), i, j] = act(sum over c of x[n, c, i, j] * w[c, o, a, b] + bias[o])
//   y[n, o, s_h i + a, s_w j + b] = t[n, (a, b, o), i, j]
//
// Worth it where one output position has few channels: oneDNN's deconvolution computes each (a, b)
// with a pass over x of its own.
#include <algorithm>
#include <cstring>

#include "kernels/native/simd.h"
#include "kernels/onednn/transposed.h"
#include "kernels/onednn/window.h"

namespace assay::kernels::subpixel_kernel {
namespace {

using Desc = dnnl::convolution_forward::primitive_desc;

constexpr std::int64_t most_channels = 64;  // of one block of output positions

/// Sizes; y is [batch, out, rows * step_h, columns * step_w].
struct Geometry {
  std::int64_t batch, in, out, rows, columns, step_h, step_w;
  std::int64_t block() const { return out * step_h * step_w; }
  Shape packed() const { return {batch, block(), rows, columns}; }
};

class SubpixelKernel : public Kernel {
 public:
  SubpixelKernel(Variant v, const Geometry& g) : product_(std::move(v)), g_(g) {}

  std::int64_t scratch_bytes() const override { return temporary() + product_.scratch_bytes(); }

  void bind(const Binding& b) override {
    binding_ = b;
    Binding inner = b;
    inner.outputs = {b.scratch};
    inner.scratch = b.scratch + temporary();
    product_.bind(inner);
  }

  void run() override {
    product_.run();
    const auto* t = reinterpret_cast<const float*>(binding_.scratch);
    auto* y = reinterpret_cast<float*>(binding_.outputs[0]);
    const std::int64_t run = g_.step_w * g_.out;  // floats that stay together
    split_work(g_.batch * g_.rows, 4, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        for (std::int64_t a = 0; a < g_.step_h; ++a) {
          const float* from = t + row * g_.columns * g_.block() + a * run;
          float* to = y + (row * g_.step_h + a) * g_.columns * run;
          for (std::int64_t j = 0; j < g_.columns; ++j)
            std::copy_n(from + j * g_.block(), run, to + j * run);
        }
      }
    });
  }

  std::string implementation() const override {
    return "native:subpixel+" + product_.implementation();
  }

 private:
  std::int64_t temporary() const { return (g_.packed().numel() * 4 + 63) / 64 * 64; }

  PrimitiveKernel product_;
  Geometry g_;
  Binding binding_;
};

std::optional<Decline> refuse(const KernelRequest& r, const Window& w) {
  if (r.attributes().int_or("group", 1) != 1) return Decline{"grouped"};
  const auto zero = [](std::int64_t v) { return v == 0; };
  const bool apart = w.kernel == w.strides &&
                     std::all_of(w.dilations.begin(), w.dilations.end(), zero) &&
                     std::all_of(w.pads_begin.begin(), w.pads_begin.end(), zero) &&
                     std::all_of(w.pads_end.begin(), w.pads_end.end(), zero);
  if (!apart) return Decline{"windows overlap or are padded"};
  return std::nullopt;
}

/// w[c, o, a, b] as [(a, b, o), c].
Tensor pointwise_weights(const Tensor& w, const Geometry& g) {
  Tensor p(DType::float32, {g.block(), g.in, 1, 1});
  const auto from = w.data<float>();
  const auto to = p.mutable_data<float>();
  const std::int64_t taps = g.step_h * g.step_w;
  for (std::int64_t c = 0; c < g.in; ++c) {
    for (std::int64_t o = 0; o < g.out; ++o) {
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        to[static_cast<std::size_t>((tap * g.out + o) * g.in + c)] =
            from[static_cast<std::size_t>((c * g.out + o) * taps + tap)];
      }
    }
  }
  return p;
}

std::vector<float> repeated_bias(const Tensor& bias, const Geometry& g) {
  const auto b = bias.data<float>();
  std::vector<float> all;
  for (std::int64_t tap = 0; tap < g.step_h * g.step_w; ++tap)
    all.insert(all.end(), b.begin(), b.end());
  return all;
}

std::optional<Variant> product(const KernelRequest& r, const DotForm& form, const Geometry& g) {
  const MemoryDesc x = describe_memory(DType::float32, r.inputs[0].shape, Layout::channels_last);
  const MemoryDesc t = describe_memory(DType::float32, g.packed(), Layout::channels_last);
  const MemoryDesc b = r.has_input(2) ? plain_memory(DType::float32, {g.block()}) : MemoryDesc();
  dnnl::post_ops ops;
  append_activation(ops, form.activation);
  auto attr = make_attr();
  attr.set_post_ops(ops);
  const dnnl::memory::dims one{1, 1}, none{0, 0};
  const auto desc = try_make([&] {
    return Desc(
        cpu_engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, x,
        any_memory(DType::float32, {g.block(), g.in, 1, 1}), b, t, one, none, none, none, attr);
  });
  if (!desc) return std::nullopt;
  Variant v{.name = desc->impl_info_str(), .primitive = dnnl::convolution_forward(*desc)};
  const Tensor weights = pointwise_weights(*r.constant(1), g);
  v.constants[DNNL_ARG_WEIGHTS] = packed(plain_memory(DType::float32, weights.shape().vec()),
                                         weights.raw().data(), desc->weights_desc());
  if (r.has_input(2)) v.constants[DNNL_ARG_BIAS] = vector_memory(repeated_bias(*r.constant(2), g));
  v.inputs = {{DNNL_ARG_SRC, 0, x}};
  v.outputs = {{DNNL_ARG_DST, 0, t}};
  v.scratchpad = desc->scratchpad_desc();
  return v;
}

KernelAnswer make(const KernelRequest& r) {
  const auto answer = transposed_form(r);
  if (const auto* d = std::get_if<Decline>(&answer)) return *d;
  const Shape &x = r.inputs[0].shape, &y = r.outputs[0].shape;
  if (x.rank() != 4) return Decline{"not an image"};
  const auto& dims = r.constant(1)->shape().vec();
  const Window w = window_of(r.attributes(), {dims.begin() + 2, dims.end()}, x, y, true);
  if (auto d = refuse(r, w)) return *d;
  const Geometry g{x[0], x[1], y[1], x[2], x[3], w.strides[0], w.strides[1]};
  if (g.block() > most_channels) return Decline{"the deconvolution is faster"};
  auto v = product(r, std::get<DotForm>(answer), g);
  if (!v) return no_implementation(r);
  return reads_first_input(r, std::make_unique<SubpixelKernel>(std::move(*v), g),
                           Layout::channels_last, Layout::channels_last);
}

const RegisterKernel plain{{.ops = {"ConvTranspose"}, .make = make, .rank = -1}};
const RegisterKernel fused{
    {.ops = {}, .make = make, .domain = assay_domain, .rank = -1, .matches = is_fused_transposed}};

}  // namespace
}  // namespace assay::kernels::subpixel_kernel
