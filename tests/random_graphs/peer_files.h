// Files for tests/scripts/random_graphs_peer.py: what ONNX Runtime is to run, and to give.
#pragma once

#include <filesystem>

#include "tests/random_graphs/generator.h"

namespace assay::testing {

/// Writes DIR/SEED/original.onnx, input_I.pb, and for each distinct fused graph SET.onnx with, per
/// output K, SET.K.want.pb (float64) and SET.K.radius.pb: how far a float32 evaluation in any order
/// of summation may lie from it. Outputs without a radius are left out,
/// and graphs outside the domain of certificates.
void write_peer_files(const RandomGraph& r, const std::filesystem::path& dir);

}  // namespace assay::testing
