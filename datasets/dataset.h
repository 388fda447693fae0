// Datasets: samples by index, loaded when asked for, so that any number of them streams through
// constant memory.
//
// open_dataset understands a folder with data.json, a folder of ONNX test_data_set_* folders, a
// folder of class folders with images, or one .npz by input names. Everything else is an error that
// names the nearest example.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datasets/data_spec.h"
#include "runtime/executor.h"

namespace assay {

struct Sample {
  std::string id;
  Feeds inputs;  ///< by input name, each with its leading axis of 1 (or more, for pb and npy files)
  std::optional<std::int64_t> label = {};  ///< class index
  Feeds expected = {};                     ///< stated outputs of ONNX test data, by output name
};

struct DatasetInfo {
  std::string source;  ///< "datasets/digits, split test" or "synthetic, seed 1"
  std::string split = {};
  std::string digest = {};  ///< sha256 over what defines the samples
  bool synthetic = false;
  TaskSpec task = {};
  std::int64_t batch =
      16;  ///< samples that may be stacked along the first axis; 1 when they may not
};

class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual std::int64_t size() const = 0;
  /// Throws Error naming the file. May be called from one thread at a time.
  virtual Sample load(std::int64_t index) const = 0;
  const DatasetInfo& info() const { return info_; }

 protected:
  DatasetInfo info_;
};

using DatasetPtr = std::unique_ptr<const Dataset>;

/// `path`: a folder or an .npz. `split` picks one of data.json ("test", "calibration"); empty:
/// "test", or the only one.
DatasetPtr open_dataset(const std::filesystem::path& path, const std::string& split,
                        const Graph& graph);
/// True when `path` has a split of that name.
bool has_split(const std::filesystem::path& path, const std::string& split);

/// Seeded inputs for a graph: standard normal floats (integers 0 to 3, bools by coin), the same on
/// every machine, keyed by (seed, input name, sample, element). Shapes come from `shapes` or the
/// model; an open size other than the first throws Error that names --shape.
DatasetPtr synthetic_dataset(const Graph& graph, const std::map<std::string, Shape>& shapes,
                             std::int64_t samples, std::uint64_t seed);

/// One number of the counter-based generator: uniform in [0, 2^64). SplitMix64 finaliser over a mix
/// of the three keys.
std::uint64_t random_bits(std::uint64_t seed, const std::string& name, std::uint64_t index);
/// One tensor of the synthetic fill.
Tensor synthetic_tensor(DType dtype, const Shape& shape, std::uint64_t seed,
                        const std::string& name);

/// Samples stacked along the first axis: ids, labels, inputs.
struct Batch {
  std::vector<Sample> samples;
  Feeds inputs;
};
/// Loads [begin, end) and stacks. Throws Error when shapes beyond the first axis differ.
Batch load_batch(const Dataset& data, std::int64_t begin, std::int64_t end);

/// Concatenates along the first axis. All must have one type and equal trailing shapes.
Tensor stack_rows(const std::vector<Tensor>& parts, const std::string& what);

}  // namespace assay
