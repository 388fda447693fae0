// Calibration: streams data through a graph and chooses a range for every activation.
//
// Memory does not grow with the data, and the table does not depend on the order of the samples or
// on how they are cut into batches (observer.h; the data digest is a sum over samples).
#pragma once

#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "quant/algorithm.h"
#include "runtime/executor.h"

namespace assay {

struct CalibrationOptions {
  std::string algorithm = "mse";
  AlgorithmOptions parameters = {};
  /// Values to observe, by name; empty: every float value that the run shows.
  std::set<std::string> values = {};
  std::int64_t bins = 4096;
};

/// What is known of one tensor.
struct CalibratedRange {
  Range chosen = {};          ///< what the quantizer covers
  Range seen = {};            ///< exact range of the finite values
  std::int64_t count = 0;     ///< finite values
  std::int64_t nan = 0;       ///< kept out of the range
  std::int64_t infinite = 0;  ///< kept out of the range

  bool operator==(const CalibratedRange&) const;
};

/// Ranges by value name, with what they were made from. As text: JSON, schema assay-calibration/1,
/// one tensor per line.
struct CalibrationTable {
  std::string algorithm = "mse";
  ActivationScheme scheme = ActivationScheme::u8;
  double percentile = 99.999;
  std::int64_t samples = 0;
  std::string data_digest = {};  ///< of the multiset of samples
  std::map<std::string, CalibratedRange> ranges = {};

  /// nullptr when the value was not observed or held no finite value.
  const CalibratedRange* find(const std::string& value) const;
  std::string to_json() const;
  /// sha256 of to_json().
  std::string digest() const;
};

/// Throws Error naming `where` and the key.
CalibrationTable parse_calibration(std::string_view text, const std::string& where);

/// Runs the graph on `feeds`, showing every value to the observer: the reference executor or a
/// compiled program with taps.
using RunWithObserver = std::function<void(const Feeds& feeds, Observer& observer)>;
/// Runs on the reference. The executor must outlive the function. Fused operators are written out
/// first, so that the values inside them (the one between Conv and Add) are seen too.
RunWithObserver run_on(const Executor& executor);

/// An order-independent digest of samples: the SHA-256 of each, added modulo 2^256.
class SampleDigest {
 public:
  /// `feeds` hold one batch: rows of the first axis are samples when all inputs agree on its size.
  void add(const Feeds& feeds);
  std::int64_t samples() const { return samples_; }
  std::string hex() const;

 private:
  void add_sample(const std::string& bytes);
  std::array<std::uint32_t, 8> sum_{};
  std::int64_t samples_ = 0;
};

class Calibrator : public Observer {
 public:
  /// Throws Error for an unknown algorithm or a percentile outside (50, 100].
  explicit Calibrator(CalibrationOptions options);
  /// One batch.
  void feed(const Feeds& feeds, const RunWithObserver& run);
  void on_value(const Graph& g, ValueId v, const Tensor& t) override;
  CalibrationTable finish() const;
  /// By value name.
  const std::map<std::string, StreamingHistogram>& histograms() const { return histograms_; }

 private:
  CalibrationOptions options_;
  std::map<std::string, StreamingHistogram> histograms_;
  SampleDigest digest_;
};

}  // namespace assay
