#include "kernels/onednn/window.h"

#include <algorithm>

namespace assay::kernels {
namespace {

bool all(const std::vector<std::int64_t>& v, std::int64_t want) {
  return std::all_of(v.begin(), v.end(), [&](std::int64_t x) { return x == want; });
}

}  // namespace

bool Window::pointwise() const {
  return all(kernel, 1) && all(strides, 1) && all(pads_begin, 0) && all(pads_end, 0);
}

Window window_of(const Attributes& a, std::vector<std::int64_t> kernel, const Shape& in,
                 const Shape& out, bool transposed) {
  const std::size_t rank = kernel.size();
  Window w{.kernel = std::move(kernel)};
  w.strides = a.ints_or("strides", std::vector<std::int64_t>(rank, 1));
  w.dilations = a.ints_or("dilations", std::vector<std::int64_t>(rank, 1));
  const auto pads = a.ints_or("pads", std::vector<std::int64_t>(2 * rank, 0));
  const std::string mode = a.string_or("auto_pad", "NOTSET");
  const Shape& wide = transposed ? out : in;
  const Shape& narrow = transposed ? in : out;
  for (std::size_t i = 0; i < rank; ++i) {
    const auto axis = static_cast<std::int64_t>(i) + 2;
    const std::int64_t reach = (w.kernel[i] - 1) * w.dilations[i] + 1;
    const std::int64_t total = (narrow[axis] - 1) * w.strides[i] + reach - wide[axis];
    std::int64_t begin = pads[i];
    if (mode == "VALID") begin = 0;
    if (mode == "SAME_UPPER") begin = std::max<std::int64_t>(total, 0) / 2;
    if (mode == "SAME_LOWER") begin = (std::max<std::int64_t>(total, 0) + 1) / 2;
    w.pads_begin.push_back(begin);
    // Positions that a stride skips at the far end give a smaller (even negative) padding than the
    // attribute says.
    w.pads_end.push_back(total - begin);
    --w.dilations[i];
  }
  return w;
}

}  // namespace assay::kernels
