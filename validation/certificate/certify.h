// Fusion certificates: one verdict per fused instance (docs/certificates.md).
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fusion/rewrite_log.h"
#include "runtime/executor.h"
#include "validation/certificate/foreign.h"
#include "validation/certificate/regions.h"

namespace assay {

struct CertifyOptions {
  /// Inputs of the whole graph on which instances are judged (the original's own tensors are
  /// computed from them).
  std::vector<Feeds> samples = {};
  /// Also judge the region on oneDNN's kernels.
  bool kernels = true;
  std::uint64_t seed = 1;
  /// Pairs of value names for another tool's graph, other -> original (alignment_map.h); what it
  /// does not name is aligned by names, then by cut search.
  std::map<std::string, std::string> map = {};
};

/// One fused instance.
struct FusionCertificate {
  std::string rule;  ///< rule of Assay, or the recipe recognised in another tool's file
  std::vector<std::string> nodes;        ///< of the original
  std::string output;                    ///< value of the original that the instance produces
  std::string verdict = "U";             ///< E0 .. E5 or U: the worst label
  std::vector<std::string> labels = {};  ///< all labels that apply
  std::string reason = {};               ///< one sentence; for E5 and U always given
  nlohmann::ordered_json proof, constants, scaling, rounding, onednn, domain,
      witness;  ///< null where not made
};

struct CertifyResult {
  std::vector<FusionCertificate> fusions;
  /// aligned, unaligned, judged, share ...: nothing is skipped silently
  nlohmann::ordered_json coverage;
};

/// Two graphs in the form in which they are compared, and the regions in which they differ.
struct Comparison {
  Comparable graphs;
  Alignment alignment;
  bool own = false;  ///< the fused graph is Assay's own
};

/// `log` is Assay's own rewrite log, or nullptr for another tool's file.
Comparison compare_graphs(const Graph& original, const Graph& fused, const RewriteLog* log,
                          const CertifyOptions& options);

/// Per region: the original's own tensors at its inputs, one per sample.
std::vector<std::vector<Feeds>> region_feeds(const Comparison& c,
                                             const std::vector<Feeds>& samples);

/// One certificate per region, in the order of the regions.
CertifyResult certify(const Comparison& c, const CertifyOptions& options);

/// Judges every difference between `original` and `fused`; `log` as above.
CertifyResult certify(const Graph& original, const Graph& fused, const RewriteLog* log,
                      const CertifyOptions& options);

nlohmann::ordered_json to_json(const FusionCertificate& c);

}  // namespace assay
