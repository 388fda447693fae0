#include "runtime/ops/support/int_list.h"

#include <algorithm>

namespace assay::ops {
namespace {

IntList list_of(const Tensor& t) {
  if (t.shape().rank() > 1) {
    throw Error({.what = "a list of integers must have rank 0 or 1", .got = describe(t)});
  }
  Ints values = to_ints(t);
  const auto count = static_cast<std::int64_t>(values.size());
  return {true, true, std::move(values), count};
}

IntList attribute_list(const Attributes& a, const IntsFrom& from) {
  if (from.attribute == nullptr || !a.has(from.attribute)) return {};
  Ints values = a.required_ints(from.attribute);
  const auto count = static_cast<std::int64_t>(values.size());
  return {true, true, std::move(values), count};
}

}  // namespace

IntList input_ints(const InferContext& c, std::size_t i) {
  if (!c.has_input(i)) return {};
  if (const Tensor* t = c.constant(i)) return list_of(*t);
  IntList unknown{.given = true};
  if (i < c.input_types.size() && c.input_types[i].dims && c.input_types[i].dims->size() == 1)
    unknown.count = (*c.input_types[i].dims)[0];
  return unknown;
}

IntList input_ints(const EvalContext& c, std::size_t i) {
  return c.has_input(i) ? list_of(c.input(i)) : IntList{};
}

IntList find_ints(const InferContext& c, const IntsFrom& from) {
  return c.opset < from.input_since ? attribute_list(c.attributes(), from)
                                    : input_ints(c, from.input);
}

IntList find_ints(const EvalContext& c, const IntsFrom& from) {
  return c.opset < from.input_since ? attribute_list(c.attributes(), from)
                                    : input_ints(c, from.input);
}

Ints normalized_axes(const Ints& axes, std::int64_t rank) {
  Ints out;
  for (const std::int64_t axis : axes) {
    out.push_back(normalize_axis(axis, rank));
    if (std::count(out.begin(), out.end(), out.back()) > 1) {
      throw Error({.what = "an axis is named twice", .got = "axes " + to_text(axes)});
    }
  }
  return out;
}

void require_count(const char* what, const Ints& list, std::size_t expected) {
  if (list.size() == expected) return;
  throw Error({.what = std::string("wrong number of ") + what,
               .got = to_text(list),
               .expected = std::to_string(expected) + " values"});
}

std::string to_text(const Ints& list) {
  std::string text = "[";
  for (std::size_t i = 0; i < list.size(); ++i) text += (i ? ", " : "") + std::to_string(list[i]);
  return text + "]";
}

}  // namespace assay::ops
