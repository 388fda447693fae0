// Where the values of a program lie: in which layouts, in which buffers, until which step.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/program_impl.h"

namespace assay::kernels {

/// Keeps the places of all values while steps are appended to a program. A value may lie in several
/// layouts; the one that is asked for is made by a reorder step when it is missing.
class Placement {
 public:
  Placement(Program::Impl& program, const std::map<std::string, Shape>& input_shapes);

  const Graph& graph() const { return program_.graph; }
  const StaticTypes& types() const { return types_; }

  /// The value where it is known without a run, else null.
  const Tensor* constant(ValueId v) const;
  void set_constant(ValueId v, Tensor value) { types_.constants[v] = std::move(value); }

  /// Type and shape, in plain layout.
  Slot slot_of(ValueId v) const;
  /// The same in the layout that a kernel would prefer to read: channels-last where that exists.
  Slot slot_at_hand(ValueId v) const;
  bool placed(ValueId v) const;
  bool at_hand(ValueId v, Layout layout) const;
  /// True when these `own` reading slots are the last uses of an arena buffer, aliases included.
  bool dies(ValueId v, std::int64_t own = 1) const;

  /// A node's operand has been read by a step.
  void count_read(ValueId v) { --reads_left_[v]; }

  void add_input(ValueId v);
  void add_output(ValueId v);
  int add_storage(Storage s);
  Storage& storage(int i) { return program_.storages[static_cast<std::size_t>(i)]; }
  const Storage& storage(int i) const { return program_.storages[static_cast<std::size_t>(i)]; }

  /// The content of storage `s` is `v` after `step`.
  void place(ValueId v, Layout layout, int s, std::int64_t step);
  /// Storage that holds `v` in the wanted layout, by a reorder step when there is none.
  int fetch(ValueId v, Layout want);
  /// The next step reads storage `s`.
  int touch(int s);
  std::int64_t next_step() const { return static_cast<std::int64_t>(program_.steps.size()); }

 private:
  struct Place {
    Layout layout;
    int storage;
  };

  void place_constant(ValueId v);
  int reorder(ValueId v, Place from, Layout want);
  int reordered_constant(ValueId v, Kernel& kernel, Place from, const Slot& target);

  Program::Impl& program_;
  StaticTypes types_;
  std::map<ValueId, std::vector<Place>> places_;
  std::map<int, std::vector<ValueId>> values_on_;  // storage -> values whose content it holds
  std::map<ValueId, std::int64_t> reads_left_;
};

}  // namespace assay::kernels
