#pragma once
// Threads for the reference. Work is split over outputs only, never over the terms of a sum, so the
// number of threads cannot change a bit.
#include <cstdint>
#include <functional>

namespace assay {

// Number of threads used by parallel_for; at least 1. The default is what OpenMP offers.
void set_num_threads(int threads);
int num_threads();

// Asserts round-to-nearest-even and neither flush-to-zero nor denormals-are-zero on this thread.
void assert_float_environment();

// Work on the elements or items [first, last).
using RangeFn = std::function<void(int64_t first, int64_t last)>;

// Calls fn(first, last) on disjoint ranges that cover [begin, end), each at least `grain` long
// except the last; ranges are handed out dynamically. Every thread asserts its floating-point
// environment at entry. An exception thrown by fn is rethrown to the caller. Nested calls run on
// the calling thread.
void parallel_for(int64_t begin, int64_t end, int64_t grain, const RangeFn& fn);

}  // namespace assay
