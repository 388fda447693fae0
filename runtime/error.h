// Errors and declines.
//
// Bad input (a model, a file, a flag) throws Error: what, where, got, expected, what to do. "Does
// not apply" is a Decline value. A bug in Assay is an ASSAY_ASSERT. Only the command line turns an
// Error into text and an exit code.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

namespace assay {

/// Why a run ends; the numbers are the exit codes of the command line and stay stable.
enum class ErrorKind {
  gate_failed = 1,
  bad_input = 2,    ///< wrong usage or unreadable input
  unsupported = 3,  ///< operator or type that Assay does not have
  undecided = 4,
  stale_golden = 5,
  slower = 6,
  internal = 70,
};

/// The parts of an error message; empty parts are left out of the text.
struct ErrorParts {
  std::string what;        ///< one clause, no full stop: "shape mismatch"
  std::string where = {};  ///< file, node, tensor: "node 'conv1' (Conv), input 'w'"
  std::string got = {};
  std::string expected = {};
  std::string advice = {};  ///< what to do
  ErrorKind kind = ErrorKind::bad_input;
};

class Error : public std::runtime_error {
 public:
  explicit Error(ErrorParts parts);
  const ErrorParts& parts() const { return parts_; }
  ErrorKind kind() const { return parts_.kind; }
  /// The same error with an outer place put in front of `where` ("model.onnx: node 'a' ...").
  Error at(const std::string& place) const;

 private:
  ErrorParts parts_;
};

/// A rewrite, kernel or rule that does not apply here: why, and the smallest edit that would make
/// it pass.
struct Decline {
  std::string reason;  ///< the condition that failed, with its values
  std::string edit = {};
};

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

/// Something only a bug in Assay can break; on in every build.
#define ASSAY_ASSERT(condition) \
  ((condition) ? void(0) : ::assay::assertion_failed(#condition, __FILE__, __LINE__))

}  // namespace assay
