#include "runtime/numeric/gemm_driver.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <new>

#include "runtime/numeric/parallel.h"

namespace assay::dot {
namespace {

constexpr int64_t kChunkPanels = 10;  // column panels of a task
constexpr int64_t kMaxTileElements =
    1 << 17;  // partial sums of a task that needs several blocks of k

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

struct Task {
  int64_t problem;
  int64_t first_col, last_col;      // in columns, first a multiple of kUnit
  int64_t first_panel, last_panel;  // in row panels
};

struct Split {
  int64_t row_parts;
  int64_t col_parts;
};

// Wide problems are cut along columns, where every part widens the rows again; narrow ones along
// rows, where every part packs the columns again.
template <typename T>
Split choose_split(const DotRun<T>& run) {
  const int64_t threads = num_threads();
  const int64_t units = divide_up(run.cols, kUnit<T>), panels = divide_up(run.rows, kRowPanel);
  int64_t col_parts = divide_up(units, 3 * kChunkPanels);
  int64_t row_parts = 1;
  if (run.problems < 4 * threads) {
    const int64_t wanted = divide_up(threads, run.problems);
    if (units >= 8 * wanted && run.cols >= run.rows)
      col_parts = divide_up(col_parts, wanted) * wanted;
    else
      row_parts = std::min(wanted, panels);
  }
  if (run.k > run.block) {
    const int64_t cols = divide_up(units, col_parts) * kUnit<T>;
    row_parts = std::max(row_parts, divide_up(panels * kRowPanel * cols, kMaxTileElements));
  }
  return {std::min(row_parts, panels), std::min(col_parts, units)};
}

template <typename T>
std::vector<Task> make_tasks(const DotRun<T>& run) {
  const Split split = choose_split(run);
  const int64_t unit = run.b->fixed_panels() ? kMaxWidth<T> : kUnit<T>;
  const int64_t units = divide_up(run.cols, unit), panels = divide_up(run.rows, kRowPanel);
  std::vector<Task> tasks;
  for (int64_t p = 0; p < run.problems; ++p)
    for (int64_t c = 0; c < split.col_parts; ++c)
      for (int64_t r = 0; r < split.row_parts; ++r) {
        const Task task{.problem = p,
                        .first_col = units * c / split.col_parts * unit,
                        .last_col = std::min(units * (c + 1) / split.col_parts * unit, run.cols),
                        .first_panel = panels * r / split.row_parts,
                        .last_panel = panels * (r + 1) / split.row_parts};
        if (task.first_col < task.last_col && task.first_panel < task.last_panel)
          tasks.push_back(task);
      }
  return tasks;
}

template <typename T>
void call_dot(const DotCall<T>& call) {
  if constexpr (sizeof(T) == sizeof(double))
    kernels().dot_f64(call);
  else
    kernels().dot_f32(call);
}

template <typename T>
void call_running(const RunningCall<T>& call) {
  if constexpr (sizeof(T) == sizeof(double))
    kernels().running_f64(call);
  else
    kernels().running_f32(call);
}

template <typename T>
class TaskRunner {
 public:
  TaskRunner(const DotRun<T>& run, const Task& task)
      : run_(run),
        task_(task),
        panels_(col_panels<T>(task.first_col, task.last_col, run.b->fixed_panels())) {
    for (const ColPanel& p : panels_) total_width_ += p.width;
    const int64_t panel_rows = (task.last_panel - task.first_panel) * kRowPanel;
    const int64_t block = std::min(run.k, run.block);
    columns_.resize(panels_.size());
    several_ = run.k > run.block;
    tiles_ = scratch<T>(Slot::tiles, (several_ ? panel_rows : kRowPanel) * total_width_);
    if (run.running) magnitudes_ = scratch<T>(Slot::magnitudes, panel_rows * total_width_);
    block_ = scratch<T>(Slot::col_block, block * total_width_ + kUnit<T>);
    row_buffer_ = scratch<T>(Slot::row_panel, block * kRowPanel + kUnit<T>);
    if (run.norms) norms_ = scratch<double>(Slot::norms, total_width_);
    if (run.norms) std::fill_n(norms_, total_width_, 0.0);
    if (run.running) std::fill_n(magnitudes_, panel_rows * total_width_, T(0));
  }

  void run() {
    // A problem without terms still has results: one pass with an empty block.
    const int64_t blocks = std::max<int64_t>(divide_up(run_.k, run_.block), 1);
    for (int64_t b = 0; b < blocks; ++b) {
      const KRange k{b * run_.block, std::min(run_.block, run_.k - b * run_.block)};
      one_block(k, b > 0, b + 1 == blocks);
    }
  }

 private:
  // The columns of the task are packed and stream from the second-level cache; each row panel is
  // widened where it is used and stays in the first.
  void one_block(KRange k, bool add, bool last) {
    int64_t offset = 0;
    for (size_t p = 0; p < panels_.size(); ++p) {
      columns_[p] = run_.b->panel(task_.problem, panels_[p], k, block_ + offset * k.count);
      if (run_.norms) add_norms(p, columns_[p], offset, k, last);
      offset += panels_[p].width;
    }
    const auto parts = static_cast<int64_t>(panels_.size());
    for (int64_t i = task_.first_panel; i < task_.last_panel; ++i) {
      const T* rows = run_.a->panel(task_.problem, i, k, row_buffer_);
      offset = 0;
      for (size_t p = 0; p < panels_.size(); ++p) {
        fetch_next_rows(i, k, {static_cast<int64_t>(p), parts});
        one_tile(Step{.index = i,
                      .rows = rows,
                      .columns = columns_[p],
                      .panel = p,
                      .offset = offset,
                      .k = k,
                      .add = add,
                      .last = last});
        offset += panels_[p].width;
      }
      if (last) finish_rows(i);
    }
  }

  void finish_rows(int64_t index) const {
    const int64_t row = index * kRowPanel;
    run_.sink->finish({.problem = task_.problem,
                       .row = row,
                       .rows = std::min<int64_t>(kRowPanel, run_.rows - row),
                       .first_col = task_.first_col,
                       .last_col = task_.last_col});
  }

  void add_norms(size_t p, const T* columns, int64_t offset, KRange k, bool last) {
    if constexpr (sizeof(T) == sizeof(double)) {
      kernels().square_sums(columns, k.count, panels_[p].width, norms_ + offset);
      if (!last) return;
      for (int64_t j = offset; j < offset + panels_[p].width; ++j) norms_[j] = std::sqrt(norms_[j]);
    }
  }

  // The rows of the next panel, or the first of the next terms, while those of panel `index` are
  // used: weights come from far away and are used once.
  void fetch_next_rows(int64_t index, KRange k, Part part) const {
    if (index + 1 < task_.last_panel) return run_.a->prefetch(task_.problem, index + 1, k, part);
    const int64_t first = k.first + k.count;
    if (first == run_.k) return;
    run_.a->prefetch(task_.problem, task_.first_panel,
                     {first, std::min(run_.block, run_.k - first)}, part);
  }

  struct Step {
    int64_t index;  // row panel
    const T* rows;
    const T* columns;
    size_t panel;
    int64_t offset;  // of the column panel within the task
    KRange k;
    bool add, last;
  };

  void one_tile(const Step& step) {
    const ColPanel& cols = panels_[step.panel];
    const int64_t row = step.index * kRowPanel;
    const int64_t base =
        ((step.index - task_.first_panel) * total_width_ + step.offset) * kRowPanel;
    const int rows = static_cast<int>(std::min<int64_t>(kRowPanel, run_.rows - row));
    const Tile<T> place{.problem = task_.problem,
                        .row = row,
                        .rows = rows,
                        .cols = cols,
                        .sums = several_ ? tiles_ + base : tiles_,
                        .magnitudes = run_.running ? magnitudes_ + base : nullptr,
                        .col_norm = run_.norms ? norms_ + step.offset : nullptr};
    if (step.last) run_.sink->prepare(place);
    const DotCall<T> call{.k = step.k.count,
                          .a = step.rows,
                          .b = step.columns,
                          .ldb = cols.width,
                          .tile = several_ ? tiles_ + base : tiles_,
                          .rows = rows,
                          .cols = cols.valid,
                          .width = cols.width,
                          .add = step.add,
                          .exact_products = run_.exact_products};
    if (run_.running)
      call_running<T>({.dot = call, .magnitude = magnitudes_ + base});
    else
      call_dot(call);
    if (step.last) run_.sink->take(place);
  }

  const DotRun<T>& run_;
  const Task task_;
  std::vector<ColPanel> panels_;
  std::vector<const T*> columns_;  // packed, per panel
  int64_t total_width_ = 0;
  bool several_ = false;
  T* tiles_ = nullptr;
  T* magnitudes_ = nullptr;
  T* block_ = nullptr;
  T* row_buffer_ = nullptr;
  double* norms_ = nullptr;
};

struct FreeAligned {
  void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t(64)); }
};

struct Buffer {
  std::unique_ptr<std::byte[], FreeAligned> data;
  int64_t bytes = 0;
};

std::byte* scratch_bytes(Slot slot, int64_t bytes) {
  thread_local std::array<Buffer, 7> buffers;
  Buffer& buffer = buffers[static_cast<size_t>(slot)];
  if (buffer.bytes < bytes) {
    buffer.data.reset();
    buffer.data.reset(static_cast<std::byte*>(
        ::operator new[](static_cast<size_t>(bytes), std::align_val_t(64))));
    buffer.bytes = bytes;
  }
  return buffer.data.get();
}

}  // namespace

template <typename T>
std::vector<ColPanel> col_panels(int64_t first, int64_t last, bool fixed) {
  std::vector<ColPanel> panels;
  for (int64_t col = first; col < last;) {
    const int64_t left = divide_up(last - col, kUnit<T>);
    const int64_t units = !fixed && left == 4 ? 2 : std::min<int64_t>(left, 3);
    const int width = static_cast<int>(units) * kUnit<T>;
    const int valid = static_cast<int>(std::min<int64_t>(width, last - col));
    panels.push_back({.col = col, .valid = valid, .width = width});
    col += width;
  }
  return panels;
}

template <typename T>
T* scratch(Slot slot, int64_t count) {
  return reinterpret_cast<T*>(
      scratch_bytes(slot, std::max<int64_t>(count, 1) * static_cast<int64_t>(sizeof(T))));
}

template <typename T>
void run_dot(const DotRun<T>& run) {
  if (run.problems <= 0 || run.rows <= 0 || run.cols <= 0) return;
  const std::vector<Task> tasks = make_tasks(run);
  parallel_for(0, static_cast<int64_t>(tasks.size()), 1, [&](int64_t first, int64_t last) {
    for (int64_t t = first; t < last; ++t) TaskRunner<T>(run, tasks[static_cast<size_t>(t)]).run();
  });
}

template void run_dot<float>(const DotRun<float>&);
template void run_dot<double>(const DotRun<double>&);
template std::vector<ColPanel> col_panels<float>(int64_t, int64_t, bool);
template std::vector<ColPanel> col_panels<double>(int64_t, int64_t, bool);
template float* scratch<float>(Slot, int64_t);
template double* scratch<double>(Slot, int64_t);
template uint8_t* scratch<uint8_t>(Slot, int64_t);

}  // namespace assay::dot
