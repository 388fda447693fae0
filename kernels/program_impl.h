// The parts of a compiled program, shared by the compiler, the runner and the tuner.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/program.h"

namespace assay::kernels {

/// A buffer of the program. Arena buffers share one allocation; inputs point into what the caller
/// fed.
struct Storage {
  enum class Kind { arena, constant, input };
  Kind kind = Kind::arena;
  Slot slot;
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t overrun = 0;  // bytes behind the slot that a kernel writes without meaning
  Tensor constant = {};      // keeps the memory of a constant
  std::byte* data = nullptr;
};

inline constexpr std::int64_t end_of_run = std::numeric_limits<std::int64_t>::max();

struct Step {
  std::unique_ptr<Kernel> kernel;
  std::vector<int> inputs;  // storage numbers, -1 where absent or baked
  std::vector<int> outputs;
  StepInfo info;
  std::int64_t static_bytes = 0;  // of baked constants
};

/// Where a value can be read, and after which step (-1: from the start).
struct Tap {
  std::int64_t step = -1;
  int storage = -1;
  Slot slot;
};

struct OutputPlace {
  std::string name;
  int storage = -1;
  Slot slot;
};

/// 64-byte aligned memory that is never resized.
class AlignedBuffer {
 public:
  explicit AlignedBuffer(std::int64_t bytes = 0);
  std::byte* data() const { return memory_.get(); }
  std::int64_t bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::int64_t bytes_ = 0;
};

struct Program::Impl {
  Graph graph;
  ProgramOptions options;
  int threads = 1;
  std::vector<Storage> storages;
  std::vector<Step> steps;
  std::vector<StepInfo> infos;
  std::map<std::string, int> inputs;  // name -> storage
  std::vector<OutputPlace> outputs;
  std::map<std::string, Tap> taps;
  AlignedBuffer arena;
  AlignedBuffer scratch;
  bool resting = false;  // no arena
  Feeds kept;            // the buffers that the input storages point into

  /// Runs the steps and shows each wanted value while its buffer holds it.
  void execute_with_taps(const std::set<std::string>& values,
                         const std::function<void(const std::string&, const Tap&)>& on_tap);

  void allocate();
  void bind_step(const Step& step);
  void bind_inputs(const Feeds& feeds);
  void rest();
  void refresh_infos();
};

/// Sets OpenMP's thread count for the calling thread and puts the old one back.
class ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;
};

/// Row-major copy of a buffer in either layout.
Tensor plain_copy(const std::byte* data, const Slot& slot);

std::unique_ptr<Program::Impl> compile_program(const Graph& graph,
                                               const std::map<std::string, Shape>& input_shapes,
                                               const ProgramOptions& options);
/// Chooses variants by timing them inside the program, or takes them from the cache file.
void tune_program(Program& program, Program::Impl& impl);

}  // namespace assay::kernels
