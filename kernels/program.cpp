#include "kernels/program.h"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>

#include "kernels/memory_plan.h"
#include "kernels/program_impl.h"
#include "runtime/numeric/transpose.h"

namespace assay::kernels {
namespace {

using Clock = std::chrono::steady_clock;

void check_compiled_type(const std::string& name, const Slot& slot, const Tensor& t) {
  if (t.dtype() == slot.dtype && t.shape() == slot.shape) return;
  throw Error({.what = "the program was compiled for another input",
               .where = "input '" + name + "'",
               .got = describe(t),
               .expected = to_string(slot.dtype) + " " + to_string(slot.shape),
               .advice = "compile it again for this shape"});
}

}  // namespace

AlignedBuffer::AlignedBuffer(std::int64_t bytes) : bytes_((bytes + 63) / 64 * 64) {
  if (bytes_ == 0) return;
  auto* p = static_cast<std::byte*>(std::aligned_alloc(64, static_cast<std::size_t>(bytes_)));
  if (p == nullptr) throw std::bad_alloc();
  memory_.reset(p);
}

void AlignedBuffer::Free::operator()(std::byte* p) const { std::free(p); }

ThreadScope::ThreadScope(int threads) : before_(omp_get_max_threads()) {
  if (threads != before_) omp_set_num_threads(threads);
}

ThreadScope::~ThreadScope() {
  if (omp_get_max_threads() != before_) omp_set_num_threads(before_);
}

namespace {

/// One image from interleaved channels to planes.
template <class T>
void to_planes(const std::byte* from, std::byte* to, std::int64_t channels,
               std::int64_t positions) {
  transpose_tiles(reinterpret_cast<const T*>(from), channels, positions, channels,
                  reinterpret_cast<T*>(to));
}

}  // namespace

Tensor plain_copy(const std::byte* data, const Slot& slot) {
  Tensor out(slot.dtype, slot.shape);
  std::byte* to = out.mutable_raw().data();
  if (slot.layout == Layout::plain || layouts_coincide(slot.shape)) {
    std::memcpy(to, data, static_cast<std::size_t>(out.bytes()));
    return out;
  }
  const std::int64_t channels = slot.shape[1], positions = slot.shape.numel(2, slot.shape.rank());
  const std::int64_t size = size_of(slot.dtype), image = channels * positions * size;
  for (std::int64_t n = 0; n < slot.shape[0]; ++n, data += image, to += image) {
    switch (size) {
      case 1:
        to_planes<std::uint8_t>(data, to, channels, positions);
        break;
      case 2:
        to_planes<std::uint16_t>(data, to, channels, positions);
        break;
      case 4:
        to_planes<std::uint32_t>(data, to, channels, positions);
        break;
      default:
        ASSAY_ASSERT(size == 8);
        to_planes<std::uint64_t>(data, to, channels, positions);
    }
  }
  return out;
}

void Program::Impl::allocate() {
  std::vector<Lifetime> lifetimes;
  std::vector<Storage*> placed;
  std::int64_t scratch_bytes = 0;
  for (Step& s : steps) scratch_bytes = std::max(scratch_bytes, s.kernel->scratch_bytes());
  for (Storage& s : storages) {
    if (s.kind != Storage::Kind::arena) continue;
    lifetimes.push_back({s.slot.bytes() + s.overrun, s.first, s.last});
    placed.push_back(&s);
  }
  const MemoryPlan plan = plan_memory(lifetimes);
  arena = AlignedBuffer(plan.bytes);
  scratch = AlignedBuffer(scratch_bytes);
  for (std::size_t i = 0; i < placed.size(); ++i) placed[i]->data = arena.data() + plan.offsets[i];
  for (const Step& s : steps) bind_step(s);
  resting = false;
}

void Program::Impl::rest() {
  arena = AlignedBuffer();
  scratch = AlignedBuffer();
  kept.clear();
  for (const auto& [name, index] : inputs) storages[static_cast<std::size_t>(index)].data = nullptr;
  resting = true;
}

void Program::Impl::bind_step(const Step& step) {
  Binding binding;
  binding.scratch = scratch.data();
  for (const int s : step.inputs) {
    binding.inputs.push_back(s < 0 ? nullptr : storages[static_cast<std::size_t>(s)].data);
  }
  for (const int s : step.outputs) {
    binding.outputs.push_back(s < 0 ? nullptr : storages[static_cast<std::size_t>(s)].data);
  }
  step.kernel->bind(binding);
}

void Program::Impl::bind_inputs(const Feeds& feeds) {
  check_feeds(graph, feeds);
  std::vector<char> moved(storages.size(), 0);
  for (const auto& [name, index] : inputs) {
    Storage& s = storages[static_cast<std::size_t>(index)];
    const auto it = feeds.find(name);
    const Tensor& t =
        it != feeds.end() ? it->second : graph.value(*graph.find_value(name)).initializer;
    check_compiled_type(name, s.slot, t);
    auto* data = const_cast<std::byte*>(t.raw().data());
    moved[static_cast<std::size_t>(index)] = data != s.data;
    s.data = data;
    kept[name] = t;
  }
  if (resting) return allocate();
  for (const Step& step : steps) {
    bool touched = false;
    for (const int i : step.inputs)
      touched = touched || (i >= 0 && moved[static_cast<std::size_t>(i)]);
    if (touched) bind_step(step);
  }
}

void Program::Impl::refresh_infos() {
  infos.clear();
  for (Step& s : steps) {
    if (s.info.kernel != "reference") s.info.kernel = s.kernel->implementation();
    s.info.arithmetic = s.kernel->arithmetic();
    infos.push_back(s.info);
  }
}

Program::Program(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Program::~Program() = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;

Program Program::compile(const Graph& graph, const std::map<std::string, Shape>& input_shapes,
                         ProgramOptions options) {
  options.threads = options.threads > 0 ? options.threads : omp_get_max_threads();
  const ThreadScope scope(options.threads);
  Program program(compile_program(graph, input_shapes, options));
  program.impl_->allocate();
  if (options.tune) tune_program(program, *program.impl_);
  program.impl_->refresh_infos();
  return program;
}

void Program::bind_inputs(const Feeds& feeds) { impl_->bind_inputs(feeds); }
void Program::rest() { impl_->rest(); }

void Program::execute() {
  ASSAY_ASSERT(!impl_->resting);
  const ThreadScope scope(impl_->threads);
  for (const Step& s : impl_->steps) s.kernel->run();
}

void Program::execute_timed(std::vector<double>& seconds) {
  const ThreadScope scope(impl_->threads);
  seconds.resize(impl_->steps.size());
  auto before = Clock::now();
  for (std::size_t i = 0; i < impl_->steps.size(); ++i) {
    impl_->steps[i].kernel->run();
    const auto now = Clock::now();
    seconds[i] = std::chrono::duration<double>(now - before).count();
    before = now;
  }
}

std::map<std::string, Tensor> Program::outputs() const {
  ASSAY_ASSERT(!impl_->resting);
  std::map<std::string, Tensor> out;
  for (const OutputPlace& o : impl_->outputs) {
    out[o.name] = plain_copy(impl_->storages[static_cast<std::size_t>(o.storage)].data, o.slot);
  }
  return out;
}

void Program::Impl::execute_with_taps(
    const std::set<std::string>& values,
    const std::function<void(const std::string&, const Tap&)>& on_tap) {
  std::multimap<std::int64_t, std::string> wanted;  // step -> value
  for (const std::string& name : values) {
    const auto it = taps.find(name);
    if (it != taps.end()) wanted.emplace(it->second.step, name);
  }
  const auto collect = [&](std::int64_t step) {
    const auto [first, last] = wanted.equal_range(step);
    for (auto it = first; it != last; ++it) on_tap(it->second, taps.at(it->second));
  };
  const ThreadScope scope(threads);
  collect(-1);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i].kernel->run();
    collect(static_cast<std::int64_t>(i));
  }
}

std::map<std::string, Tensor> Program::run(const Feeds& feeds, const std::set<std::string>& also) {
  bind_inputs(feeds);
  if (also.empty()) {
    execute();
    return outputs();
  }
  std::map<std::string, Tensor> kept;
  impl_->execute_with_taps(also, [&](const std::string& name, const Tap& tap) {
    kept[name] = plain_copy(impl_->storages[static_cast<std::size_t>(tap.storage)].data, tap.slot);
  });
  for (auto& [name, tensor] : outputs()) kept[name] = tensor;
  return kept;
}

void Program::visit(const Feeds& feeds, const std::set<std::string>& values,
                    const std::function<void(const std::string&, const Tensor&)>& show) {
  bind_inputs(feeds);
  impl_->execute_with_taps(values, [&](const std::string& name, const Tap& tap) {
    const std::byte* data = impl_->storages[static_cast<std::size_t>(tap.storage)].data;
    show(name, Tensor(tap.slot.dtype, Shape{tap.slot.shape.numel()},
                      std::shared_ptr<const std::byte>(data, [](const std::byte*) {})));
  });
  for (const auto& [name, tensor] : outputs()) {
    if (values.count(name) != 0 && impl_->taps.count(name) == 0) show(name, tensor);
  }
}

const std::vector<StepInfo>& Program::steps() const { return impl_->infos; }
std::int64_t Program::arena_bytes() const { return impl_->arena.bytes() + impl_->scratch.bytes(); }
int Program::threads() const { return impl_->threads; }

}  // namespace assay::kernels
