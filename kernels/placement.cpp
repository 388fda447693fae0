#include "kernels/placement.h"

#include <algorithm>

namespace assay::kernels {

Placement::Placement(Program::Impl& program, const std::map<std::string, Shape>& input_shapes)
    : program_(program), types_(infer_types(program.graph, input_shapes)) {
  for (const ValueId v : graph().value_ids()) reads_left_[v] = graph().use_count(v);
}

const Tensor* Placement::constant(ValueId v) const {
  if (const Tensor* t = graph().constant(v)) return t;
  const auto it = types_.constants.find(v);
  return it == types_.constants.end() ? nullptr : &it->second;
}

Slot Placement::slot_of(ValueId v) const {
  if (const Tensor* t = constant(v)) return {t->dtype(), t->shape(), Layout::plain};
  const Shape shape = types_.shape(graph(), v);
  return {types_.type(v).dtype, shape, Layout::plain};
}

Slot Placement::slot_at_hand(ValueId v) const {
  Slot slot = slot_of(v);
  if (at_hand(v, Layout::channels_last)) slot.layout = Layout::channels_last;
  return slot;
}

bool Placement::placed(ValueId v) const {
  const auto it = places_.find(v);
  return it != places_.end() && !it->second.empty();
}

bool Placement::at_hand(ValueId v, Layout layout) const {
  const auto it = places_.find(v);
  return it != places_.end() && std::any_of(it->second.begin(), it->second.end(),
                                            [&](const Place& p) { return p.layout == layout; });
}

bool Placement::dies(ValueId v, std::int64_t own) const {
  const auto it = places_.find(v);
  if (it == places_.end() || it->second.empty()) return false;
  for (const Place& p : it->second) {
    if (storage(p.storage).kind != Storage::Kind::arena) return false;
    std::int64_t left = 0;
    for (const ValueId w : values_on_.at(p.storage)) left += reads_left_.at(w);
    if (left != own) return false;
  }
  return true;
}

void Placement::add_input(ValueId v) {
  const Slot slot = slot_of(v);
  if (size_of(slot.dtype) == 0) {
    throw Error({.what = "input type is not supported by compiled programs",
                 .where = "input '" + graph().name(v) + "'",
                 .got = to_string(slot.dtype),
                 .kind = ErrorKind::unsupported});
  }
  const int s = add_storage({.kind = Storage::Kind::input, .slot = slot, .last = end_of_run});
  program_.inputs[graph().name(v)] = s;
  place(v, Layout::plain, s, -1);
}

void Placement::add_output(ValueId v) {
  const int s = fetch(v, Layout::plain);
  storage(s).last = end_of_run;
  program_.outputs.push_back({graph().name(v), s, slot_of(v)});
}

int Placement::add_storage(Storage s) {
  program_.storages.push_back(std::move(s));
  return static_cast<int>(program_.storages.size()) - 1;
}

void Placement::place(ValueId v, Layout layout, int s, std::int64_t step) {
  auto& places = places_[v];
  if (places.empty()) {
    Slot slot = slot_of(v);
    slot.layout = layout;
    program_.taps[graph().name(v)] = {step, s, slot};
    values_on_[s].push_back(v);
  }
  places.push_back({layout, s});
}

int Placement::fetch(ValueId v, Layout want) {
  if (places_[v].empty()) place_constant(v);
  for (const Place& p : places_[v]) {
    if (p.layout == want) return touch(p.storage);
  }
  const Place from = places_[v].front();
  const Slot slot = slot_of(v);
  if (layouts_coincide(slot.shape)) {
    places_[v].push_back({want, from.storage});
    return touch(from.storage);
  }
  return reorder(v, from, want);
}

int Placement::touch(int s) {
  storage(s).last = std::max(storage(s).last, next_step());
  return s;
}

void Placement::place_constant(ValueId v) {
  const Tensor* t = constant(v);
  if (t == nullptr) {
    throw Error({.what = "value is read before anything computes it",
                 .where = "value '" + graph().name(v) + "'",
                 .kind = ErrorKind::internal});
  }
  Storage s{
      .kind = Storage::Kind::constant, .slot = slot_of(v), .last = end_of_run, .constant = *t};
  s.data = const_cast<std::byte*>(t->raw().data());
  places_[v].push_back({Layout::plain, add_storage(std::move(s))});
}

int Placement::reorder(ValueId v, Place from, Layout want) {
  Slot source = slot_of(v);
  source.layout = from.layout;
  Slot target = source;
  target.layout = want;
  auto kernel = make_reorder(source, want);
  if (storage(from.storage).kind == Storage::Kind::constant) {
    return reordered_constant(v, *kernel, from, target);
  }
  touch(from.storage);
  const std::int64_t step = next_step();
  const int s = add_storage({.slot = target, .first = step, .last = step + 1});
  StepInfo info{.node = {}, .value = graph().name(v), .op = "Reorder", .layout = want};
  info.dtype = source.dtype;
  info.shape = source.shape;
  info.bytes = 2 * source.bytes();
  program_.steps.push_back({std::move(kernel), {from.storage}, {s}, std::move(info)});
  places_[v].push_back({want, s});
  values_on_[s].push_back(v);
  return s;
}

int Placement::reordered_constant(ValueId v, Kernel& kernel, Place from, const Slot& target) {
  Tensor copy(target.dtype, target.shape);
  std::byte* data = copy.mutable_raw().data();
  kernel.bind({{storage(from.storage).data}, {data}, nullptr});
  kernel.run();
  Storage s{.kind = Storage::Kind::constant, .slot = target, .last = end_of_run, .constant = copy};
  s.data = data;
  const int index = add_storage(std::move(s));
  places_[v].push_back({target.layout, index});
  return index;
}

}  // namespace assay::kernels
