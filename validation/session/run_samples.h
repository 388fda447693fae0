// Runs every form over the samples of a data set and records each sample.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "datasets/dataset.h"
#include "validation/session/forms.h"
#include "validation/session/performance.h"
#include "validation/session/records.h"
#include "validation/task.h"

namespace assay {

struct SamplePlan {
  std::int64_t count = 0;  ///< samples of the whole run
  std::int64_t batch = 1;
  std::int64_t shard = 1, shards = 1;  ///< batches b with b % shards == shard - 1 are ours, so that
                                       ///< a batch is the same in any split
  const Task* task = nullptr;
  std::string output;  ///< the output that the task reads
  bool allow_nonfinite = false;
};

/// Adds records for the samples that `file` does not hold yet. Throws Error naming sample and input
/// when data hold NaN or infinities.
void run_samples(const Dataset& data, const std::vector<Runner>& runners, const SamplePlan& plan,
                 RecordFile& file, Stopwatch& watch,
                 const std::function<void(std::int64_t done, std::int64_t total)>& progress);

}  // namespace assay
