// Choosing between variants of the same result by timing them inside the running program.
//
// In round k every step runs its variant k (or its last), so neighbours and caches are those of the
// real run; the lower quartile of each step's own times decides, since whatever else the machine
// does only adds to a time. The fastest of many is partly the luckiest: every choice other than the
// default is then timed against the default once more, in turn, and dropped unless it wins again.
// The choice is kept in a JSON file: {"<isa> t<threads> <step signature>": "<implementation>"}.
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

double lower_quartile(std::vector<double> v) {
  const auto at = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 4);
  std::nth_element(v.begin(), at, v.end());
  return *at;
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

/// A variant of every step.
using Choice = std::vector<std::size_t>;
/// times[step][k] = seconds of each round under the k-th choice.
using Times = std::vector<std::vector<std::vector<double>>>;

/// Runs the choices in turn, `rounds` times after one that warms up.
Times time_choices(Program& program, Program::Impl& impl, const std::vector<Choice>& choices,
                   int rounds) {
  Times times(impl.steps.size(), std::vector<std::vector<double>>(choices.size()));
  std::vector<double> seconds;
  for (int round = 0; round <= rounds; ++round) {
    for (std::size_t k = 0; k < choices.size(); ++k) {
      for (std::size_t i = 0; i < impl.steps.size(); ++i)
        impl.steps[i].kernel->select(choices[k][i]);
      program.execute_timed(seconds);
      if (round == 0) continue;
      for (std::size_t i = 0; i < impl.steps.size(); ++i) times[i][k].push_back(seconds[i]);
    }
  }
  return times;
}

/// The k-th choice takes variant k of every step, or its last.
std::vector<Choice> all_variants(const std::vector<Names>& names) {
  std::size_t most = 1;
  for (const Names& n : names) most = std::max(most, n.size());
  std::vector<Choice> choices(most);
  for (std::size_t k = 0; k < most; ++k) {
    for (const Names& n : names) choices[k].push_back(std::min(k, n.size() - 1));
  }
  return choices;
}

/// Of the first `count` entries.
std::size_t fastest(const std::vector<std::vector<double>>& variants, std::size_t count) {
  std::size_t found = 0;
  double least = lower_quartile(variants[0]);
  for (std::size_t k = 1; k < count; ++k) {
    // A challenger must win by more than timer noise, so that repeated tunings agree.
    const double t = lower_quartile(variants[k]);
    if (t < 0.97 * least) {
      least = t;
      found = k;
    }
  }
  return found;
}

Choice choose_variants(Program& program, Program::Impl& impl, const std::vector<Names>& names) {
  const int rounds = impl.options.tune_rounds;
  const Times trial = time_choices(program, impl, all_variants(names), rounds);
  const Choice defaults(names.size(), 0);
  Choice chosen = defaults;
  for (std::size_t i = 0; i < names.size(); ++i) chosen[i] = fastest(trial[i], names[i].size());
  const Times again = time_choices(program, impl, {defaults, chosen}, rounds);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!(lower_quartile(again[i][1]) < lower_quartile(again[i][0]))) chosen[i] = 0;
  }
  return chosen;
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
    const Choice chosen = choose_variants(program, impl, names);
    for (std::size_t i = 0; i < names.size(); ++i) {
      impl.steps[i].kernel->select(chosen[i]);
      if (names[i].size() > 1) cache[signature(impl, impl.steps[i])] = names[i][chosen[i]];
    }
    write_cache(impl.options.tune_cache, cache);
  }
  for (Step& s : impl.steps) s.kernel->settle();
  impl.allocate();
  impl.kept.clear();
}

}  // namespace assay::kernels
