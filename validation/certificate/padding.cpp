#include "validation/certificate/padding.h"

namespace assay {

std::optional<SpatialPadding> spatial_padding(const Graph& g, const Node& n) {
  if (!n.is("Pad") || n.attributes.string_or("mode", "constant") != "constant" || n.has_input(3))
    return std::nullopt;
  std::vector<std::int64_t> all = n.attributes.ints_or("pads", {});
  SpatialPadding p{.pads = {}, .value = static_cast<double>(n.attributes.float_or("value", 0))};
  if (n.has_input(1)) {
    const Tensor* t = g.constant(n.inputs[1]);
    if (t == nullptr || t->dtype() != DType::int64) return std::nullopt;
    const auto d = t->data<std::int64_t>();
    all.assign(d.begin(), d.end());
  }
  if (n.has_input(2)) {
    const Tensor* t = g.constant(n.inputs[2]);
    if (t == nullptr || t->numel() != 1) return std::nullopt;
    p.value = to_doubles(*t)[0];
  }
  const std::size_t rank = all.size() / 2;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] < 0 || (i % rank < 2 && all[i] != 0)) return std::nullopt;
    if (i % rank >= 2) p.pads.push_back(all[i]);
  }
  return p;
}

std::vector<std::int64_t> joined_pads(std::vector<std::int64_t> own,
                                      const std::vector<std::int64_t>& more) {
  if (own.empty()) return more;
  for (std::size_t i = 0; i < own.size() && i < more.size(); ++i) own[i] += more[i];
  return own;
}

}  // namespace assay
