// A run of convolutions in bands of rows: each thread takes a band through all of them while what
// lies between is in its own cache, and no thread waits in between.
//
// An expanding 1x1, a depthwise and a projecting 1x1 convolution pass many times their input and
// output between each other. Rows that a depthwise window needs from its neighbour band are
// computed twice. Every thread reads all weights. So it pays where the values in between are more
// than those, and more than what the run reads and writes anyhow.
#pragma once

#include <vector>

#include "kernels/chain_plan.h"
#include "kernels/kernel.h"

namespace assay::kernels {

/// One convolution of the run with its elementwise end.
struct BandPiece {
  NodeId node;
  TailPlan tail = {};
  ValueId value;  ///< what the piece gives
};

/// The run that begins at `first`: two or three float32 convolutions of images, each value inside
/// read by the next alone; one of them depthwise, those behind the first depthwise or 1x1, a
/// residual only at the last. Empty when there is none, or when it does not pay.
std::vector<BandPiece> plan_bands(const ChainView& view, NodeId first);

/// The run as one kernel: input 0 is the first piece's, input 1 the residual when the last piece
/// has one. One request per piece.
KernelAnswer make_bands(const std::vector<KernelRequest>& pieces);

}  // namespace assay::kernels
