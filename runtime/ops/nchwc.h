// The blocked layouts of ONNX Runtime's domain com.microsoft.nchwc.
//
// An activation [N, C, H, W] is stored as [N, C/b, H, W, b], with C padded to a multiple of the
// block size b (8 or 16, by the CPU that the file was saved on); its shape in the file keeps four
// axes with the padded C. Filters are
//   OIHWBiBo  [O/b, I/b, H, W, b (input), b (output)]  ordinary convolutions
//   OIHWBo    [O/b, I, H, W, b (output)]               depthwise ones, and those whose input has
//   fewer than b channels; the
//                                                      latter read their input in plain NCHW order
#pragma once

#include "runtime/graph.h"

namespace assay {

inline const std::string nchwc_domain = "com.microsoft.nchwc";

/// Block size for a tensor or filter with this many (padded) channels. The node's attribute
/// `block_size` decides when it is there; else a count that 16 does not divide means 8, and any
/// other the width of this CPU (16 with AVX-512, else 8), because such files only load where they
/// were saved.
std::int64_t nchwc_block(const Node& node, std::int64_t channels);

/// Writes the attribute `block_size` into every nchwc node, from all filters of the graph together.
void set_nchwc_block(Graph& graph);

/// Activations between plain and blocked order; `t` is [N, C, ...] with C a multiple of `block`.
Tensor unblock_activation(const Tensor& t, std::int64_t block);
Tensor block_activation(const Tensor& t, std::int64_t block);

/// True when the Conv node's filter is OIHWBo.
bool nchwc_filter_is_obo(const Node& node, const Shape& w, std::int64_t block);
/// The filter in plain OIHW order, padding channels kept.
Tensor unblock_filter(const Tensor& w, std::int64_t block, bool obo);

}  // namespace assay
