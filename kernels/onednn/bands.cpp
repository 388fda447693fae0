// Convolutions in bands of rows (kernels/bands.h): each piece of each band is a primitive of its
// own, made for one thread.
//
// Rows [first, last) of an output need rows [first s - p, (last - 1) s - p + (k - 1) d + 1) of its
// input; what of them lies outside the image is the padding of that band's primitive.
#include "kernels/bands.h"

#include <algorithm>
#include <numeric>

#include "kernels/onednn/conv.h"
#include "kernels/program_impl.h"

namespace assay::kernels {
namespace {

constexpr std::int64_t page = 4096;

std::int64_t in_pages(std::int64_t bytes) { return (bytes + page - 1) / page * page; }

struct Rows {
  std::int64_t first = 0, last = 0;
  std::int64_t count() const { return last - first; }
};

/// One piece of one band: rows of its input and output, and the padding that is left of its own.
struct Cut {
  Rows in, out;
  std::int64_t pad_begin = 0, pad_end = 0;
};

Cut cut_for(const ConvProblem& p, const Rows& out) {
  const Window& w = p.window;
  const std::int64_t height = p.x.shape[2];
  const std::int64_t low = out.first * w.strides[0] - w.pads_begin[0];
  const std::int64_t reach = (w.kernel[0] - 1) * (w.dilations[0] + 1) + 1;
  const std::int64_t high = (out.last - 1) * w.strides[0] - w.pads_begin[0] + reach;
  Cut cut{.in = {std::max<std::int64_t>(low, 0), std::min(high, height)}, .out = out};
  cut.pad_begin = cut.in.first - low;
  cut.pad_end = high - cut.in.last;
  return cut;
}

/// The cuts of all pieces for rows of the last output.
std::vector<Cut> cuts_for(const std::vector<ConvProblem>& pieces, Rows rows) {
  std::vector<Cut> cuts(pieces.size());
  for (std::size_t i = pieces.size(); i-- > 0;) {
    cuts[i] = cut_for(pieces[i], rows);
    rows = cuts[i].in;
  }
  return cuts;
}

Slot of_one_image(Slot s, std::int64_t rows) {
  s.shape = Shape{1, s.shape[1], rows, s.shape[3]};
  return s;
}

ConvProblem part_of(ConvProblem p, const Cut& cut) {
  p.x = of_one_image(p.x, cut.in.count());
  p.y = of_one_image(p.y, cut.out.count());
  p.window.pads_begin[0] = cut.pad_begin;
  p.window.pads_end[0] = cut.pad_end;
  return p;
}

std::int64_t row_bytes(const Slot& s) { return s.shape[1] * s.shape[3] * 4; }
std::int64_t image_bytes(const Slot& s) { return s.shape[2] * row_bytes(s); }

/// The primitives of one piece: bands of one geometry share theirs, all share the packed weights.
class PieceParts {
 public:
  explicit PieceParts(const ConvProblem& problem) : problem_(problem) {}

  std::optional<Variant> part(const Cut& cut) {
    const std::vector<std::int64_t> key{cut.in.count(), cut.out.count(), cut.pad_begin,
                                        cut.pad_end};
    if (const auto it = known_.find(key); it != known_.end()) return it->second;
    auto variant = default_conv(part_of(problem_, cut));
    if (!variant) return std::nullopt;
    share(variant->constants[DNNL_ARG_WEIGHTS]);
    known_.emplace(key, *variant);
    return variant;
  }

 private:
  void share(dnnl::memory& weights) {
    for (const dnnl::memory& m : weights_) {
      if (m.get_desc() == weights.get_desc()) {
        weights = m;
        return;
      }
    }
    weights_.push_back(weights);
  }

  const ConvProblem& problem_;
  std::map<std::vector<std::int64_t>, Variant> known_;
  std::vector<dnnl::memory> weights_;
};

/// Bytes from the start of the thread's own memory, or of the run's input or output.
struct Place {
  bool own = false;
  std::int64_t offset = 0;
  std::byte* in(std::byte* own_memory, std::byte* outside) const {
    return (own ? own_memory : outside) + offset;
  }
};

struct Call {
  std::unique_ptr<PrimitiveKernel> kernel;
  Place x, y;
  std::int64_t residual = -1;  // offset in the residual; -1: none
};

/// One way to cut the images.
struct Split {
  std::string name;
  std::vector<std::vector<Call>> threads;
  std::int64_t own_bytes = 0;  // of each thread
};

class SplitMaker {
 public:
  SplitMaker(const std::vector<ConvProblem>& pieces, int threads)
      : pieces_(pieces), threads_(threads) {
    for (const ConvProblem& p : pieces) parts_.emplace_back(p);
  }

  /// `bands` per image; nullopt when oneDNN has no fast kernel for some part.
  std::optional<Split> make(std::int64_t bands) {
    Split split{.name = "bands:" + std::to_string(bands), .threads = {}};
    split.threads.resize(static_cast<std::size_t>(threads_));
    const std::int64_t height = pieces_.back().y.shape[2];
    const std::int64_t units = pieces_[0].x.shape[0] * bands;
    const ThreadScope alone(1);
    for (std::int64_t u = 0; u < units; ++u) {
      const std::int64_t band = u % bands;
      const Rows rows{height * band / bands, height * (band + 1) / bands};
      const auto t = static_cast<std::size_t>(u * threads_ / units);
      if (!add_band(u / bands, rows, split, split.threads[t])) return std::nullopt;
    }
    for (std::size_t i = 0; i < pieces_.size(); ++i)
      split.name += " " + split.threads[0][i].kernel->implementation();
    return split;
  }

 private:
  bool add_band(std::int64_t image, const Rows& rows, Split& split, std::vector<Call>& calls) {
    const auto cuts = cuts_for(pieces_, rows);
    std::int64_t own = 0;
    Place x{
        .own = false,
        .offset = image * image_bytes(pieces_[0].x) + cuts[0].in.first * row_bytes(pieces_[0].x)};
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const Slot& y = pieces_[i].y;
      auto variant = parts_[i].part(cuts[i]);
      if (!variant) return false;
      const bool last = i + 1 == pieces_.size();
      const std::int64_t outside = image * image_bytes(y) + cuts[i].out.first * row_bytes(y);
      Call call{.kernel = std::make_unique<PrimitiveKernel>(*std::move(variant)),
                .x = x,
                .y = {.own = !last, .offset = last ? outside : own}};
      if (pieces_[i].form.residual) call.residual = outside;
      if (!last) own += in_pages(cuts[i].out.count() * row_bytes(y));
      split.own_bytes = std::max(split.own_bytes, own + call.kernel->scratch_bytes());
      x = call.y;
      calls.push_back(std::move(call));
    }
    return true;
  }

  const std::vector<ConvProblem>& pieces_;
  std::int64_t threads_;
  std::vector<PieceParts> parts_;
};

class BandKernel : public Kernel {
 public:
  BandKernel(std::vector<ConvProblem> pieces, int threads, std::vector<std::int64_t> counts,
             Split first)
      : pieces_(std::move(pieces)), threads_(threads), counts_(std::move(counts)) {
    splits_.push_back(std::move(first));
  }

  void bind(const Binding& binding) override {
    for (Split& s : splits_) {
      for (std::size_t t = 0; t < s.threads.size(); ++t) {
        std::byte* own = binding.scratch + static_cast<std::int64_t>(t) * in_pages(s.own_bytes);
        for (Call& c : s.threads[t]) bind_call(c, binding, own, s.own_bytes);
      }
    }
  }

  void run() override {
    auto& threads = splits_[selected_].threads;
    const auto count = static_cast<std::int64_t>(threads.size());
#pragma omp parallel for schedule(static, 1)
    for (std::int64_t t = 0; t < count; ++t) {
      for (Call& c : threads[static_cast<std::size_t>(t)]) c.kernel->run();
    }
  }

  std::string implementation() const override { return splits_[selected_].name; }

  std::int64_t scratch_bytes() const override {
    std::int64_t bytes = 0;
    for (const Split& s : splits_)
      bytes = std::max(bytes, in_pages(s.own_bytes) * static_cast<std::int64_t>(s.threads.size()));
    return bytes;
  }

  std::vector<std::string> variants() override {
    SplitMaker maker(pieces_, threads_);
    for (; splits_.size() < counts_.size();) {
      auto split = maker.make(counts_[splits_.size()]);
      if (!split) break;
      splits_.push_back(*std::move(split));
    }
    std::vector<std::string> names;
    for (const Split& s : splits_) names.push_back(s.name);
    return names;
  }

  void select(std::size_t i) override { selected_ = i; }

  void settle() override {
    Split chosen = std::move(splits_[selected_]);
    splits_.clear();
    splits_.push_back(std::move(chosen));
    counts_.clear();
    selected_ = 0;
  }

 private:
  static void bind_call(Call& c, const Binding& binding, std::byte* own, std::int64_t own_bytes) {
    Binding b{.inputs = std::vector<std::byte*>(residual_input + 1), .outputs = {}};
    b.inputs[0] = c.x.in(own, binding.inputs[0]);
    if (c.residual >= 0) b.inputs[residual_input] = binding.inputs[1] + c.residual;
    b.outputs = {c.y.in(own, binding.outputs[0])};
    b.scratch = own + own_bytes - c.kernel->scratch_bytes();
    c.kernel->bind(b);
  }

  std::vector<ConvProblem> pieces_;
  int threads_;
  std::vector<std::int64_t> counts_;  // bands per image, the default first
  std::vector<Split> splits_;
  std::size_t selected_ = 0;
};

/// Bands per image: the least that keeps every thread busy, and two and four times as many. The
/// first whose values in between fit a second-level cache is the default.
std::vector<std::int64_t> band_counts(const std::vector<ConvProblem>& pieces, int threads) {
  constexpr std::int64_t cache = std::int64_t{1} << 20;
  const std::int64_t images = pieces[0].x.shape[0];
  const std::int64_t least = threads / std::gcd(images, std::int64_t{threads});
  std::int64_t between = 0;
  for (std::size_t i = 0; i + 1 < pieces.size(); ++i) between += image_bytes(pieces[i].y);
  std::vector<std::int64_t> counts;
  for (const std::int64_t n : {least, 2 * least, 4 * least}) {
    if (n <= pieces.back().y.shape[2]) counts.push_back(n);
  }
  const auto fits = std::find_if(counts.begin(), counts.end(),
                                 [&](std::int64_t n) { return between / n <= cache; });
  if (fits != counts.end()) std::rotate(counts.begin(), fits, fits + 1);
  return counts;
}

/// Every output row of every piece must read at least one row of the image.
bool rows_exist(const std::vector<ConvProblem>& pieces, std::int64_t bands) {
  const std::int64_t height = pieces.back().y.shape[2];
  for (std::int64_t b = 0; b < bands; ++b) {
    for (const Cut& c : cuts_for(pieces, {height * b / bands, height * (b + 1) / bands})) {
      if (c.in.count() <= 0) return false;
    }
  }
  return true;
}

}  // namespace

KernelAnswer make_bands(const std::vector<KernelRequest>& requests) {
  std::vector<ConvProblem> pieces;
  for (const KernelRequest& r : requests) {
    auto problem = conv_problem(r);
    if (const auto* why = std::get_if<Decline>(&problem)) return *why;
    pieces.push_back(std::get<ConvProblem>(std::move(problem)));
    pieces.back().sum = false;
  }
  const int threads = requests[0].threads;
  auto counts = band_counts(pieces, threads);
  std::erase_if(counts, [&](std::int64_t n) { return !rows_exist(pieces, n); });
  if (counts.empty()) return Decline{"fewer rows than threads"};
  auto first = SplitMaker(pieces, threads).make(counts[0]);
  if (!first) return no_implementation(requests[0]);
  KernelPlan plan;
  plan.kernel = std::make_unique<BandKernel>(std::move(pieces), threads, std::move(counts),
                                             *std::move(first));
  plan.inputs = {Layout::channels_last, Layout::channels_last};
  plan.outputs = {Layout::channels_last};
  return plan;
}

}  // namespace assay::kernels
