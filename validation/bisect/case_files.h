// A failing case as files that can be attached to a bug report.
#pragma once

#include <filesystem>

#include "validation/bisect/shrink.h"

namespace assay {

/// What the README tells of where the case comes from.
struct CaseOrigin {
  std::string model, model_sha256;
  std::string fused;  ///< file of another tool; empty: Assay's own
  std::string fused_sha256;
  std::string output;  ///< value of the model that the failing instance computes
  std::uint64_t seed = 1;
};

/// What failed, and why: the verdict and its reason, or the kernel and how far outside it is.
std::string title_of(const FusionCertificate& c);
std::string reason_of(const FusionCertificate& c);

/// Writes original.onnx, fused.onnx, one .npy per input and README.md with the verdict, the witness
/// and the command that shows it again; where only a kernel fails also gates.json, with which the
/// command ends with exit code 1. The folder appears as a whole.
void write_case(const Shrunk& s, const CaseOrigin& origin, const std::filesystem::path& folder);

/// The command of the README, to be run in the folder.
std::string reproduction(const Shrunk& s, std::uint64_t seed);

}  // namespace assay
