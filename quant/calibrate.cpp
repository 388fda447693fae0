#include "quant/calibrate.h"

#include <openssl/sha.h>

#include <algorithm>

#include "quant/profile.h"
#include "quant/unfuse.h"
#include "runtime/file.h"

namespace assay {
namespace {

CalibratedRange choose(const StreamingHistogram& h, const CalibrationOptions& options) {
  CalibratedRange r{.count = h.count(), .nan = h.nan(), .infinite = h.infinite()};
  if (h.count() == 0) return r;
  r.seen = *h.range();
  r.chosen = find_algorithm(options.algorithm).choose(h, options.parameters);
  return r;
}

/// The size of the first axis that all inputs share; 0 when the batch is one sample.
std::int64_t shared_rows(const Feeds& feeds) {
  std::int64_t rows = -1;
  for (const auto& [name, t] : feeds) {
    const std::int64_t own = t.shape().rank() == 0 ? 0 : t.shape()[0];
    if (own == 0 || (rows >= 0 && own != rows)) return 0;
    rows = own;
  }
  return std::max<std::int64_t>(rows, 0);
}

void append(std::string& bytes, const std::string& name, const Tensor& t) {
  bytes += name + '\0' + to_string(t.dtype()) + '\0' + to_string(t.shape()) + '\0';
  const auto raw = t.raw();
  bytes.append(reinterpret_cast<const char*>(raw.data()), raw.size());
}

}  // namespace

bool CalibratedRange::operator==(const CalibratedRange& o) const {
  return chosen.low == o.chosen.low && chosen.high == o.chosen.high && seen.low == o.seen.low &&
         seen.high == o.seen.high && count == o.count && nan == o.nan && infinite == o.infinite;
}

const CalibratedRange* CalibrationTable::find(const std::string& value) const {
  const auto it = ranges.find(value);
  return it == ranges.end() || it->second.count == 0 ? nullptr : &it->second;
}

std::string CalibrationTable::digest() const { return sha256(to_json()); }

RunWithObserver run_on(const Executor& executor) {
  const Graph& g = executor.graph();
  const auto nodes = g.node_ids();
  const bool fused = std::any_of(nodes.begin(), nodes.end(),
                                 [&](NodeId n) { return g.node(n).domain == assay_domain; });
  if (!fused)
    return [&executor](const Feeds& feeds, Observer& observer) { executor.run(feeds, &observer); };
  const auto plain = std::make_shared<Executor>(unfuse(g), executor.precision());
  return [plain](const Feeds& feeds, Observer& observer) { plain->run(feeds, &observer); };
}

void SampleDigest::add(const Feeds& feeds) {
  const std::int64_t rows = shared_rows(feeds);
  for (std::int64_t i = 0; i < std::max<std::int64_t>(rows, 1); ++i) {
    std::string bytes;
    for (const auto& [name, t] : feeds) append(bytes, name, rows > 0 ? t.rows(i, i + 1) : t);
    add_sample(bytes);
  }
}

void SampleDigest::add_sample(const std::string& bytes) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest);
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < sum_.size(); ++i) {
    std::uint64_t word = 0;
    for (std::size_t b = 0; b < 4; ++b) word |= std::uint64_t{digest[4 * i + b]} << (8 * b);
    carry += word + sum_[i];
    sum_[i] = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  ++samples_;
}

std::string SampleDigest::hex() const {
  std::string text;
  for (const std::uint32_t word : sum_) {
    for (int b = 0; b < 4; ++b) {
      const auto byte = (word >> (8 * b)) & 0xFF;
      text += "0123456789abcdef"[byte >> 4];
      text += "0123456789abcdef"[byte & 15];
    }
  }
  return text;
}

Calibrator::Calibrator(CalibrationOptions options) : options_(std::move(options)) {
  find_algorithm(options_.algorithm);
  const double p = options_.parameters.percentile;
  if (!(p > 50 && p <= 100)) {
    throw Error({.what = "percentile is out of range",
                 .got = std::to_string(p),
                 .expected = "above 50, at most 100"});
  }
  if (options_.bins < 2) {
    throw Error({.what = "too few histogram bins",
                 .got = std::to_string(options_.bins),
                 .expected = "at least 2"});
  }
}

void Calibrator::feed(const Feeds& feeds, const RunWithObserver& run) {
  run(feeds, *this);
  digest_.add(feeds);
}

void Calibrator::on_value(const Graph& g, ValueId v, const Tensor& t) {
  if (!is_float(t.dtype())) return;
  const std::string& name = g.name(v);
  if (!options_.values.empty() && options_.values.count(name) == 0) return;
  const auto it = histograms_.try_emplace(name, options_.bins).first;
  add_tensor(it->second, t);
}

CalibrationTable Calibrator::finish() const {
  CalibrationTable table{.algorithm = options_.algorithm,
                         .scheme = options_.parameters.scheme,
                         .percentile = options_.parameters.percentile,
                         .samples = digest_.samples(),
                         .data_digest = digest_.hex()};
  for (const auto& [name, histogram] : histograms_)
    table.ranges[name] = choose(histogram, options_);
  return table;
}

}  // namespace assay
