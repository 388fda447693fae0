#include "tests/random_graphs/generator.h"

#include <algorithm>

#include "runtime/onnx/reader.h"
#include "runtime/onnx/writer.h"
#include "tests/random_graphs/piece.h"

namespace assay::testing {
namespace {

std::vector<Piece>& registry() {
  static std::vector<Piece> pieces;
  return pieces;
}

constexpr std::int64_t largest_value = 600;  ///< elements of one value

/// A piece of the role by weight; the cell itself when none goes with it.
Cell grow(GraphMaker& m, const Cell& x, Role role) {
  std::vector<const Piece*> candidates;
  double total = 0;
  for (const Piece& p : all_pieces()) {
    if (p.role == role) candidates.push_back(&p), total += p.weight;
  }
  for (int attempt = 0; attempt < 4; ++attempt) {
    double at = m.random.unit() * total;
    const Piece* chosen = candidates.back();
    for (const Piece* p : candidates) {
      if ((at -= p->weight) < 0) {
        chosen = p;
        break;
      }
    }
    const auto y = chosen->grow(m, x);
    if (!y) continue;
    m.cells.push_back(*y);
    return y->shape.numel() > largest_value || y->shape.numel() == 0 ? x : *y;
  }
  return x;
}

/// What an exporter would write: a linear operator with what follows it.
Cell phrase(GraphMaker& m, Cell x) {
  Random& r = m.random;
  if (r.chance(0.25)) x = grow(m, x, Role::before);
  if (r.chance(0.12)) x = grow(m, x, Role::scale);
  if (r.chance(0.92)) x = grow(m, x, Role::linear);
  if (r.chance(0.15)) x = grow(m, x, Role::layout);
  for (std::int64_t i = r.between(0, 3); i > 0; --i) x = grow(m, x, Role::scale);
  if (r.chance(0.3)) x = grow(m, x, Role::join);
  if (r.chance(0.55)) x = grow(m, x, Role::activation);
  if (r.chance(0.12)) x = grow(m, x, Role::codes);
  if (r.chance(0.1)) x = grow(m, x, Role::layout);
  return x;
}

Shape input_shape(Random& r) {
  std::vector<std::int64_t> dims = {r.pick<std::int64_t>({1, 2, 4}), r.between(1, 4)};
  const std::int64_t axes = r.pick<std::int64_t>({0, 1, 2, 2, 2, 3});
  for (std::int64_t i = 0; i < axes; ++i) dims.push_back(r.between(2, axes == 3 ? 3 : 5));
  return Shape(dims);
}

/// Values nobody reads, and now and then an inner one.
void choose_outputs(GraphMaker& m) {
  Graph& g = m.graph();
  for (const Cell& c : m.cells) {
    const bool end = g.use_count(c.id) == 0 && !g.value(c.id).is_input;
    if ((end || (m.random.chance(0.04) && !g.value(c.id).is_input)) && !g.is_output(c.id))
      g.add_output(c.id);
  }
  // ONNX wants the types of graph outputs.
  for (const Cell& c : m.cells) {
    if (!g.is_output(c.id)) continue;
    g.set_type(c.id, type_of(m.dtype, c.shape));
  }
}

Tensor fresh(Random& r, const Tensor& like, double spread) {
  if (!is_float(like.dtype())) return like;
  Tensor t(DType::float64, like.shape());
  for (double& v : t.mutable_data<double>()) v = r.chance(0.02) ? 0 : r.normal() * spread;
  return convert(convert(t, DType::float32), like.dtype());
}

std::vector<Feeds> samples(GraphMaker& m) {
  std::vector<Feeds> all;
  for (const double spread : {1.0, 20.0}) {
    Feeds feeds;
    for (const Cell& c : m.cells) {
      if (m.graph().value(c.id).is_input)
        feeds[m.graph().name(c.id)] = fresh(m.random, Tensor(m.dtype, c.shape), spread);
    }
    for (const auto& [name, t] : m.given) feeds[name] = t;
    for (const auto& [name, t] : m.defaults) feeds[name] = all.empty() ? t : fresh(m.random, t, 1);
    all.push_back(std::move(feeds));
  }
  return all;
}

/// Batch sizes that are not stated, as exporters write them.
void open_batch(GraphMaker& m) {
  for (const Cell& c : m.cells) {
    if (!m.graph().value(c.id).is_input) continue;
    ValueType type = m.graph().value(c.id).type;
    type.dims->front() = {.size = -1, .symbol = "N"};
    m.graph().set_type(c.id, type);
  }
  for (const ValueId v : m.graph().outputs()) {
    ValueType type = m.graph().value(v).type;
    for (Dim& d : *type.dims) d = {};
    m.graph().set_type(v, type);
  }
}

}  // namespace

RegisterPiece::RegisterPiece(Piece piece) { registry().push_back(std::move(piece)); }

const std::vector<Piece>& all_pieces() {
  // Sorted once, because the order of registration is that of linking.
  static const std::vector<Piece> sorted = [] {
    auto list = registry();
    std::sort(list.begin(), list.end(),
              [](const Piece& a, const Piece& b) { return a.name < b.name; });
    return list;
  }();
  return sorted;
}

RandomGraph random_graph(std::uint64_t seed) {
  Random r(seed);
  const auto opset = r.pick<std::int64_t>({6, 7, 9, 11, 13, 13, 13, 14, 15, 17, 17, 18, 20, 21});
  GraphMaker m(r.bits(), opset, r.chance(0.04) ? DType::float64 : DType::float32);
  Cell x = m.input(input_shape(r));
  for (std::int64_t i = r.pick<std::int64_t>({1, 1, 2, 2, 3}); i > 0; --i) {
    x = phrase(m, x);
    if (m.random.chance(0.12)) x = m.random.pick(m.cells);
  }
  if (m.cells.size() == 1) m.cells.push_back(m.node("Relu", {x.id}));
  choose_outputs(m);
  auto feeds = samples(m);
  if (m.random.chance(0.12)) open_batch(m);
  m.graph().verify();
  const std::string bytes = onnx_bytes(m.graph());
  return {seed, read_onnx(std::as_bytes(std::span(bytes.data(), bytes.size()))), std::move(feeds)};
}

}  // namespace assay::testing
