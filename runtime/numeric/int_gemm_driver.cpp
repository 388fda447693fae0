#include "runtime/numeric/int_gemm_driver.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "runtime/numeric/parallel.h"

namespace assay::dot {
namespace {

constexpr int64_t kColumnBytes = 512 * 1024;  // packed columns of a task stay in the cache

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

std::vector<int32_t> column_sums(const uint8_t* panel, int64_t quads, int width) {
  std::vector<int32_t> sums(static_cast<size_t>(width), 0);
  for (int64_t q = 0; q < quads; ++q)
    for (int j = 0; j < width; ++j, panel += 4)
      sums[static_cast<size_t>(j)] += panel[0] + panel[1] + panel[2] + panel[3];
  return sums;
}

struct IntTask {
  int64_t problem, first_col, last_col, first_panel, last_panel;
};

std::vector<IntTask> int_tasks(const IntRun& run) {
  const int64_t threads = num_threads(), units = divide_up(run.cols, kIntUnit);
  const int64_t panels = run.rows->panels();
  const int64_t bytes = std::max<int64_t>(run.rows->quads() * 4 * kIntUnit, 1);
  int64_t col_parts = divide_up(units, std::max<int64_t>(kColumnBytes / bytes, 3)), row_parts = 1;
  if (run.problems < 4 * threads) {
    const int64_t wanted = divide_up(threads, run.problems);
    if (units >= 6 * wanted)
      col_parts = divide_up(col_parts, wanted) * wanted;
    else
      row_parts = std::min(wanted, panels);
  }
  col_parts = std::min(col_parts, units);
  std::vector<IntTask> tasks;
  for (int64_t p = 0; p < run.problems; ++p)
    for (int64_t c = 0; c < col_parts; ++c)
      for (int64_t r = 0; r < row_parts; ++r)
        tasks.push_back({.problem = p,
                         .first_col = units * c / col_parts * kIntUnit,
                         .last_col = std::min(units * (c + 1) / col_parts * kIntUnit, run.cols),
                         .first_panel = panels * r / row_parts,
                         .last_panel = panels * (r + 1) / row_parts});
  return tasks;
}

struct PackedPanel {
  ColPanel place;
  const uint8_t* data;
  std::vector<int32_t> sums;
};

std::vector<PackedPanel> pack_columns(const IntRun& run, const IntTask& task) {
  const int64_t quads = run.rows->quads();
  const int64_t width = divide_up(task.last_col - task.first_col, kIntUnit) * kIntUnit;
  uint8_t* at = scratch<uint8_t>(Slot::col_block, quads * width * 4 + 64);
  std::vector<PackedPanel> panels;
  for (int64_t col = task.first_col; col < task.last_col; col += panels.back().place.width) {
    const int64_t left = divide_up(task.last_col - col, kIntUnit);
    const int64_t units = left == 4 ? 2 : std::min<int64_t>(left, 3);
    const int panel_width = static_cast<int>(units) * kIntUnit;
    const ColPanel place{
        .col = col,
        .valid = static_cast<int>(std::min<int64_t>(panel_width, task.last_col - col)),
        .width = panel_width};
    run.columns->pack(task.problem, place, at);
    panels.push_back({.place = place, .data = at, .sums = {}});
    if (run.rows->any_zero) panels.back().sums = column_sums(at, quads, panel_width);
    at += quads * panel_width * 4;
  }
  return panels;
}

// Sums are taken modulo 2^32, so unsigned arithmetic.
void finish_tile(const IntRun& run, const IntTask& task, const PackedPanel& panel,
                 int64_t row_panel, const int32_t* tile) {
  const IntRowPanels& rows = *run.rows;
  const int64_t first = row_panel * kIntRows;
  const int64_t count = std::min<int64_t>(kIntRows, rows.lines - first);
  const bool one_zero = run.col_zeros.size() == 1;
  for (int64_t r = 0; r < count; ++r) {
    const auto line = static_cast<size_t>(task.problem % rows.problems * rows.lines + first + r);
    const auto sum = static_cast<uint32_t>(rows.sums[line]);
    const auto zero = static_cast<uint32_t>(rows.zeros[line]);
    const uint32_t factor = static_cast<uint32_t>(rows.k) * zero - sum;
    const int32_t* src = tile + r * panel.place.width;
    int32_t* dst =
        run.transposed_out
            ? run.out + panel.place.col * rows.lines + first + r
            : run.out + (task.problem * rows.lines + first + r) * run.cols + panel.place.col;
    const int64_t step = run.transposed_out ? rows.lines : 1;
    const uint32_t shared = one_zero ? static_cast<uint32_t>(run.col_zeros[0]) * factor : 0;
    for (int j = 0; j < panel.place.valid; ++j) {
      uint32_t value = static_cast<uint32_t>(src[j]) + shared;
      if (!one_zero)
        value +=
            static_cast<uint32_t>(run.col_zeros[static_cast<size_t>(panel.place.col + j)]) * factor;
      if (zero != 0) value -= zero * static_cast<uint32_t>(panel.sums[static_cast<size_t>(j)]);
      dst[j * step] = static_cast<int32_t>(value);
    }
  }
}

void run_task(const IntRun& run, const IntTask& task) {
  const IntRowPanels& rows = *run.rows;
  const IntDot dot = int_dot();
  const std::vector<PackedPanel> panels = pack_columns(run, task);
  alignas(64) int32_t tile[kIntRows * kIntMaxWidth];
  for (const PackedPanel& panel : panels)
    for (int64_t p = task.first_panel; p < task.last_panel; ++p) {
      const int8_t* data = rows.data.data() + (task.problem % rows.problems * rows.panels() + p) *
                                                  rows.quads() * kIntRows * 4;
      const int count = static_cast<int>(std::min<int64_t>(kIntRows, rows.lines - p * kIntRows));
      dot({.quads = rows.quads(),
           .rows = data,
           .cols = panel.data,
           .tile = tile,
           .row_count = count,
           .width = panel.place.width});
      finish_tile(run, task, panel, p, tile);
    }
}

// Places one line of codes as quads of its panel; returns the sum of the signed forms.
int32_t pack_row(IntRowPanels& rows, int64_t line, const uint8_t* src, uint32_t flip) {
  const int64_t i = line % rows.lines;
  int8_t* at = rows.data.data() +
               (line / rows.lines * rows.panels() + i / kIntRows) * rows.quads() * kIntRows * 4 +
               i % kIntRows * 4;
  int32_t sum = 0;
  for (int64_t k = 0; k < rows.k; k += 4, at += kIntRows * 4) {
    uint32_t quad = 0;
    const auto count = static_cast<size_t>(std::min<int64_t>(4, rows.k - k));
    if (count == 4)
      std::memcpy(&quad, src + k, 4);
    else
      std::memcpy(&quad, src + k, count);
    quad ^= count == 4 ? flip : flip >> (8 * (4 - count));
    std::memcpy(at, &quad, 4);
    for (int e = 0; e < 4; ++e) sum += static_cast<int8_t>(quad >> (8 * e));
  }
  return sum;
}

int64_t largest_value(const Codes8& c) {
  const int64_t low = c.is_signed ? -128 : 0, high = c.is_signed ? 127 : 255;
  int64_t largest = 0;
  const size_t count = std::max<size_t>(c.zero.size(), 1);
  for (size_t i = 0; i < count; ++i) {
    const int64_t zero = c.zero.empty() ? 0 : c.zero[i];
    largest = std::max({largest, zero - low, high - zero});
  }
  return largest;
}

}  // namespace

void run_int(const IntRun& run) {
  if (run.problems <= 0 || run.cols <= 0 || run.rows->lines <= 0) return;
  const std::vector<IntTask> tasks = int_tasks(run);
  parallel_for(0, static_cast<int64_t>(tasks.size()), 1, [&](int64_t first, int64_t last) {
    for (int64_t t = first; t < last; ++t) run_task(run, tasks[static_cast<size_t>(t)]);
  });
}

void flip_codes(uint8_t* codes, int64_t count) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    uint64_t word;
    std::memcpy(&word, codes + i, 8);
    word ^= 0x8080808080808080U;
    std::memcpy(codes + i, &word, 8);
  }
  for (; i < count; ++i) codes[i] ^= 0x80U;
}

void int_pack_rows(IntRowPanels& rows, const Codes8& codes, int64_t stride) {
  const int64_t count = rows.problems * rows.lines;
  rows.data.assign(static_cast<size_t>(rows.problems * rows.panels() * rows.quads() * kIntRows * 4),
                   0);
  rows.sums.assign(static_cast<size_t>(count), 0);
  rows.zeros.assign(static_cast<size_t>(count), 0);
  const uint32_t flip = codes.is_signed ? 0 : 0x80808080U;
  parallel_for(0, count, 64, [&](int64_t first, int64_t last) {
    for (int64_t line = first; line < last; ++line)
      rows.sums[static_cast<size_t>(line)] =
          pack_row(rows, line, static_cast<const uint8_t*>(codes.data) + line * stride, flip);
  });
  for (int64_t line = 0; line < count; ++line) {
    const int32_t zero = signed_zero_point(codes, line);
    rows.zeros[static_cast<size_t>(line)] = zero;
    rows.any_zero = rows.any_zero || zero != 0;
  }
}

bool int32_is_enough(const Codes8& a, const Codes8& b, int64_t k) {
  const int64_t term = largest_value(a) * largest_value(b);
  return term == 0 || k <= std::numeric_limits<int32_t>::max() / term;
}

}  // namespace assay::dot
