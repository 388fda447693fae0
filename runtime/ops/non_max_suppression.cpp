// NonMaxSuppression (10, 11): per batch and class, boxes in order of falling score, each kept
// unless it overlaps a kept one by more than iou_threshold. Result: int64 [count, 3] of (batch,
// class, box).
//
// Boxes count when score > score_threshold (all, when absent). Among equal scores the lower box
// comes first. Overlap = intersection / union, in double from the float32 corners; boxes without
// area never overlap. center_point_box 0: two opposite corners (y, x, y, x); 1: (x, y, w, h).
#include <algorithm>
#include <numeric>

#include "runtime/ops/support/movement.h"

namespace assay::ops::non_max_suppression_op {
namespace {

struct Box {
  double y0, x0, y1, x1;
  double area() const { return (y1 - y0) * (x1 - x0); }
};

Box read_box(std::span<const double> v, bool center) {
  if (center) return {v[1] - v[3] / 2, v[0] - v[2] / 2, v[1] + v[3] / 2, v[0] + v[2] / 2};
  return {std::min(v[0], v[2]), std::min(v[1], v[3]), std::max(v[0], v[2]), std::max(v[1], v[3])};
}

bool overlaps(const Box& a, const Box& b, double threshold) {
  const double height = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  const double width = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
  if (!(height > 0.0) || !(width > 0.0)) return false;
  const double common = height * width;
  const double total = a.area() + b.area() - common;
  return a.area() > 0.0 && b.area() > 0.0 && total > 0.0 && common / total > threshold;
}

struct Options {
  std::int64_t most = 0;
  double iou = 0.0;
  bool has_score = false;
  double score = 0.0;
};

Options read_options(const EvalContext& c) {
  Options o;
  if (c.has_input(2)) o.most = to_ints(c.input(2)).at(0);
  if (c.has_input(3)) o.iou = to_doubles(c.input(3)).at(0);
  o.has_score = c.has_input(4);
  if (o.has_score) o.score = to_doubles(c.input(4)).at(0);
  if (!(o.iou >= 0.0 && o.iou <= 1.0))
    throw Error({.what = "iou_threshold is not in [0, 1]", .got = std::to_string(o.iou)});
  return o;
}

std::vector<std::int64_t> keep(const std::vector<Box>& boxes, std::span<const double> scores,
                               const Options& o) {
  std::vector<std::int64_t> order(boxes.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto score = [&](std::int64_t i) { return scores[static_cast<std::size_t>(i)]; };
  if (o.has_score) std::erase_if(order, [&](std::int64_t i) { return !(score(i) > o.score); });
  std::erase_if(order, [&](std::int64_t i) { return score(i) != score(i); });
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return score(a) > score(b); });
  std::vector<std::int64_t> kept;
  for (const std::int64_t i : order) {
    if (static_cast<std::int64_t>(kept.size()) >= o.most) break;
    const Box& box = boxes[static_cast<std::size_t>(i)];
    const bool covered = std::any_of(kept.begin(), kept.end(), [&](std::int64_t k) {
      return overlaps(boxes[static_cast<std::size_t>(k)], box, o.iou);
    });
    if (!covered) kept.push_back(i);
  }
  return kept;
}

void infer(InferContext& c) {
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    if (c.input(i).dims && c.input(i).dims->size() != 3)
      throw Error({.what = "boxes [batch, n, 4] and scores [batch, classes, n] are needed",
                   .got = to_string(c.input(i))});
  }
  c.set_output(0, {DType::int64, std::vector<std::int64_t>{-1, 3}});
}

void check_shapes(const Shape& boxes, const Shape& scores) {
  if (boxes[2] == 4 && boxes[0] == scores[0] && boxes[1] == scores[2]) return;
  throw Error({.what = "boxes and scores do not fit",
               .got = to_string(boxes) + " and " + to_string(scores),
               .expected = "[batch, n, 4] and [batch, classes, n]"});
}

void eval(EvalContext& c) {
  const Shape& scores = c.input(1).shape();
  check_shapes(c.input(0).shape(), scores);
  const Options options = read_options(c);
  const bool center = c.attributes().int_or("center_point_box", 0) != 0;
  const auto corners = to_doubles(c.input(0));
  const auto all_scores = to_doubles(c.input(1));
  const auto count = static_cast<std::size_t>(scores[2]);
  std::vector<std::int64_t> found;
  for (std::int64_t b = 0; b < scores[0]; ++b) {
    std::vector<Box> boxes;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = (static_cast<std::size_t>(b) * count + i) * 4;
      boxes.push_back(read_box(std::span(corners).subspan(at, 4), center));
    }
    for (std::int64_t k = 0; k < scores[1]; ++k) {
      const auto at = static_cast<std::size_t>(b * scores[1] + k) * count;
      for (const std::int64_t i : keep(boxes, std::span(all_scores).subspan(at, count), options))
        found.insert(found.end(), {b, k, i});
    }
  }
  c.output(0) = Tensor::of<std::int64_t>({static_cast<std::int64_t>(found.size()) / 3, 3},
                                         std::span<const std::int64_t>(found));
}

const RegisterOp registered{
    {.type = "NonMaxSuppression", .since = 10, .infer = infer, .eval = eval}};

}  // namespace
}  // namespace assay::ops::non_max_suppression_op
