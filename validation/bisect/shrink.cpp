#include "validation/bisect/shrink.h"

#include <nlohmann/json.hpp>

#include "validation/bisect/cut.h"
#include "validation/bisect/narrow.h"

namespace assay {
namespace {

constexpr std::int64_t most_axes = 6;

class Shrinker {
 public:
  Shrinker(const Failure& failure, const ShrinkOptions& options)
      : failure_(failure), options_(options) {}

  std::optional<Shrunk> run(const FailingCase& start) {
    if (!accept(start)) return std::nullopt;
    for (bool smaller = true; smaller;) {
      smaller = take_region();
      for (std::int64_t axis = 0; axis < most_axes; ++axis) smaller = narrow_axis(axis) || smaller;
      for (const ChannelSide side : {ChannelSide::outputs, ChannelSide::inputs})
        smaller = narrow_channels(side) || smaller;
      smaller = cut() || smaller;
    }
    best_.trials = trials_;
    return std::move(best_);
  }

 private:
  /// True, and the case is the best so far, when it still fails.
  bool accept(const FailingCase& c) {
    if (trials_ >= options_.trials) return false;
    ++trials_;
    std::optional<FailingCase> whole;
    try {
      whole = settled(c);
    } catch (const Error&) {
      return false;  // shapes do not fit each other any more
    }
    auto shown = show(*whole, failure_, options_.seed);
    if (!shown) return false;
    best_.smallest = *std::move(whole);
    best_.certificate = std::move(shown->certificate);
    region_ = std::move(shown->region);
    return true;
  }

  /// The certificate may speak of a part only.
  bool take_region() {
    return node_count(region_) < node_count(best_.smallest) && accept(FailingCase(region_));
  }

  /// Windows of `size` elements to try: at the witness, then at both ends and in the middle.
  static std::vector<Window> windows(std::int64_t n, std::int64_t witness) {
    std::vector<Window> list;
    for (const std::int64_t size : {std::int64_t{1}, n / 4, n / 2, n - 1}) {
      if (size < 1 || size >= n || (!list.empty() && size <= list.back().size)) continue;
      std::vector<std::int64_t> begins{0, (n - size) / 2, n - size};
      if (witness >= 0 && witness < n)
        begins.insert(begins.begin(),
                      std::min(std::max<std::int64_t>(witness - size / 2, 0), n - size));
      for (const std::int64_t begin : begins) list.push_back({begin, size});
    }
    return list;
  }

  template <class Make>
  bool narrow(std::int64_t n, std::int64_t witness, const Make& make) {
    for (const Window& w : windows(n, witness)) {
      const std::optional<FailingCase> candidate = make(w);
      if (candidate && accept(*candidate)) return true;
    }
    return false;
  }

  bool narrow_axis(std::int64_t axis) {
    bool any = false;
    while (narrow(input_size(best_.smallest, axis), -1, [&](const Window& w) {
      return std::optional(with_input_window(best_.smallest, axis, w));
    }))
      any = true;
    return any;
  }

  bool narrow_channels(ChannelSide side) {
    bool any = false;
    while (narrow(channel_count(best_.smallest, side), witness_channel(side),
                  [&](const Window& w) { return with_channel_window(best_.smallest, side, w); }))
      any = true;
    return any;
  }

  std::int64_t witness_channel(ChannelSide side) const {
    const auto& w = best_.certificate.witness;
    if (side == ChannelSide::inputs || !w.is_object() || !w.contains("channel")) return -1;
    return w["channel"].get<std::int64_t>();
  }

  bool cut() {
    for (const FailingCase& candidate : cuts(best_.smallest)) {
      if (node_count(candidate) < node_count(best_.smallest) && accept(candidate)) return true;
    }
    return false;
  }

  Failure failure_;
  const ShrinkOptions& options_;
  Shrunk best_;
  FailingCase region_;
  std::int64_t trials_ = 0;
};

}  // namespace

std::optional<Shrunk> shrink(const FailingCase& c, const Failure& failure,
                             const ShrinkOptions& options) {
  return Shrinker(failure, options).run(c);
}

}  // namespace assay
