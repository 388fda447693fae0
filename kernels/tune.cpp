// Choosing between variants of the same result by timing them inside the running program.
//
// In round k every step runs its variant k (or its last), so neighbours and caches are those of the
// real run; the median of each step's own times decides. The choice is kept in a JSON file: {"<isa>
// t<threads> <step signature>": "<implementation>"}.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kernels/isa.h"
#include "kernels/program_impl.h"

namespace assay::kernels {
namespace {

using Names = std::vector<std::string>;

std::string signature(const Program::Impl& impl, const Step& s) {
  std::string text = effective_isa() + " t" + std::to_string(impl.threads) + " " + s.info.op;
  for (const int i : s.inputs) {
    if (i < 0) continue;
    const Slot& slot = impl.storages[static_cast<std::size_t>(i)].slot;
    text += " " + to_string(slot.dtype) + to_string(slot.shape);
  }
  const std::string out = to_string(s.info.dtype) + to_string(s.info.shape);
  return text + " -> " + out + " macs=" + std::to_string(s.info.macs);
}

nlohmann::json read_cache(const std::string& path) {
  std::ifstream file(path);
  if (path.empty() || !file) return nlohmann::json::object();
  auto found = nlohmann::json::parse(file, nullptr, false);
  if (!found.is_object()) {
    throw Error(
        {.what = "kernel cache is not a JSON object", .where = path, .advice = "delete the file"});
  }
  return found;
}

void write_cache(const std::string& path, const nlohmann::json& cache) {
  if (path.empty()) return;
  std::ofstream file(path + ".part");
  file << cache.dump(1) << '\n';
  file.close();
  if (!file || std::rename((path + ".part").c_str(), path.c_str()) != 0) {
    throw Error({.what = "kernel cache cannot be written", .where = path});
  }
}

/// A repeatable filling: small integers, exact in every type.
Tensor filling(const Slot& slot) {
  Tensor t = Tensor::zeros(slot.dtype, slot.shape);
  if (slot.dtype != DType::float32) return t;
  std::uint32_t state = 1;
  for (float& v : t.mutable_data<float>()) {
    state = state * 1664525U + 1013904223U;
    v = static_cast<float>(static_cast<int>(state >> 24U) - 128) / 64.0F;
  }
  return t;
}

double median(std::vector<double> v) {
  const auto middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
  std::nth_element(v.begin(), middle, v.end());
  return *middle;
}

bool take_from_cache(const nlohmann::json& cache, const std::string& key, const Names& names,
                     Step& s) {
  const auto it = cache.find(key);
  if (it == cache.end()) return false;
  const auto at = std::find(names.begin(), names.end(), it->get<std::string>());
  if (at == names.end()) return false;
  s.kernel->select(static_cast<std::size_t>(at - names.begin()));
  return true;
}

/// times[step][variant] = seconds of each round.
using Times = std::vector<std::vector<std::vector<double>>>;

Times time_variants(Program& program, Program::Impl& impl, const std::vector<Names>& names) {
  std::size_t most = 1;
  Times times(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    most = std::max(most, names[i].size());
    times[i].resize(names[i].size());
  }
  std::vector<double> seconds;
  for (int round = 0; round <= impl.options.tune_rounds; ++round) {
    for (std::size_t k = 0; k < most; ++k) {
      for (std::size_t i = 0; i < names.size(); ++i) {
        impl.steps[i].kernel->select(std::min(k, names[i].size() - 1));
      }
      program.execute_timed(seconds);
      if (round == 0) continue;  // the first round warms up
      for (std::size_t i = 0; i < names.size(); ++i) {
        times[i][std::min(k, names[i].size() - 1)].push_back(seconds[i]);
      }
    }
  }
  return times;
}

std::size_t best(const std::vector<std::vector<double>>& variants) {
  std::size_t found = 0;
  double least = median(variants[0]);
  for (std::size_t k = 1; k < variants.size(); ++k) {
    // A challenger must win by more than timer noise, so that repeated tunings agree.
    const double t = median(variants[k]);
    if (t < 0.97 * least) {
      least = t;
      found = k;
    }
  }
  return found;
}

}  // namespace

void tune_program(Program& program, Program::Impl& impl) {
  nlohmann::json cache = read_cache(impl.options.tune_cache);
  std::vector<Names> names;
  bool complete = true;
  for (Step& s : impl.steps) names.push_back(s.kernel->variants());
  for (std::size_t i = 0; i < impl.steps.size(); ++i) {
    if (names[i].size() < 2) continue;
    complete =
        take_from_cache(cache, signature(impl, impl.steps[i]), names[i], impl.steps[i]) && complete;
  }
  impl.allocate();  // variants may need more scratch
  if (!complete) {
    Feeds feeds;
    for (const auto& [name, s] : impl.inputs)
      feeds[name] = filling(impl.storages[static_cast<std::size_t>(s)].slot);
    impl.bind_inputs(feeds);
    const Times times = time_variants(program, impl, names);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::size_t k = best(times[i]);
      impl.steps[i].kernel->select(k);
      if (names[i].size() > 1) cache[signature(impl, impl.steps[i])] = names[i][k];
    }
    write_cache(impl.options.tune_cache, cache);
  }
  for (Step& s : impl.steps) s.kernel->settle();
  impl.allocate();
  impl.kept.clear();
}

}  // namespace assay::kernels
