// Reordering between plain and blocked layouts (runtime/ops/nchwc.h).
#include <algorithm>
#include <cstring>

#include "runtime/numeric/cpu_isa.h"
#include "runtime/ops/nchwc.h"

namespace assay {
namespace {

/// Copies element `from(i)` of `t` to element i of the result, for any element type.
template <class From>
Tensor reordered(const Tensor& t, const From& from) {
  Tensor out(t.dtype(), t.shape());
  const auto width = static_cast<std::size_t>(size_of(t.dtype()));
  const std::byte* source = t.raw().data();
  std::byte* target = out.mutable_raw().data();
  for (std::int64_t i = 0; i < t.numel(); ++i) {
    std::memcpy(target + static_cast<std::size_t>(i) * width,
                source + static_cast<std::size_t>(from(i)) * width, width);
  }
  return out;
}

void require_multiple(const Tensor& t, std::int64_t channels, std::int64_t block) {
  if (channels % block == 0) return;
  throw Error({.what = "blocked tensor whose channels are not a multiple of the block size",
               .got = describe(t),
               .expected = "a multiple of " + std::to_string(block)});
}

bool reads_plain_input(const Node& node, const Shape& w, std::int64_t block) {
  return node.attributes.int_or("group", 1) == 1 && w[1] < block;
}

}  // namespace

std::int64_t nchwc_block(const Node& node, std::int64_t channels) {
  const std::int64_t stated = node.attributes.int_or("block_size", 0);
  if (stated != 0) return stated;
  if (channels % 16 != 0) return 8;
  return detected_isa() == Isa::avx512 ? 16 : 8;
}

void set_nchwc_block(Graph& graph) {
  std::int64_t block = 0;
  for (const NodeId n : graph.node_ids()) {
    const Node& node = graph.node(n);
    if (node.domain != nchwc_domain || node.op_type != "Conv") continue;
    const Tensor* w = graph.constant(node.inputs.at(1));
    if (w == nullptr) continue;
    // A filter with fewer than 16 but at least 8 input channels of its own exists only in files
    // with block 16.
    const bool narrow_input = w->shape()[1] % 8 != 0 && w->shape()[1] > 8;
    if (w->shape()[0] % 16 != 0)
      block = 8;
    else if (block == 0 && narrow_input)
      block = 16;
    else if (block == 0 || block == 16)
      block = std::max(block, nchwc_block(node, w->shape()[0]));
  }
  if (block == 0) return;
  for (const NodeId n : graph.node_ids()) {
    if (graph.node(n).domain != nchwc_domain) continue;
    Attributes a = graph.node(n).attributes;
    a.set("block_size", block);
    graph.set_attributes(n, a);
  }
}

Tensor unblock_activation(const Tensor& t, std::int64_t block) {
  const Shape& s = t.shape();
  require_multiple(t, s[1], block);
  const std::int64_t inner = s.numel(2, s.rank()), channels = s[1];
  return reordered(t, [&](std::int64_t i) {
    const std::int64_t p = i % inner, c = i / inner % channels, n = i / (inner * channels);
    return ((n * (channels / block) + c / block) * inner + p) * block + c % block;
  });
}

Tensor block_activation(const Tensor& t, std::int64_t block) {
  const Shape& s = t.shape();
  require_multiple(t, s[1], block);
  const std::int64_t inner = s.numel(2, s.rank()), groups = s[1] / block;
  return reordered(t, [&](std::int64_t i) {
    const std::int64_t lane = i % block, p = i / block % inner;
    const std::int64_t g = i / (block * inner) % groups, n = i / (block * inner * groups);
    return ((n * groups + g) * block + lane) * inner + p;
  });
}

bool nchwc_filter_is_obo(const Node& node, const Shape& w, std::int64_t block) {
  const bool depthwise = node.attributes.int_or("group", 1) > 1 && w[1] == 1;
  return depthwise || reads_plain_input(node, w, block);
}

Tensor unblock_filter(const Tensor& w, std::int64_t block, bool obo) {
  const Shape& s = w.shape();
  require_multiple(w, s[0], block);
  const std::int64_t inputs = s[1], taps = s.numel(2, s.rank());
  const std::int64_t lanes = obo ? 1 : block;
  if (!obo) require_multiple(w, inputs, block);
  return reordered(w, [&](std::int64_t i) {
    const std::int64_t k = i % taps, in = i / taps % inputs, out = i / (taps * inputs);
    const std::int64_t outer = out / block * (inputs / lanes) + in / lanes;
    return ((outer * taps + k) * lanes + in % lanes) * block + out % block;
  });
}

}  // namespace assay
