#include "kernels/onednn/engine.h"

#include <atomic>
#include <cstring>

namespace assay::kernels {
namespace {

std::atomic<bool>& used() {
  static std::atomic<bool> flag{false};
  return flag;
}

using Tag = dnnl::memory::format_tag;

Tag channels_last_tag(std::int64_t rank) {
  switch (rank) {
    case 3:
      return Tag::acb;
    case 4:
      return Tag::acdb;
    case 5:
      return Tag::acdeb;
    default:
      return Tag::undef;
  }
}

}  // namespace

dnnl::engine& cpu_engine() {
  static dnnl::engine engine = [] {
    used() = true;
    dnnl::set_primitive_cache_capacity(0);
    return dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return engine;
}

dnnl::stream& cpu_stream() {
  static dnnl::stream stream(cpu_engine());
  return stream;
}

bool engine_in_use() { return used(); }

std::optional<dnnl::memory::data_type> dnnl_type(DType t) {
  using Type = dnnl::memory::data_type;
  switch (t) {
    case DType::float32:
      return Type::f32;
    case DType::uint8:
      return Type::u8;
    case DType::int8:
      return Type::s8;
    case DType::int32:
      return Type::s32;
    default:
      return std::nullopt;
  }
}

MemoryDesc describe_memory(DType dtype, const Shape& shape, Layout layout) {
  const auto type = dnnl_type(dtype);
  ASSAY_ASSERT(type.has_value());
  if (layout == Layout::plain || shape.rank() < 3) return plain_memory(dtype, shape.vec());
  const Tag tag = channels_last_tag(shape.rank());
  ASSAY_ASSERT(tag != Tag::undef);
  return MemoryDesc(shape.vec(), *type, tag);
}

MemoryDesc plain_memory(DType dtype, const std::vector<std::int64_t>& dims) {
  if (dims.empty()) return MemoryDesc({1}, *dnnl_type(dtype), dnnl::memory::dims{1});
  return MemoryDesc(dims, *dnnl_type(dtype), Shape(dims).strides());
}

MemoryDesc any_memory(DType dtype, const std::vector<std::int64_t>& dims) {
  return MemoryDesc(dims, *dnnl_type(dtype), Tag::any);
}

dnnl::memory packed(const MemoryDesc& from, const void* data, const MemoryDesc& to) {
  dnnl::memory source(from, cpu_engine(), const_cast<void*>(data));
  dnnl::memory target(to, cpu_engine());
  dnnl::reorder(source, target).execute(cpu_stream(), source, target);
  cpu_stream().wait();
  return target;
}

dnnl::memory vector_memory(const std::vector<float>& values) {
  const auto size = static_cast<std::int64_t>(values.size());
  dnnl::memory m(plain_memory(DType::float32, {size}), cpu_engine());
  std::memcpy(m.get_data_handle(), values.data(), values.size() * sizeof(float));
  return m;
}

dnnl::memory zero_point_memory(std::int32_t value) {
  dnnl::memory m(plain_memory(DType::int32, {1}), cpu_engine());
  *static_cast<std::int32_t*>(m.get_data_handle()) = value;
  return m;
}

PrimitiveKernel::PrimitiveKernel(Variant first, More more) : more_(std::move(more)) {
  prepared_.push_back(prepare(std::move(first)));
}

PrimitiveKernel::Prepared PrimitiveKernel::prepare(Variant v) {
  Prepared p;
  p.name = std::move(v.name);
  p.primitive = std::move(v.primitive);
  p.all = std::move(v.constants);
  for (auto& [arg, index, desc] : v.inputs) {
    dnnl::memory m(desc, cpu_engine(), nullptr);
    p.inputs.emplace_back(index, m);
    p.all[arg] = m;
  }
  for (auto& [arg, index, desc] : v.outputs) {
    dnnl::memory m(desc, cpu_engine(), nullptr);
    p.outputs.emplace_back(index, m);
    p.all[arg] = m;
  }
  p.scratchpad = dnnl::memory(v.scratchpad, cpu_engine(), nullptr);
  p.all[DNNL_ARG_SCRATCHPAD] = p.scratchpad;
  for (const auto& [arg, m] : p.all) p.args.push_back({arg, m.get()});
  return p;
}

void PrimitiveKernel::set_handles(Prepared& p, const Binding& binding) {
  for (auto& [index, m] : p.inputs) m.set_data_handle(binding.inputs[index]);
  for (auto& [index, m] : p.outputs) m.set_data_handle(binding.outputs[index]);
  p.scratchpad.set_data_handle(binding.scratch);
}

void PrimitiveKernel::bind(const Binding& binding) {
  binding_ = binding;
  for (Prepared& p : prepared_) set_handles(p, binding);
}

void PrimitiveKernel::run() {
  if (before_run_) before_run_(binding_);
  const Prepared& p = prepared_[selected_];
  const dnnl_status_t status = dnnl_primitive_execute(
      p.primitive.get(), cpu_stream().get(), static_cast<int>(p.args.size()), p.args.data());
  if (status != dnnl_success) {
    throw Error({.what = "oneDNN could not run a primitive",
                 .got = p.name + ", status " + std::to_string(static_cast<int>(status)),
                 .kind = ErrorKind::internal});
  }
}

std::int64_t PrimitiveKernel::scratch_bytes() const {
  std::int64_t bytes = 0;
  for (const Prepared& p : prepared_) {
    bytes = std::max(bytes, static_cast<std::int64_t>(p.scratchpad.get_desc().get_size()));
  }
  return bytes;
}

std::vector<std::string> PrimitiveKernel::variants() {
  if (more_) {
    for (Variant& v : more_()) prepared_.push_back(prepare(std::move(v)));
    more_ = nullptr;
  }
  std::vector<std::string> names;
  for (const Prepared& p : prepared_) names.push_back(p.name);
  return names;
}

void PrimitiveKernel::settle() {
  Prepared chosen = std::move(prepared_[selected_]);
  prepared_.clear();
  prepared_.push_back(std::move(chosen));
  selected_ = 0;
  more_ = nullptr;
}

dnnl::primitive_attr make_attr() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

bool is_scalar_fallback(const std::string& implementation) {
  return implementation.rfind("ref", 0) == 0 || implementation.find(":ref") != std::string::npos;
}

Decline no_implementation(const KernelRequest& request) {
  return {"oneDNN has only a scalar implementation for this " + request.node().op_type};
}

}  // namespace assay::kernels
