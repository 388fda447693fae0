#include "runtime/ops/support/bound.h"

#include <algorithm>

#include "runtime/ops/support/elementwise.h"

namespace assay::ops {

std::span<double> new_radius(BoundContext& c, std::size_t i) {
  if (c.result.size() < c.outputs.size()) c.result.resize(c.outputs.size());
  c.result[i] = Tensor::zeros(DType::float64, c.outputs[i].shape());
  return c.result[i].mutable_data<double>();
}

void bound_lipschitz(BoundContext& c, double lipschitz, double roundings) {
  const Radius x(c, 0);
  const auto y = c.outputs[0].data<double>();
  auto out = new_radius(c);
  for (std::size_t k = 0; k < out.size(); ++k) {
    const double passed = lipschitz * x[static_cast<std::int64_t>(k)];
    out[k] = outward(passed + (roundings == 0 ? 0.0 : own_error(c, y[k], roundings)));
  }
}

void bound_selection(BoundContext& c) {
  double* out = new_radius(c).data();
  std::vector<Shape> shapes;
  std::vector<Radius> radii;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    if (!c.inputs[i].defined()) continue;
    shapes.push_back(c.inputs[i].shape());
    radii.emplace_back(c, i);
  }
  for_each_run(c.outputs[0].shape(), shapes, [&](const Run& r) {
    for (std::int64_t k = 0; k < r.count; ++k) {
      double widest = 0.0;
      for (std::size_t i = 0; i < radii.size(); ++i)
        widest = std::max(widest, radii[i][r.offset[i] + k * r.step[i]]);
      out[r.first + k] = widest;
    }
  });
}

}  // namespace assay::ops
