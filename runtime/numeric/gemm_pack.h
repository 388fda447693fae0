#pragma once
// Operands of the blocked kernels: packed weights and panels packed on the fly.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <vector>

#include "runtime/numeric/gemm_driver.h"
#include "runtime/numeric/parallel.h"

namespace assay {

// Weights as row panels (convolution) or column panels (matrix product). Values that all fit
// float32 are stored so and widened in the cache; that halves the memory traffic of the double
// kernels.
struct PackedWeights::Impl {
  int64_t problems = 1;  // groups
  int64_t lines = 0;     // rows or columns of one problem
  int64_t k = 0;
  int64_t block = kDotBlock;  // terms of a piece of a row panel
  bool narrow = true;
  bool finite = true;
  std::vector<float> narrow_data;
  std::vector<double> wide_data;
  std::vector<double> norms;  // [problems * lines]
  // The same of transformed kernels where there are any, and the shares of outputs (winograd_radius.h).
  std::vector<double> winograd;
  std::array<double, 4> winograd_share{};
};

namespace dot {

template <typename T>
inline constexpr bool kIsDouble = sizeof(T) == sizeof(double);

// Reads every line (row or column) of the weights once: read(problem, line, T* values) fills k of
// them. Sets the norms and flags, and hands the values on to keep(problem, line, values).
template <typename T, typename Read, typename Keep>
void scan_lines(PackedWeights::Impl& w, const Read& read, const Keep& keep) {
  w.norms.assign(static_cast<size_t>(w.problems * w.lines), 0.0);
  std::atomic<bool> finite{true}, narrow{true};
  parallel_for(0, w.problems * w.lines, kRowPanel, [&](int64_t first, int64_t last) {
    std::vector<T> values(static_cast<size_t>(w.k));
    for (int64_t at = first; at < last; ++at) {
      read(at / w.lines, at % w.lines, values.data());
      double sum = 0.0;
      bool exact = true;
      for (const T v : values) {
        const auto wide = static_cast<double>(v);
        sum += wide * wide;
        exact = exact && (static_cast<double>(static_cast<float>(wide)) == wide || wide != wide);
      }
      // Finite doubles may overflow the sum; they are then looked at one by one.
      if (!std::isfinite(sum))
        for (const T v : values)
          if (!std::isfinite(v)) finite = false;
      if (!exact) narrow = false;
      w.norms[static_cast<size_t>(at)] = std::sqrt(sum);
      keep(at / w.lines, at % w.lines, values.data());
    }
  });
  w.finite = finite;
  w.narrow = narrow;
}

// Row panels, [problem][k block][panel][k in block][kRowPanel]: a task that goes by blocks streams
// through memory in order. k lies within one block.
inline int64_t row_panel_offset(const PackedWeights::Impl& w, int64_t problem, int64_t index,
                                KRange k) {
  const int64_t panels = (w.lines + kRowPanel - 1) / kRowPanel;
  const int64_t first = k.first / w.block * w.block, count = std::min(w.block, w.k - first);
  return ((problem * w.k + first) * panels + index * count + k.first - first) * kRowPanel;
}

template <typename T, typename Stored>
void place_row(const PackedWeights::Impl& w, int64_t problem, int64_t line, const T* values,
               Stored* data) {
  for (int64_t first = 0; first < w.k; first += w.block) {
    const KRange k{first, std::min(w.block, w.k - first)};
    Stored* at = data + row_panel_offset(w, problem, line / kRowPanel, k) + line % kRowPanel;
    for (int64_t i = 0; i < k.count; ++i)
      at[i * kRowPanel] = static_cast<Stored>(values[first + i]);
  }
}

// Column panels for compute type C: panels of kMaxWidth<C> columns, the last one rounded up to
// kUnit<C>.
template <typename C, typename T, typename Stored>
void place_col(const PackedWeights::Impl& w, int64_t problem, int64_t line, const T* values,
               Stored* data) {
  const int64_t padded = (w.lines + kUnit<C> - 1) / kUnit<C> * kUnit<C>;
  const int64_t start = line / kMaxWidth<C> * kMaxWidth<C>;
  const int64_t width = std::min<int64_t>(kMaxWidth<C>, padded - start);
  Stored* at = data + (problem * padded + start) * w.k + (line - start);
  for (int64_t k = 0; k < w.k; ++k) at[k * width] = static_cast<Stored>(values[k]);
}

// Lays all lines out with `place` as float; as double once a value turns up that needs it.
template <typename T, typename Read, typename Place>
void pack_lines(PackedWeights::Impl& w, int64_t padded_lines, const Read& read,
                const Place& place) {
  const auto size = static_cast<size_t>(w.problems * padded_lines * w.k);
  w.narrow_data.assign(size, 0.0F);
  scan_lines<T>(w, read, [&](int64_t problem, int64_t line, const T* values) {
    place(problem, line, values, w.narrow_data.data());
  });
  if (w.narrow) return;
  w.narrow_data = {};
  w.wide_data.assign(size, 0.0);
  scan_lines<T>(w, read, [&](int64_t problem, int64_t line, const T* values) {
    place(problem, line, values, w.wide_data.data());
  });
}

template <typename T, typename Read>
void pack_row_panels(PackedWeights::Impl& w, const Read& read) {
  const int64_t padded = (w.lines + kRowPanel - 1) / kRowPanel * kRowPanel;
  pack_lines<T>(w, padded, read, [&](int64_t problem, int64_t line, const T* values, auto* data) {
    place_row(w, problem, line, values, data);
  });
}

template <typename C, typename T, typename Read>
void pack_col_panels(PackedWeights::Impl& w, const Read& read) {
  const int64_t padded = (w.lines + kUnit<C> - 1) / kUnit<C> * kUnit<C>;
  pack_lines<T>(w, padded, read, [&](int64_t problem, int64_t line, const T* values, auto* data) {
    place_col<C>(w, problem, line, values, data);
  });
}

// Points into packed data of either width, widening into the buffer when the compute type needs it.
template <typename C>
const C* packed_block(const PackedWeights::Impl& w, int64_t offset, int64_t count, C* buffer) {
  if constexpr (kIsDouble<C>) {
    if (!w.narrow) return w.wide_data.data() + offset;
    kernels().widen(w.narrow_data.data() + offset, buffer, count);
    return buffer;
  } else {
    return w.narrow_data.data() + offset;
  }
}

template <typename C>
class PackedRows final : public RowOperand<C> {
 public:
  explicit PackedRows(const PackedWeights::Impl& w) : w_(w) {}
  const C* panel(int64_t problem, int64_t index, KRange k, C* buffer) const override {
    const int64_t at = row_panel_offset(w_, problem % w_.problems, index, k);
    return packed_block(w_, at, k.count * kRowPanel, buffer);
  }
  void prefetch(int64_t problem, int64_t index, KRange k, Part part) const override {
    const bool narrow = w_.narrow || !kIsDouble<C>;
    const int64_t element = narrow ? sizeof(float) : sizeof(double);
    const auto* data = narrow ? reinterpret_cast<const char*>(w_.narrow_data.data())
                              : reinterpret_cast<const char*>(w_.wide_data.data());
    data += row_panel_offset(w_, problem % w_.problems, index, k) * element;
    constexpr int64_t line = 64;
    const int64_t lines = k.count * kRowPanel * element / line;
    for (int64_t i = lines * part.part / part.parts; i < lines * (part.part + 1) / part.parts; ++i)
      __builtin_prefetch(data + i * line, 0, 2);
  }

 private:
  const PackedWeights::Impl& w_;
};

template <typename C>
class PackedCols final : public ColOperand<C> {
 public:
  explicit PackedCols(const PackedWeights::Impl& w) : w_(w) {}
  const C* panel(int64_t problem, const ColPanel& panel, KRange k, C* buffer) const override {
    const int64_t units = (w_.lines + kUnit<C> - 1) / kUnit<C>;
    const int64_t at = (problem % w_.problems * units * kUnit<C> + panel.col) * w_.k;
    return packed_block(w_, at + k.first * panel.width, k.count * panel.width, buffer);
  }
  bool fixed_panels() const override { return true; }

 private:
  const PackedWeights::Impl& w_;
};

// A strided matrix as row panels, element (i, k) = data[i * row_stride + k * k_stride].
template <typename S, typename C>
class StridedRows final : public RowOperand<C> {
 public:
  StridedRows(const S* data, int64_t rows, int64_t row_stride, int64_t k_stride)
      : data_(data), rows_(rows), row_stride_(row_stride), k_stride_(k_stride) {}
  const C* panel(int64_t, int64_t index, KRange k, C* buffer) const override {
    for (int64_t r = 0; r < kRowPanel; ++r) {
      const int64_t row = index * kRowPanel + r;
      const S* src = data_ + row * row_stride_ + k.first * k_stride_;
      for (int64_t i = 0; i < k.count; ++i)
        buffer[i * kRowPanel + r] = row < rows_ ? static_cast<C>(src[i * k_stride_]) : C(0);
    }
    return buffer;
  }

 private:
  const S* data_;
  int64_t rows_, row_stride_, k_stride_;
};

// Calls the pack kernel for this pair of types.
template <typename S, typename C>
void call_pack(const PackCall<S, C>& call) {
  if constexpr (kIsDouble<S>)
    kernels().pack_f64(call);
  else if constexpr (kIsDouble<C>)
    kernels().pack_wide(call);
  else
    kernels().pack_f32(call);
}

// A strided matrix as column panels, element (k, j) = data[k * k_stride + j * col_stride].
template <typename S, typename C>
class StridedCols final : public ColOperand<C> {
 public:
  StridedCols(const S* data, int64_t k_stride, int64_t col_stride)
      : data_(data), k_stride_(k_stride), col_stride_(col_stride) {}
  const C* panel(int64_t, const ColPanel& panel, KRange k, C* buffer) const override {
    const S* base = data_ + k.first * k_stride_ + panel.col * col_stride_;
    if (col_stride_ == 1) return contiguous(base, panel, k, buffer);
    for (int64_t j = 0; j < panel.width; ++j)
      for (int64_t i = 0; i < k.count; ++i)
        buffer[i * panel.width + j] =
            j < panel.valid ? static_cast<C>(base[i * k_stride_ + j * col_stride_]) : C(0);
    return buffer;
  }

 private:
  const C* contiguous(const S* base, const ColPanel& panel, KRange k, C* buffer) const {
    int64_t offsets[kDotBlock];
    for (int64_t i = 0; i < k.count; ++i) offsets[i] = i * k_stride_;
    Piece pieces[3];
    int count = 0;
    for (int j = 0; j < panel.valid; j += kUnit<C>)
      pieces[count++] = {.dst = j, .count = std::min(kUnit<C>, panel.valid - j), .src = j};
    call_pack<S, C>({.base = base,
                     .row_offset = offsets,
                     .k = k.count,
                     .pieces = pieces,
                     .piece_count = count,
                     .width = panel.width,
                     .valid = panel.valid,
                     .slack = false,
                     .dst = buffer});
    return buffer;
  }

  const S* data_;
  int64_t k_stride_, col_stride_;
};

}  // namespace dot
}  // namespace assay
