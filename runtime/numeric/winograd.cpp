// Tasks are strips of output rows times parts of the output channels. A task transforms its input
// rows once (six points of every channel, in the second-level cache). Then, for each panel of
// channels, it transforms the kernels to two points at a time and multiplies, transforms the sums
// back and hands them to Ziv's test.
#include "runtime/numeric/winograd.h"

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/numeric/gemm_pack.h"
#include "runtime/numeric/winograd_radius.h"

namespace assay::dot::winograd {
namespace {

constexpr int64_t kPatchChannels = kDotBlock / kPoints;  // of one call of pack
constexpr int64_t kStripBytes = 1 << 20;                 // transformed inputs of a task
constexpr int64_t kFewest = 16;       // channels; with fewer the transforms cost what they save
constexpr int64_t kKernelTiles = 16;  // tiles whose products cost what transforming the kernel does
constexpr std::array<std::array<int, 2>, 3> kPairs{
    {{0, 5}, {1, 2}, {3, 4}}};  // of points, as kernels make them
constexpr int kOutWidth = kOutputs * kMaxWidth<double>;
constexpr int kSlack = kUnit<double>;

// The patches of six inputs as columns of a convolution with stride 4; a row for every input row
// that some output row takes.
ConvPlan patch_plan(const ConvShape& shape) {
  ConvShape patches = shape;
  patches.kernel = {1, 1, kPoints};
  patches.stride = {1, 1, kOutputs};
  patches.out = {1, shape.out[1] + shape.kernel[1] - 1, (shape.out[2] + kOutputs - 1) / kOutputs};
  return conv_plan(patches);
}

struct Task {
  int64_t problem;
  int64_t first_row, last_row;      // of outputs
  int64_t first_panel, last_panel;  // of output channels
};

std::vector<Task> make_tasks(const Pass<float>& pass, int64_t tiles_in_row) {
  const ConvShape& s = pass.plan.shape;
  const int64_t rows = s.out[1], panels = (pass.plan.out_group() + kRowPanel - 1) / kRowPanel;
  const int64_t row_bytes =
      tiles_in_row * pass.plan.in_group() * kPoints * static_cast<int64_t>(sizeof(double));
  const int64_t most = std::max<int64_t>(kStripBytes / row_bytes - s.kernel[1] + 1, 1);
  int64_t strips = (rows + most - 1) / most, parts = 1;
  // Strips transform the kernels again, parts of the channels the inputs.
  const int64_t wanted = (num_threads() + pass.problems() - 1) / pass.problems();
  if (rows * tiles_in_row >= 6 * kKernelTiles * wanted && rows >= wanted)
    strips = std::min((strips + wanted - 1) / wanted * wanted, rows);
  else
    parts = std::min(wanted, panels);
  std::vector<Task> tasks;
  for (int64_t p = 0; p < pass.problems(); ++p)
    for (int64_t i = 0; i < strips; ++i)
      for (int64_t c = 0; c < parts; ++c)
        tasks.push_back({.problem = p,
                         .first_row = rows * i / strips,
                         .last_row = rows * (i + 1) / strips,
                         .first_panel = panels * c / parts,
                         .last_panel = panels * (c + 1) / parts});
  return tasks;
}

// What the tasks of one convolution share.
struct Shared {
  const Pass<float>& pass;
  const ConvPlan& patches;
  const ConvCols<float, double>& columns;
  const CorrectSink& sink;
};

class Runner {
 public:
  Runner(const Shared& shared, const Task& task)
      : shared_(shared),
        task_(task),
        weights_(shared.pass.weights),
        channels_(shared.pass.plan.in_group()),
        kernel_rows_(shared.pass.plan.shape.kernel[1]),
        tiles_in_row_(shared.patches.axis[2].out),
        tiles_((task.last_row - task.first_row) * tiles_in_row_),
        panels_(col_panels<double>(0, tiles_)) {
    for (const ColPanel& p : panels_) width_ += p.width;
    // Panels of tiles are read from every kernel row on. An odd number of cache lines, so that the
    // channels do not share the sets of the cache.
    patches_ = tiles_ + (kernel_rows_ - 1) * tiles_in_row_;
    line_ = (((patches_ + kUnit<double> - 2) / kUnit<double> + 1) | 1) * kUnit<double>;
    inputs_ = scratch<double>(Slot::col_block, kPoints * channels_ * line_);
    kernels_ = scratch<double>(Slot::row_panel, 2 * kernel_size());
    // First the packed patches of a few channels.
    const int64_t sums = kRowPanel * (kPoints * width_ + kOutWidth);
    products_ = scratch<double>(
        Slot::tiles, std::max(sums, kPatchChannels * kPoints * kMaxWidth<double>) + kSlack);
    norms_ = scratch<double>(Slot::norms, kOutputs * width_ + (kPoints + 1) * line_ + kSlack);
  }

  void run() {
    transform_inputs();
    set_norms();
    for (int64_t i = task_.first_panel; i < task_.last_panel; ++i) {
      for (int pair = 0; pair < kPoints / 2; ++pair) {
        transform_kernels(i, pair);
        for (int half = 0; half < 2; ++half) multiply(i, pair, half);
      }
      int64_t offset = 0;
      for (const ColPanel& panel : panels_) {
        hand_over(i, panel, offset);
        offset += panel.width;
      }
      finish_rows(i);
    }
  }

 private:
  // inputs_: [point][channel][line_], a column for each patch; squares: [points and whole][line_].
  void transform_inputs() {
    double* patches = products_;
    double* squares = norms_ + kOutputs * width_;
    double* whole = squares + kPoints * line_;
    std::fill_n(squares, (kPoints + 1) * line_, 0.0);
    const int64_t first = task_.first_row * tiles_in_row_;
    for (const ColPanel& panel : col_panels<double>(0, line_)) {
      const auto valid =
          static_cast<int>(std::clamp<int64_t>(patches_ - panel.col, 0, panel.width));
      const ColPanel source{.col = first + panel.col, .valid = valid, .width = panel.width};
      for (int64_t c = 0; c < channels_; c += kPatchChannels) {
        const int64_t count = std::min(kPatchChannels, channels_ - c);
        shared_.columns.panel(task_.problem, source, {c * kPoints, count * kPoints}, patches);
        dot::kernels().square_sums(patches, count * kPoints, panel.width, whole + panel.col);
        dot::kernels().winograd_inputs({.from = patches,
                                        .lines = count,
                                        .width = panel.width,
                                        .to = inputs_ + c * line_ + panel.col,
                                        .line_step = line_,
                                        .point_step = channels_ * line_,
                                        .squares = squares + panel.col,
                                        .squares_step = line_});
      }
    }
  }

  // norms_: q_j of the outputs, side by side.
  void set_norms() {
    const double* squares = norms_ + kOutputs * width_;
    const Outputs& share = shared_.pass.weights.winograd_share;
    for (int64_t t = 0; t < tiles_; ++t) {
      Points points{};
      double whole = 0.0;
      for (int64_t r = 0; r < kernel_rows_; ++r) {
        const double* at = squares + t + r * tiles_in_row_;
        for (size_t p = 0; p < kPoints; ++p) points[p] += at[static_cast<int64_t>(p) * line_];
        whole += at[kPoints * line_];
      }
      const Outputs norms = column_norms(points, whole);
      for (size_t j = 0; j < kOutputs; ++j)
        norms_[t * kOutputs + static_cast<int64_t>(j)] = share[j] * norms[j];
    }
  }

  // kernels_: two points, [kernel row][channel][kRowPanel] each.
  void transform_kernels(int64_t index, int pair) {
    const int64_t problem = task_.problem % weights_.problems;
    const float* panel =
        weights_.narrow_data.data() + row_panel_offset(weights_, problem, index, {0, weights_.k});
    dot::kernels().winograd_kernels({.from = panel,
                                     .channels = channels_,
                                     .kernel_rows = kernel_rows_,
                                     .pair = pair,
                                     .to = kernels_,
                                     .second = kernel_size()});
  }

  int64_t kernel_size() const { return kernel_rows_ * channels_ * kRowPanel; }

  // products_: [point][panel][kRowPanel][width].
  void multiply(int64_t index, int pair, int half) {
    const int64_t point = kPairs[static_cast<size_t>(pair)][static_cast<size_t>(half)];
    const int64_t calls =
        static_cast<int64_t>(panels_.size()) * ((channels_ + kChain - 1) / kChain);
    const bool last = pair + 1 == static_cast<int>(kPairs.size());
    int64_t call = half * calls, offset = point * width_;
    for (const ColPanel& panel : panels_) {
      for (int64_t c = 0; c < channels_; c += kChain) {
        if (last) fetch_next_kernels(index, {call++, 2 * calls});
        multiply_block(panel, {half, point, c}, products_ + offset * kRowPanel, rows_of(index));
      }
      offset += panel.width;
    }
  }

  // Channels [channel, channel + kChain) of a point, the first or second of its pair.
  struct Block {
    int64_t half, point, channel;
  };

  // Kernel rows come one after the other: they read nearly the same inputs.
  void multiply_block(const ColPanel& panel, const Block& block, double* tile, int rows) {
    for (int64_t r = 0; r < kernel_rows_; ++r)
      dot::kernels().dot_f64(
          {.k = std::min(kChain, channels_ - block.channel),
           .a = kernels_ + block.half * kernel_size() + (r * channels_ + block.channel) * kRowPanel,
           .b = inputs_ + (block.point * channels_ + block.channel) * line_ + panel.col +
                r * tiles_in_row_,
           .ldb = line_,
           .tile = tile,
           .rows = rows,
           .cols = panel.width,
           .width = panel.width,
           .add = r + block.channel > 0,
           .exact_products = false});
  }

  // A part of the weights of the next panel, shortly before they are used: they come from far away,
  // and the inputs that stream past them would drive them out of the cache again.
  void fetch_next_kernels(int64_t index, Part part) const {
    if (index + 1 == task_.last_panel) return;
    PackedRows<double>(weights_).prefetch(task_.problem, index + 1, {0, weights_.k}, part);
  }

  // The outputs of the tiles of one row are neighbours.
  void hand_over(int64_t index, const ColPanel& panel, int64_t offset) {
    double* sums = products_ + kPoints * kRowPanel * width_;
    dot::kernels().winograd_outputs({.from = products_ + offset * kRowPanel,
                                     .rows = rows_of(index),
                                     .width = panel.width,
                                     .point_step = kRowPanel * width_,
                                     .to = sums,
                                     .out_width = kOutWidth});
    const int64_t width = shared_.pass.plan.axis[2].out;
    for (int j = 0; j < panel.valid;) {
      const int64_t y = (panel.col + j) / tiles_in_row_, tile = (panel.col + j) % tiles_in_row_;
      const int64_t count = std::min(tiles_in_row_ - tile, int64_t{panel.valid} - j);
      take_run(index,
               {.y = task_.first_row + y,
                .x = kOutputs * tile,
                .last = std::min(kOutputs * (tile + count), width)},
               sums + kOutputs * j, norms_ + kOutputs * (panel.col + j));
      j += static_cast<int>(count);
    }
  }

  // Outputs [x, last) of row y.
  struct OutputRun {
    int64_t y, x, last;
  };

  void take_run(int64_t index, const OutputRun& run, const double* sums,
                const double* norms) const {
    const int64_t width = shared_.pass.plan.axis[2].out;
    for (int64_t x = run.x; x < run.last; x += kMaxWidth<double>) {
      const auto valid = static_cast<int>(std::min<int64_t>(run.last - x, kMaxWidth<double>));
      shared_.sink.take({.problem = task_.problem,
                         .row = index * kRowPanel,
                         .rows = rows_of(index),
                         .cols = {.col = run.y * width + x, .valid = valid, .width = kOutWidth},
                         .sums = sums + (x - run.x),
                         .magnitudes = nullptr,
                         .col_norm = norms + (x - run.x)});
    }
  }

  void finish_rows(int64_t index) const {
    const int64_t width = shared_.pass.plan.axis[2].out;
    shared_.sink.finish({.problem = task_.problem,
                         .row = index * kRowPanel,
                         .rows = rows_of(index),
                         .first_col = task_.first_row * width,
                         .last_col = task_.last_row * width});
  }

  int rows_of(int64_t index) const {
    return static_cast<int>(
        std::min<int64_t>(kRowPanel, shared_.pass.plan.out_group() - index * kRowPanel));
  }

  const Shared& shared_;
  const Task task_;
  const PackedWeights::Impl& weights_;
  const int64_t channels_, kernel_rows_;
  const int64_t tiles_in_row_, tiles_;  // of four outputs
  const std::vector<ColPanel> panels_;  // of tiles
  int64_t width_ = 0;                   // of the panels together
  int64_t patches_ = 0, line_ = 0;
  double* inputs_ = nullptr;
  double* kernels_ = nullptr;
  double* products_ = nullptr;
  double* norms_ = nullptr;
};

}  // namespace

bool applies(const ConvShape& s) {
  return s.kernel[0] == 1 && s.in[0] == 1 && s.out[0] == 1 && s.pad[0] == 0 &&
         s.kernel[2] == kWidth && s.stride[1] == 1 && s.stride[2] == 1 && s.dilation[1] == 1 &&
         s.dilation[2] == 1 && s.in_channels / s.groups >= kFewest &&
         s.out_channels / s.groups >= kFewest;
}

PackedWeights::Impl pack_weights(const ConvPlan& plan, const float* w) {
  PackedWeights::Impl impl = pack_plan_weights(plan, w, plan.k());
  RowNorms norms = row_norms(plan.shape, w);
  impl.winograd = std::move(norms.largest);
  impl.winograd_share = norms.share;
  return impl;
}

bool pays(const ConvPlan& plan) {
  const int64_t tiles = plan.axis[1].out * ((plan.axis[2].out + kOutputs - 1) / kOutputs);
  return dot::kernels().winograd_inputs != nullptr &&
         kPoints * (tiles + kKernelTiles) < kWidth * plan.cols();
}

void run(const Pass<float>& pass) {
  const ConvPlan patches = patch_plan(pass.plan.shape);
  const ConvCols<float, double> columns(patches, im2col_planes<float>(patches, pass.args.x), true);
  const ConvTerms<float> terms(pass.plan, pass.args);
  const PackedWeights::Impl& w = pass.weights;
  const CorrectSink sink(pass.outputs(),
                         {.norms = w.winograd.data(), .problems = w.problems, .rows = w.lines},
                         {.k = pass.plan.k(), .unit = unit(pass.plan.shape)}, terms);
  const Shared shared{.pass = pass, .patches = patches, .columns = columns, .sink = sink};
  const std::vector<Task> tasks = make_tasks(pass, patches.axis[2].out);
  parallel_for(0, static_cast<int64_t>(tasks.size()), 1, [&](int64_t first, int64_t last) {
    for (int64_t t = first; t < last; ++t) Runner(shared, tasks[static_cast<size_t>(t)]).run();
  });
}

}  // namespace assay::dot::winograd
