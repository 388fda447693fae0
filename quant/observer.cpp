#include "quant/observer.h"

#include <array>
#include <limits>
#include <mutex>

#include "runtime/numeric/parallel.h"

namespace assay {
namespace {

constexpr std::size_t block_size = 4096;

/// Smallest e with magnitude <= capacity * 2^e.
int exponent_for(float magnitude, std::int64_t capacity) {
  const double ratio = static_cast<double>(magnitude) / static_cast<double>(capacity);
  const int e = std::ilogb(ratio);
  // The division is exact for a power-of-two capacity and otherwise decided by the product.
  const double reach = std::ldexp(static_cast<double>(capacity), e);
  return static_cast<double>(magnitude) <= reach ? e : e + 1;
}

struct BlockRange {
  float low = std::numeric_limits<float>::infinity();
  float high = -std::numeric_limits<float>::infinity();
  std::int64_t odd = 0;  // NaN and infinities
};

BlockRange range_of(std::span<const float> values) {
  constexpr float largest = std::numeric_limits<float>::max();
  BlockRange r;
  for (const float v : values) {
    const bool finite = std::abs(v) <= largest;
    r.odd += !finite;
    r.low = finite && v < r.low ? v : r.low;
    r.high = finite && v > r.high ? v : r.high;
  }
  return r;
}

}  // namespace

StreamingHistogram::StreamingHistogram(std::int64_t capacity)
    : capacity_(capacity), bins_(static_cast<std::size_t>(2 * capacity + 1)) {
  ASSAY_ASSERT(capacity >= 2);
}

void StreamingHistogram::add(std::span<const float> values) {
  for (std::size_t i = 0; i < values.size(); i += block_size) {
    add_block(values.subspan(i, std::min(block_size, values.size() - i)));
  }
}

void StreamingHistogram::add_block(std::span<const float> values) {
  const BlockRange r = range_of(values);
  std::array<float, block_size> kept;
  if (r.odd != 0) {
    std::size_t n = 0;
    for (const float v : values) {
      nan_ += std::isnan(v);
      infinite_ += std::isinf(v);
      if (std::isfinite(v)) kept[n++] = v;
    }
    values = {kept.data(), n};
  }
  if (values.empty()) return;
  min_ = count_ == 0 ? r.low : std::min(min_, r.low);
  max_ = count_ == 0 ? r.high : std::max(max_, r.high);
  count_ += static_cast<std::int64_t>(values.size());
  const float reach = std::max(std::abs(r.low), std::abs(r.high));
  if (reach > 0) grow(exponent_for(reach, capacity_));
  if (!exponent_) {
    at(0) += static_cast<std::int64_t>(values.size());
    return;
  }
  // A power of two times a float is exact in double, so truncation and the comparison give the
  // floor.
  const double steps = std::ldexp(1.0, -*exponent_);
  std::array<std::int32_t, block_size> index;
#pragma omp simd
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double scaled = static_cast<double>(values[i]) * steps;
    const auto whole = static_cast<std::int32_t>(scaled);
    index[i] = whole - (scaled < static_cast<double>(whole) ? 1 : 0);
  }
  std::int64_t* middle = bins_.data() + capacity_;
  for (std::size_t i = 0; i < values.size(); ++i) ++middle[index[i]];
}

void StreamingHistogram::grow(int exponent) {
  if (exponent_ && exponent <= *exponent_) return;
  const int steps = exponent_ ? exponent - *exponent_ : 0;
  exponent_ = exponent;
  if (steps == 0) return;
  std::vector<std::int64_t> merged(bins_.size());
  const int shift = std::min(steps, 62);
  for (std::int64_t k = -capacity_; k <= capacity_; ++k) {
    merged[static_cast<std::size_t>((k >> shift) + capacity_)] += get(k);
  }
  bins_ = std::move(merged);
}

void StreamingHistogram::merge(const StreamingHistogram& other) {
  ASSAY_ASSERT(capacity_ == other.capacity_);
  nan_ += other.nan_;
  infinite_ += other.infinite_;
  if (other.count_ == 0) return;
  min_ = count_ == 0 ? other.min_ : std::min(min_, other.min_);
  max_ = count_ == 0 ? other.max_ : std::max(max_, other.max_);
  count_ += other.count_;
  if (other.exponent_) grow(*other.exponent_);
  const int shift = other.exponent_ ? std::min(*exponent_ - *other.exponent_, 62) : 0;
  for (std::int64_t k = -capacity_; k <= capacity_; ++k) at(k >> shift) += other.get(k);
}

std::optional<Range> StreamingHistogram::range() const {
  if (count_ == 0) return std::nullopt;
  return Range{min_, max_};
}

std::vector<Bin> StreamingHistogram::bins() const {
  if (count_ == 0) return {};
  const double width = exponent_ ? std::ldexp(1.0, *exponent_) : 0.0;
  std::int64_t first = -capacity_, last = capacity_;
  while (get(first) == 0) ++first;
  while (get(last) == 0) --last;
  const bool top_is_edge = last == capacity_ && exponent_;
  std::vector<Bin> out;
  for (std::int64_t k = first; k <= (top_is_edge ? last - 1 : last); ++k) {
    out.push_back({static_cast<double>(k) * width, static_cast<double>(k + 1) * width, get(k)});
  }
  if (top_is_edge) {
    if (out.empty())
      out.push_back({static_cast<double>(last - 1) * width, static_cast<double>(last) * width, 0});
    out.back().count += get(last);
  }
  return out;
}

std::vector<std::int64_t> StreamingHistogram::counts(double low, double high,
                                                     std::int64_t bins) const {
  const double width = (high - low) / static_cast<double>(bins);
  std::vector<std::int64_t> out(static_cast<std::size_t>(bins));
  for (const Bin& b : this->bins()) {
    const double first = std::floor((b.low - low) / width);
    const double last = std::ceil((b.high - low) / width) - 1;
    const bool inside =
        exponent_ && first == last && first >= 0 && last < static_cast<double>(bins);
    if (b.count != 0 && !inside) {
      throw Error({.what = "histogram edges do not coincide",
                   .got = std::to_string(bins) + " bins over [" + std::to_string(low) + ", " +
                          std::to_string(high) + "]",
                   .expected = "edges at multiples of " + std::to_string(b.high - b.low)});
    }
    if (b.count != 0) out[static_cast<std::size_t>(first)] += b.count;
  }
  return out;
}

void add_tensor(StreamingHistogram& histogram, const Tensor& t) {
  const Tensor narrow = t.dtype() == DType::float32 ? t : convert(t, DType::float32);
  const auto values = narrow.data<float>();
  constexpr std::int64_t grain = 1 << 16;
  const auto n = static_cast<std::int64_t>(values.size());
  if (n < 2 * grain) return histogram.add(values);
  std::mutex mutex;
  parallel_for(0, n, grain, [&](std::int64_t first, std::int64_t last) {
    StreamingHistogram part(histogram.capacity());
    part.add(
        values.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first)));
    const std::lock_guard lock(mutex);
    histogram.merge(part);
  });
}

}  // namespace assay
