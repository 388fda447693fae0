#include "kernels/layout.h"

namespace assay::kernels {

std::string to_string(Layout layout) { return layout == Layout::plain ? "plain" : "channels_last"; }

bool layouts_coincide(const Shape& shape) {
  if (shape.rank() < 3) return true;
  return shape[1] == 1 || shape.numel(2, shape.rank()) == 1;
}

}  // namespace assay::kernels
