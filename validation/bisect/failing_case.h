// A pair of graphs that does not get the verdict it should, and the input that shows it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "validation/certificate/certify.h"

namespace assay {

struct FailingCase {
  Graph original, fused;
  Feeds feeds;                         ///< of both graphs
  std::optional<RewriteLog> log = {};  ///< set: the fused graph is Assay's own
};

/// What a certificate says of the compiled kernels (kernel_check.h).
using KernelCheck = std::function<nlohmann::ordered_json(const Region&, const std::vector<Feeds>&)>;

/// What has to stay while a case gets smaller.
struct Failure {
  std::string verdict = {};  ///< E5, E4 or U; empty with `kernel_check`
  std::string kind = {};     ///< kind_of(certificate)
  /// The case's own input shows it: hostile inputs do not count. A cut case takes inputs that the
  /// network never has, and may fail on them for another reason.
  bool on_input = false;
  double shown = 0;  ///< then a wrong constant must move some element by at least this
  /// Set: the kernel is outside its bound, while the fusion is not wrong (neither E5 nor E4).
  KernelCheck kernel_check = {};
};

Failure failure_of(const FusionCertificate& c);

/// The part of a reason that does not depend on sizes and names: "constant outside its budget".
std::string kind_of(const FusionCertificate& c);

/// The certificate of `c` that shows the failure, and the part of `c` that it speaks of.
struct Shown {
  FusionCertificate certificate;
  FailingCase region;
};

/// True when the fusion is not wrong and the kernel is outside its bound.
bool only_kernel_fails(const FusionCertificate& c);

/// Judges the case as `assay validate` judges its files. nullopt: it does not fail in this way, or
/// cannot be run.
std::optional<Shown> show(const FailingCase& c, const Failure& failure, std::uint64_t seed);

/// The case without inputs that neither graph reads, with the types of what is computed.
FailingCase settled(FailingCase c);

/// Nodes of both graphs.
std::int64_t node_count(const FailingCase& c);

}  // namespace assay
