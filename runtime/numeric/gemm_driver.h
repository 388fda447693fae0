#pragma once
// The blocked loop nest shared by matrix products and convolutions: many independent problems of
// rows x cols outputs over k terms each. Columns run along the vectors. Operands hand out packed
// panels, a sink takes finished tiles. Tasks split rows and columns only, never k.
#include <cstdint>
#include <vector>

#include "runtime/numeric/gemm_kernels.h"

namespace assay::dot {

struct ColPanel {
  int64_t col;
  int valid;  // columns that exist
  int width;  // valid rounded up to kUnit
};

struct KRange {
  int64_t first;
  int64_t count;
};

// Panels over the columns [first, last) of up to kMaxWidth; a lone last unit is shared with its
// neighbour (2 + 2 units) unless panels are fixed to multiples of kMaxWidth.
template <typename T>
std::vector<ColPanel> col_panels(int64_t first, int64_t last, bool fixed = false);

// Share `part` of `parts` of a piece of work.
struct Part {
  int64_t part, parts;
};

// Panels for the rows: [k][kRowPanel], zero past the last row.
template <typename T>
class RowOperand {
 public:
  virtual ~RowOperand() = default;
  // May return memory of its own instead of filling `buffer`.
  virtual const T* panel(int64_t problem, int64_t index, KRange k, T* buffer) const = 0;
  // Fetches a part of what a coming call of panel will read. A hint.
  virtual void prefetch(int64_t, int64_t, KRange, Part) const {}
};

// Panels for the columns: [k][panel.width], zero past the last column.
template <typename T>
class ColOperand {
 public:
  virtual ~ColOperand() = default;
  virtual const T* panel(int64_t problem, const ColPanel& panel, KRange k, T* buffer) const = 0;
  // Panels start at multiples of kMaxWidth (they were packed before).
  virtual bool fixed_panels() const { return false; }
};

template <typename T>
struct Tile {
  int64_t problem;
  int64_t row;
  int rows;
  ColPanel cols;
  const T* sums;           // [kRowPanel][cols.width]
  const T* magnitudes;     // the same, only with DotRun::running
  const double* col_norm;  // [cols.width], only with DotRun::norms: root of the sum of squares
};

// Outputs whose tiles have all been taken.
struct DoneRows {
  int64_t problem;
  int64_t row, rows;
  int64_t first_col, last_col;
};

template <typename T>
class TileSink {
 public:
  virtual ~TileSink() = default;
  virtual void take(const Tile<T>& tile) const = 0;
  // Called before the last block of a tile is computed (its sums are not there yet): fetches what
  // take will touch.
  virtual void prepare(const Tile<T>&) const {}
  // Called once for every output, while it is likely to be in the first-level cache.
  virtual void finish(const DoneRows&) const {}
};

template <typename T>
struct DotRun {
  int64_t problems = 1;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t k = 0;
  int64_t block = kDotBlock;  // terms of a chain; the canonical order has this length
  bool norms = false;
  bool running = false;         // sum |intermediate results| too
  bool exact_products = false;  // see DotCall
  const RowOperand<T>* a = nullptr;
  const ColOperand<T>* b = nullptr;
  const TileSink<T>* sink = nullptr;
};

template <typename T>
void run_dot(const DotRun<T>& run);

// Memory of one thread, aligned to 64 bytes, kept between calls. Each slot is a buffer of its own.
enum class Slot { row_panel, col_block, tiles, magnitudes, norms, extra, planes };
template <typename T>
T* scratch(Slot slot, int64_t count);

}  // namespace assay::dot
