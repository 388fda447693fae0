#include "validation/session/data.h"

#include "runtime/file.h"
#include "runtime/npy.h"

namespace assay {
namespace fs = std::filesystem;
namespace {

/// The single sample given with --input.
class GivenInputs : public Dataset {
 public:
  explicit GivenInputs(const std::map<std::string, fs::path>& files) {
    std::string bytes;
    for (const auto& [name, file] : files) {
      inputs_[name] = read_npy(file);
      bytes += name + sha256_of_file(file);
    }
    info_ = {.source = "--input", .digest = sha256(bytes), .batch = 1};
  }
  std::int64_t size() const override { return 1; }
  Sample load(std::int64_t) const override { return {.id = "input", .inputs = inputs_}; }

 private:
  Feeds inputs_;
};

}  // namespace

DatasetPtr open_data(const ValidateOptions& o, const Graph& g) {
  if (!o.inputs.empty()) return std::make_unique<GivenInputs>(o.inputs);
  if (!o.data.empty()) return open_dataset(o.data, o.split, g);
  return synthetic_dataset(g, o.shapes, o.limit > 0 ? o.limit : o.synthetic_samples, o.seed);
}

std::vector<Feeds> first_samples(const Dataset& data, std::int64_t n) {
  std::vector<Feeds> list;
  for (std::int64_t i = 0; i < std::min(n, data.size()); ++i) list.push_back(data.load(i).inputs);
  return list;
}

}  // namespace assay
