// Seeded fills. Every number depends only on (seed, tensor name, index), so that threads, batches
// and machines agree.
//
// The normal numbers are the sum of twelve uniforms minus six (Irwin-Hall): only exact additions of
// dyadic numbers, no elementary function whose last bit could differ between machines.
#include <cmath>

#include "datasets/dataset.h"

namespace assay {
namespace {

/// SplitMix64's output function (Steele, Lea, Flood, "Fast splittable pseudorandom number
/// generators", 2014).
std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

std::uint64_t name_key(const std::string& name) {
  std::uint64_t h = 0xCBF29CE484222325U;  // FNV-1a
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return h;
}

std::uint64_t stream_of(std::uint64_t seed, const std::string& name) {
  return mixed(seed + 0x9E3779B97F4A7C15U) ^ name_key(name);
}

/// Twelve 10-bit uniforms from two words; multiples of 2^-10, exact in every float type but half
/// precision.
double normal(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  for (int i = 0; i < 6; ++i) sum += ((a >> (10 * i)) & 1023U) + ((b >> (10 * i)) & 1023U);
  return (static_cast<double>(sum) + 6 - 6144) / 1024;
}

template <class T>
T fill_value(std::uint64_t stream, std::uint64_t i) {
  const std::uint64_t a = mixed(stream + 0x9E3779B97F4A7C15U * (2 * i + 1));
  if constexpr (std::is_same_v<T, bool>) {
    return (a & 1U) != 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(a & 3U);
  } else {
    return T(normal(a, mixed(stream + 0x9E3779B97F4A7C15U * (2 * i + 2))));
  }
}

}  // namespace

std::uint64_t random_bits(std::uint64_t seed, const std::string& name, std::uint64_t index) {
  return mixed(stream_of(seed, name) + 0x9E3779B97F4A7C15U * (index + 1));
}

Tensor synthetic_tensor(DType dtype, const Shape& shape, std::uint64_t seed,
                        const std::string& name) {
  Tensor t(dtype, shape);
  const std::uint64_t stream = stream_of(seed, name);
  visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    auto out = t.mutable_data<T>();
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = fill_value<T>(stream, i);
  });
  return t;
}

namespace {

class SyntheticDataset : public Dataset {
 public:
  SyntheticDataset(const Graph& g, const std::map<std::string, Shape>& shapes, std::int64_t samples,
                   std::uint64_t seed)
      : samples_(samples), seed_(seed) {
    info_ = {.source = "synthetic fill, seed " + std::to_string(seed), .synthetic = true};
    for (const ValueId v : g.inputs()) {
      if (g.value(v).initializer.defined()) continue;  // a default the caller need not give
      add_input(g, v, shapes);
    }
    info_.digest = "synthetic-" + std::to_string(seed);
  }

  std::int64_t size() const override { return samples_; }

  Sample load(std::int64_t index) const override {
    Sample s{.id = "synthetic-" + std::to_string(index), .inputs = {}};
    for (const auto& [name, type] : inputs_) {
      s.inputs[name] = synthetic_tensor(type.first, type.second,
                                        seed_ + static_cast<std::uint64_t>(index), name);
    }
    return s;
  }

 private:
  void add_input(const Graph& g, ValueId v, const std::map<std::string, Shape>& shapes) {
    const std::string& name = g.name(v);
    const ValueType& type = g.value(v).type;
    if (const auto it = shapes.find(name); it != shapes.end()) {
      inputs_[name] = {type.dtype, it->second};
      if (it->second.rank() == 0 || it->second[0] != 1) info_.batch = 1;
      return;
    }
    Shape shape;
    bool open = !type.dims;
    std::vector<std::int64_t> dims;
    for (std::size_t i = 0; type.dims && i < type.dims->size(); ++i) {
      const std::int64_t d = (*type.dims)[i].size;
      open = open || (d < 0 && i > 0);
      dims.push_back(d < 0 ? 1 : d);  // an open first axis is the batch
    }
    if (open) {
      throw Error({.what = "shape is open",
                   .where = "input '" + name + "'",
                   .got = to_string(type),
                   .advice = "give it with --shape " + name + "=1x3x224x224"});
    }
    if (dims.empty() || (*type.dims)[0].size >= 0) info_.batch = 1;
    inputs_[name] = {type.dtype, Shape(std::move(dims))};
  }

  std::int64_t samples_;
  std::uint64_t seed_;
  std::map<std::string, std::pair<DType, Shape>> inputs_;
};

}  // namespace

DatasetPtr synthetic_dataset(const Graph& graph, const std::map<std::string, Shape>& shapes,
                             std::int64_t samples, std::uint64_t seed) {
  return std::make_unique<SyntheticDataset>(graph, shapes, samples, seed);
}

}  // namespace assay
