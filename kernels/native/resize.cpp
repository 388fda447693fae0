// Resize and Upsample by nearest neighbour: y[o] = x[i(o)] per axis, the index table made once.
// Channels-last keeps pixels whole.
//
// x = o / s (asymmetric), (o + 1/2) / s - 1/2 (half_pixel), o (n - 1) / (m - 1) (align_corners);
// then rounded as nearest_mode says.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/kernel.h"
#include "kernels/native/simd.h"

namespace assay::kernels::resize_kernel {
namespace {

using Table = std::vector<std::int64_t>;

struct Mode {
  std::string coordinates, rounding;
};

double source_position(const Mode& m, double o, double scale, std::int64_t in, std::int64_t out) {
  if (m.coordinates == "asymmetric") return o / scale;
  if (m.coordinates == "align_corners") {
    return out == 1 ? 0.0 : o * static_cast<double>(in - 1) / static_cast<double>(out - 1);
  }
  if (m.coordinates == "pytorch_half_pixel" && out <= 1) return 0.0;
  return (o + 0.5) / scale - 0.5;
}

double rounded(const std::string& mode, double x) {
  if (mode == "floor") return std::floor(x);
  if (mode == "ceil") return std::ceil(x);
  if (mode == "round_prefer_ceil") return std::floor(x + 0.5);
  return std::ceil(x - 0.5);
}

Table table_for(const Mode& m, double scale, std::int64_t in, std::int64_t out) {
  Table t;
  for (std::int64_t o = 0; o < out; ++o) {
    const double x = source_position(m, static_cast<double>(o), scale, in, out);
    t.push_back(
        std::clamp<std::int64_t>(static_cast<std::int64_t>(rounded(m.rounding, x)), 0, in - 1));
  }
  return t;
}

/// [outer, h, w, pixel bytes]: channels-last has outer = batch, plain has outer = batch * channels.
struct Geometry {
  std::int64_t outer, in_h, in_w, out_h, out_w;
  std::size_t pixel;
};

class NearestKernel : public Kernel {
 public:
  NearestKernel(Geometry g, Table rows, Table columns)
      : g_(g), rows_(std::move(rows)), columns_(std::move(columns)) {}
  void bind(const Binding& b) override { binding_ = b; }
  void run() override {
    split_work(g_.outer * g_.out_h, 8, [this](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) run_row(i / g_.out_h, i % g_.out_h);
    });
  }
  std::string implementation() const override { return "native:nearest"; }

 private:
  template <std::size_t bytes>
  void copy_pixels(const std::byte* from, std::byte* to) const {
    for (std::int64_t x = 0; x < g_.out_w; ++x) {
      std::memcpy(to + static_cast<std::size_t>(x) * bytes,
                  from + static_cast<std::size_t>(columns_[static_cast<std::size_t>(x)]) * bytes,
                  bytes);
    }
  }

  void run_row(std::int64_t outer, std::int64_t y) const {
    const std::int64_t source = outer * g_.in_h + rows_[static_cast<std::size_t>(y)];
    const std::byte* from =
        binding_.inputs[0] + static_cast<std::size_t>(source * g_.in_w) * g_.pixel;
    std::byte* to = binding_.outputs[0] +
                    static_cast<std::size_t>((outer * g_.out_h + y) * g_.out_w) * g_.pixel;
    if (g_.pixel == 4) return copy_pixels<4>(from, to);
    if (g_.pixel == 1) return copy_pixels<1>(from, to);
    for (std::int64_t x = 0; x < g_.out_w; ++x) {
      std::memcpy(to + static_cast<std::size_t>(x) * g_.pixel,
                  from + static_cast<std::size_t>(columns_[static_cast<std::size_t>(x)]) * g_.pixel,
                  g_.pixel);
    }
  }

  Geometry g_;
  Table rows_, columns_;
  Binding binding_;
};

Mode mode_of(const KernelRequest& r) {
  if (r.node().op_type == "Upsample" || r.opset() < 11) return {"asymmetric", "floor"};
  return {r.attributes().string_or("coordinate_transformation_mode", "half_pixel"),
          r.attributes().string_or("nearest_mode", "round_prefer_floor")};
}

/// Stated scale of an axis, else the ratio of the sizes.
double scale_of(const KernelRequest& r, std::int64_t axis) {
  const bool old = r.node().op_type == "Upsample" || r.opset() < 11;
  const Tensor* scales = r.constant(old ? 1 : 2);
  if (scales != nullptr && scales->numel() == 4)
    return to_doubles(*scales)[static_cast<std::size_t>(axis)];
  return static_cast<double>(r.outputs[0].shape[axis]) /
         static_cast<double>(r.inputs[0].shape[axis]);
}

std::optional<Decline> refuse(const KernelRequest& r) {
  const Slot& x = r.inputs[0];
  if (x.shape.rank() != 4) return Decline{"rank " + std::to_string(x.shape.rank())};
  if (size_of(x.dtype) == 0) return Decline{"element type " + to_string(x.dtype)};
  if (x.shape.numel() == 0 || r.outputs[0].shape.numel() == 0) return Decline{"empty tensor"};
  if (r.attributes().string_or("mode", "nearest") != "nearest")
    return Decline{"mode is not nearest"};
  if (r.attributes().has("axes")) return Decline{"it has axes"};
  if (mode_of(r).coordinates == "tf_crop_and_resize") return Decline{"tf_crop_and_resize"};
  if (x.shape[0] != r.outputs[0].shape[0] || x.shape[1] != r.outputs[0].shape[1]) {
    return Decline{"it resizes batch or channels"};
  }
  return std::nullopt;
}

KernelAnswer make(const KernelRequest& r) {
  if (auto d = refuse(r)) return *d;
  const Shape &x = r.inputs[0].shape, &y = r.outputs[0].shape;
  const Layout layout = r.inputs[0].layout;
  const bool last = layout == Layout::channels_last;
  const auto size = static_cast<std::size_t>(size_of(r.inputs[0].dtype));
  const Geometry g{.outer = last ? x[0] : x[0] * x[1],
                   .in_h = x[2],
                   .in_w = x[3],
                   .out_h = y[2],
                   .out_w = y[3],
                   .pixel = last ? size * static_cast<std::size_t>(x[1]) : size};
  const Mode mode = mode_of(r);
  return reads_first_input(
      r,
      std::make_unique<NearestKernel>(g, table_for(mode, scale_of(r, 2), x[2], y[2]),
                                      table_for(mode, scale_of(r, 3), x[3], y[3])),
      layout, layout);
}

const RegisterKernel registered{{.ops = {"Resize", "Upsample"}, .make = make}};

}  // namespace
}  // namespace assay::kernels::resize_kernel
