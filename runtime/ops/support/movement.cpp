#include "runtime/ops/support/movement.h"

#include <algorithm>

#include "runtime/numeric/parallel.h"

namespace assay::ops {
namespace {

using Dims = std::vector<std::int64_t>;

constexpr std::int64_t kBytesPerTask = 1 << 16;

/// The box without axes of size one, neighbours merged where both sides are contiguous over them.
StridedCopy merged(const StridedCopy& c) {
  StridedCopy m{{}, c.from, {}, c.to, {}, c.size};
  for (std::size_t k = 0; k < c.box.size(); ++k) {
    const std::int64_t n = c.box[k];
    if (n == 1) continue;
    if (!m.box.empty() && m.from_strides.back() == c.from_strides[k] * n &&
        m.to_strides.back() == c.to_strides[k] * n) {
      m.box.back() *= n;
      m.from_strides.back() = c.from_strides[k];
      m.to_strides.back() = c.to_strides[k];
      continue;
    }
    m.box.push_back(n);
    m.from_strides.push_back(c.from_strides[k]);
    m.to_strides.push_back(c.to_strides[k]);
  }
  if (m.box.empty()) {
    m.box = m.from_strides = m.to_strides = {1};
  }
  return m;
}

/// Counts through the outer axes of a box in row-major order.
class Odometer {
 public:
  Odometer(std::span<const std::int64_t> dims, std::int64_t start)
      : dims_(dims), at_(dims.size(), 0) {
    for (std::size_t k = dims.size(); k-- > 0;) {
      at_[k] = start % dims[k];
      start /= dims[k];
    }
  }
  void step() {
    for (std::size_t k = at_.size(); k-- > 0;) {
      if (++at_[k] < dims_[k]) return;
      at_[k] = 0;
    }
  }
  std::span<const std::int64_t> at() const { return at_; }

 private:
  std::span<const std::int64_t> dims_;
  Dims at_;
};

std::int64_t dot(std::span<const std::int64_t> a, const Dims& b) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

std::int64_t product(std::span<const std::int64_t> dims) {
  std::int64_t n = 1;
  for (const std::int64_t d : dims) n *= d;
  return n;
}

struct Row {
  const std::byte* from;
  std::int64_t from_stride;
  std::byte* to;
  std::int64_t to_stride;
  std::int64_t count;
};

template <std::size_t N>
void copy_row(const Row& r) {
  if (r.from_stride == 1 && r.to_stride == 1) {
    std::memcpy(r.to, r.from, static_cast<std::size_t>(r.count) * N);
    return;
  }
  constexpr auto size = static_cast<std::int64_t>(N);
  for (std::int64_t i = 0; i < r.count; ++i)
    std::memcpy(r.to + i * r.to_stride * size, r.from + i * r.from_stride * size, N);
}

/// Trailing axes that are copied whole form one block of bytes; the rest is gathered.
struct TablePlan {
  std::size_t rank = 0;       // axes that are gathered
  std::int64_t block = 0;     // bytes
  std::int64_t elements = 1;  // elements per block
  std::vector<Dims> offsets;  // bytes per output position, kFill kept
  Dims dims;                  // sizes of the gathered axes
};

bool is_identity(const AxisTable& t, std::int64_t size) {
  if (static_cast<std::int64_t>(t.size()) != size) return false;
  for (std::size_t i = 0; i < t.size(); ++i)
    if (t[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}

TablePlan plan_tables(const Tensor& x, std::span<const AxisTable> tables) {
  TablePlan p;
  p.rank = tables.size();
  while (p.rank > 0 &&
         is_identity(tables[p.rank - 1], x.shape()[static_cast<std::int64_t>(p.rank) - 1])) {
    --p.rank;
    p.elements *= x.shape()[static_cast<std::int64_t>(p.rank)];
  }
  p.block = p.elements * size_of(x.dtype());
  std::int64_t stride = p.block;
  p.offsets.resize(p.rank);
  for (std::size_t k = p.rank; k-- > 0;) {
    for (const std::int64_t i : tables[k]) p.offsets[k].push_back(i == kFill ? kFill : i * stride);
    stride *= x.shape()[static_cast<std::int64_t>(k)];
  }
  for (std::size_t k = 0; k < p.rank; ++k)
    p.dims.push_back(static_cast<std::int64_t>(tables[k].size()));
  return p;
}

void repeat(std::byte* to, const std::byte* element, std::int64_t count, std::int64_t size) {
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * size, element, static_cast<std::size_t>(size));
}

class TableCopy {
 public:
  TableCopy(const Tensor& x, std::span<const AxisTable> tables, const std::byte* fill, Tensor& y)
      : plan_(plan_tables(x, tables)),
        from_(x.raw().data()),
        to_(y.mutable_raw().data()),
        fill_(fill),
        size_(size_of(x.dtype())) {}

  void run() const {
    if (plan_.rank == 0) {
      std::memcpy(to_, from_, static_cast<std::size_t>(plan_.block));
      return;
    }
    const std::span<const std::int64_t> outer(plan_.dims.data(), plan_.rank - 1);
    const std::int64_t row = plan_.dims.back() * plan_.block;
    parallel_for(0, product(outer), std::max<std::int64_t>(1, kBytesPerTask / row),
                 [&](std::int64_t first, std::int64_t last) {
                   Odometer at(outer, first);
                   for (std::int64_t r = first; r < last; ++r, at.step())
                     copy_row_at(base(at.at()), to_ + r * row);
                 });
  }

 private:
  std::int64_t base(std::span<const std::int64_t> at) const {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < at.size(); ++k) {
      const std::int64_t offset = plan_.offsets[k][static_cast<std::size_t>(at[k])];
      if (offset == kFill) return kFill;
      sum += offset;
    }
    return sum;
  }

  void copy_row_at(std::int64_t base, std::byte* to) const {
    if (base == kFill) return repeat(to, fill_, plan_.dims.back() * plan_.elements, size_);
    if (plan_.block == size_ && size_ <= 16) {
      visit_size(size_, [&](auto n) { copy_elements<decltype(n)::value>(base, to); });
      return;
    }
    for (const std::int64_t offset : plan_.offsets.back()) {
      if (offset == kFill) {
        repeat(to, fill_, plan_.elements, size_);
      } else {
        std::memcpy(to, from_ + base + offset, static_cast<std::size_t>(plan_.block));
      }
      to += plan_.block;
    }
  }

  template <std::size_t N>
  void copy_elements(std::int64_t base, std::byte* to) const {
    for (const std::int64_t offset : plan_.offsets.back()) {
      std::memcpy(to, offset == kFill ? fill_ : from_ + base + offset, N);
      to += N;
    }
  }

  TablePlan plan_;
  const std::byte* from_;
  std::byte* to_;
  const std::byte* fill_;
  std::int64_t size_;
};

bool is_data(std::initializer_list<std::size_t> data, std::size_t i) {
  return data.size() == 0 || std::find(data.begin(), data.end(), i) != data.end();
}

/// What stands for input `i` when radii are moved.
Tensor radius_input(const BoundContext& c, std::initializer_list<std::size_t> data, std::size_t i) {
  const Tensor& value = c.inputs[i];
  if (!value.defined()) return {};
  if (!is_data(data, i)) return convert(value, DType::int64);
  const bool known = i < c.radii.size() && c.radii[i].defined();
  return known ? c.radii[i] : Tensor::zeros(DType::float64, value.shape());
}

std::vector<Tensor> outputs_for(const OpDef& def, const EvalContext& e) {
  InferContext infer;
  infer.node = e.node;
  infer.opset = e.opset;
  infer.precision = e.precision;
  for (const Tensor& t : e.inputs) {
    infer.input_types.push_back(t.defined() ? TensorType::of(t) : TensorType{});
    infer.constants.push_back(t.defined() ? &t : nullptr);
  }
  infer.outputs.resize(e.node->outputs.size());
  def.infer(infer);
  std::vector<Tensor> outputs;
  for (const TensorType& t : infer.outputs)
    outputs.push_back(t.known() ? Tensor(t.dtype, t.shape()) : Tensor());
  return outputs;
}

}  // namespace

void copy_strided(const StridedCopy& copy) {
  if (std::find(copy.box.begin(), copy.box.end(), 0) != copy.box.end()) return;
  const StridedCopy m = merged(copy);
  const std::size_t last_axis = m.box.size() - 1;
  const std::span<const std::int64_t> outer(m.box.data(), last_axis);
  const std::int64_t row = m.box[last_axis] * m.size;
  visit_size(m.size, [&](auto n) {
    constexpr std::size_t N = decltype(n)::value;
    constexpr auto size = static_cast<std::int64_t>(N);
    parallel_for(
        0, product(outer), std::max<std::int64_t>(1, kBytesPerTask / row),
        [&](std::int64_t first, std::int64_t last) {
          Odometer at(outer, first);
          for (std::int64_t r = first; r < last; ++r, at.step()) {
            copy_row<N>({m.from + dot(at.at(), m.from_strides) * size, m.from_strides[last_axis],
                         m.to + dot(at.at(), m.to_strides) * size, m.to_strides[last_axis],
                         m.box[last_axis]});
          }
        });
  });
}

AxisTable identity_table(std::int64_t size) {
  AxisTable t(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < t.size(); ++i) t[i] = static_cast<std::int64_t>(i);
  return t;
}

void copy_by_tables(const Tensor& x, std::span<const AxisTable> tables, const std::byte* fill,
                    Tensor& y) {
  if (y.numel() == 0) return;
  TableCopy(x, tables, fill, y).run();
}

void fill_with(Tensor& y, const std::byte* element) {
  const std::int64_t size = size_of(y.dtype());
  repeat(y.mutable_raw().data(), element, y.numel(), size);
}

void move_radii(BoundContext& c, std::initializer_list<std::size_t> data) {
  EvalContext e;
  e.node = c.node;
  e.opset = c.opset;
  e.precision = Precision::f64;
  std::shared_ptr<void> state;
  e.state = &state;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) e.inputs.push_back(radius_input(c, data, i));
  const OpDef& def = require_op(*c.node, c.opset);
  e.outputs = outputs_for(def, e);
  def.eval(e);
  c.result = e.outputs;
}

void bound_exact(BoundContext& c) {
  c.result.clear();
  for (const Tensor& t : c.outputs)
    c.result.push_back(t.defined() ? Tensor::zeros(DType::float64, t.shape()) : Tensor());
}

}  // namespace assay::ops
