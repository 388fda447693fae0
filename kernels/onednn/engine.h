// oneDNN helpers shared by the kernel families: engine, memory descriptions, primitives as kernels.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/kernel.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace assay::kernels {

using MemoryDesc = dnnl::memory::desc;

/// The one CPU engine and stream. The first call ends the time in which the instruction set may be
/// capped, and turns off the primitive cache: after a cache hit oneDNN 3.2's next_impl() starts
/// over with the default.
dnnl::engine& cpu_engine();
dnnl::stream& cpu_stream();
bool engine_in_use();

std::optional<dnnl::memory::data_type> dnnl_type(DType t);
/// Description of a tensor in a layout; rank 0 becomes one element.
MemoryDesc describe_memory(DType dtype, const Shape& shape, Layout layout);
inline MemoryDesc describe_memory(const Slot& s) {
  return describe_memory(s.dtype, s.shape, s.layout);
}
/// Row-major description with explicit sizes.
MemoryDesc plain_memory(DType dtype, const std::vector<std::int64_t>& dims);
MemoryDesc any_memory(DType dtype, const std::vector<std::int64_t>& dims);

/// A memory object with its own buffer holding `data` reordered to `to`.
dnnl::memory packed(const MemoryDesc& from, const void* data, const MemoryDesc& to);
/// A one-dimensional float32 memory object with its own buffer.
dnnl::memory vector_memory(const std::vector<float>& values);
dnnl::memory zero_point_memory(std::int32_t value);

/// One primitive with its arguments. Input and output numbers are those of the node.
struct Variant {
  std::string name;
  dnnl::primitive primitive;
  std::map<int, dnnl::memory> constants = {};  ///< argument -> memory with its own buffer
  std::vector<std::tuple<int, std::size_t, MemoryDesc>> inputs =
      {};  ///< argument, node input, description
  std::vector<std::tuple<int, std::size_t, MemoryDesc>> outputs = {};
  MemoryDesc scratchpad = {};
};

/// Runs one of several variants. `more` makes the other variants when tuning asks for them.
class PrimitiveKernel : public Kernel {
 public:
  using More = std::function<std::vector<Variant>()>;
  explicit PrimitiveKernel(Variant first, More more = nullptr);
  void bind(const Binding& binding) override;
  void run() override;
  std::string implementation() const override { return prepared_[selected_].name; }
  std::int64_t scratch_bytes() const override;
  std::optional<IntArithmetic> arithmetic() const override { return arithmetic_; }
  std::vector<std::string> variants() override;
  void select(std::size_t i) override { selected_ = i; }
  void settle() override;

  void set_arithmetic(const IntArithmetic& a) { arithmetic_ = a; }
  /// Something to do before each run: bringing a residual that must stay intact into the output.
  void before_run(std::function<void(const Binding&)> prepare) { before_run_ = std::move(prepare); }

 private:
  struct Prepared {
    std::string name;
    dnnl::primitive primitive;
    std::vector<std::pair<std::size_t, dnnl::memory>> inputs, outputs;
    dnnl::memory scratchpad;
    std::map<int, dnnl::memory> all;
    std::vector<dnnl_exec_arg_t> args;
  };
  static Prepared prepare(Variant v);
  static void set_handles(Prepared& p, const Binding& binding);

  std::vector<Prepared> prepared_;
  std::size_t selected_ = 0;
  More more_;
  std::optional<IntArithmetic> arithmetic_;
  std::function<void(const Binding&)> before_run_;
  Binding binding_;
};

/// Attributes with user-managed scratchpad, which every primitive here uses.
dnnl::primitive_attr make_attr();

/// True for implementations that are oneDNN's scalar fallbacks.
bool is_scalar_fallback(const std::string& implementation);

/// Calls `visit(desc)` for the default implementation and the next ones, scalar fallbacks left out,
/// until it returns false. The descriptor changes in place, so `visit` makes its primitive at once.
template <class Desc, class Visit>
void for_each_implementation(Desc desc, Visit&& visit) {
  do {
    if (!is_scalar_fallback(desc.impl_info_str()) && !visit(desc)) return;
  } while (desc.next_impl());
}

/// Makes a primitive descriptor, or nothing when oneDNN has none but its scalar fallback.
template <class Make>
auto try_make(Make&& make) -> std::optional<decltype(make())> {
  try {
    auto desc = make();
    if (!desc || is_scalar_fallback(desc.impl_info_str())) return std::nullopt;
    return desc;
  } catch (const dnnl::error&) {
    return std::nullopt;
  }
}

Decline no_implementation(const KernelRequest& request);

}  // namespace assay::kernels
