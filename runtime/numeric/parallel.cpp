#include "runtime/numeric/parallel.h"

#include <omp.h>
#include <xmmintrin.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <exception>

namespace assay {
namespace {

std::atomic<int> thread_count{0};  // 0: not set, use OpenMP's

struct SharedWork {
  const RangeFn& fn;
  int64_t end;
  int64_t grain;
  std::atomic<int64_t> next;
  std::atomic<bool> failed{false};
  std::exception_ptr error;
};

void take_ranges(SharedWork& work) {
  assert_float_environment();
  try {
    while (!work.failed.load(std::memory_order_relaxed)) {
      const int64_t first = work.next.fetch_add(work.grain);
      if (first >= work.end) return;
      work.fn(first, std::min(first + work.grain, work.end));
    }
  } catch (...) {
    if (!work.failed.exchange(true)) work.error = std::current_exception();
  }
}

}  // namespace

void set_num_threads(int threads) { thread_count.store(std::max(threads, 1)); }

int num_threads() {
  const int set = thread_count.load();
  return set > 0 ? set : omp_get_max_threads();
}

void assert_float_environment() {
  constexpr unsigned rounding = 0x6000U, flush_to_zero = 0x8000U, denormals_are_zero = 0x0040U;
  [[maybe_unused]] const unsigned control = _mm_getcsr();
  assert((control & (rounding | flush_to_zero | denormals_are_zero)) == 0);
}

void parallel_for(int64_t begin, int64_t end, int64_t grain, const RangeFn& fn) {
  if (begin >= end) return;
  grain = std::max<int64_t>(grain, 1);
  const int64_t ranges = (end - begin + grain - 1) / grain;
  const int threads = static_cast<int>(std::min<int64_t>(num_threads(), ranges));
  if (threads == 1 || omp_in_parallel() != 0) {
    assert_float_environment();
    fn(begin, end);
    return;
  }
  SharedWork work{.fn = fn, .end = end, .grain = grain, .next = begin, .error = nullptr};
#pragma omp parallel num_threads(threads)
  take_ranges(work);
  if (work.error) std::rethrow_exception(work.error);
}

}  // namespace assay
