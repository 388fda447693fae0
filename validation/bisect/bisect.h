// Fusion bisection: how much of the final difference comes from which fused instance
// (docs/certificates.md, "Which instance moves the result").
//
//   one-only     the original with only this instance fused, against the original
//   leave-out    everything fused but this instance, against the original
//   share        energy of the one-only difference over the sum of those of all instances:
//                sum |y_i - y|^2 / sum_j sum |y_j - y|^2
// Differences are those of the network's outputs. One-only differences do not add up to the whole
// (each moves the roundings behind it), so shares are of their sum, not of the whole.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "validation/certificate/certify.h"
#include "validation/pair_stats.h"

namespace assay {

struct InstanceEffect {
  std::string output, rule, verdict;
  PairStats one_only, left_out;
  double share = 0;  ///< 0 when no instance changes any output
};

/// The effects under one evaluation.
struct BisectionRun {
  std::string evaluation;  ///< "f32" (canonical order) or "onednn"
  PairStats whole = {};    ///< everything fused against the original
  std::vector<InstanceEffect> instances = {};
  std::string note = {};  ///< why there are no numbers
};

struct BisectOptions {
  std::vector<Feeds> samples = {};
  bool kernels = true;  ///< also with the compiled kernels
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};
};

/// `certificates`: one per region of `c`.
std::vector<BisectionRun> bisect(const Comparison& c,
                                 const std::vector<FusionCertificate>& certificates,
                                 const BisectOptions& options);

/// The part of the report: samples, whole, instances by falling share.
nlohmann::ordered_json to_json(const std::vector<BisectionRun>& runs, std::int64_t samples);

}  // namespace assay
