// Choosing between variants of the same result by timing them inside the running program.
//
// Every run draws the variant of each step at random, steps of one signature alike, so neighbours
// and caches are those of a real run, whichever they will be. A variant costs its own time and what
// the step behind it takes beyond its usual time; lower quartiles decide, since whatever else the
// machine does only adds to a time. The fastest of many is partly the luckiest, and its neighbours
// were mostly losers: the winners and the defaults are drawn once more, and the whole choice is
// then timed against the defaults, in turn, and dropped unless it wins again.
// The choice is kept in a JSON file: {"<isa> t<threads> <step signature>": "<implementation>"}.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

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

/// Steps of one signature take one variant: they share their times.
struct Group {
  std::vector<std::size_t> steps;
  std::vector<std::size_t> variants;  ///< candidates, the default first
};

std::vector<Group> group_steps(const Program::Impl& impl, const std::vector<Names>& names) {
  std::map<std::pair<std::string, Names>, std::size_t> known;
  std::vector<Group> groups;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto key = std::pair(signature(impl, impl.steps[i]), names[i]);
    const auto at = known.emplace(key, groups.size()).first->second;
    if (at == groups.size()) {
      groups.push_back({.steps = {}, .variants = std::vector<std::size_t>(names[i].size())});
      std::iota(groups[at].variants.begin(), groups[at].variants.end(), std::size_t{0});
    }
    groups[at].steps.push_back(i);
  }
  return groups;
}

/// A variant of every group.
using Choice = std::vector<std::size_t>;

void select(Program::Impl& impl, const std::vector<Group>& groups, const Choice& choice) {
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const std::size_t i : groups[g].steps) impl.steps[i].kernel->select(choice[g]);
  }
}

/// One timed run: the choice it ran with and the seconds of every step.
struct Run {
  Choice choice;
  std::vector<double> seconds;
};

Run time_run(Program& program, Program::Impl& impl, const std::vector<Group>& groups,
             Choice choice) {
  select(impl, groups, choice);
  Run run{.choice = std::move(choice), .seconds = {}};
  program.execute_timed(run.seconds);
  return run;
}

double total(const Run& run) {
  return std::accumulate(run.seconds.begin(), run.seconds.end(), 0.0);
}

/// As many runs as fit the time for tuning, `least` at any rate.
int runs_for(const Run& typical, int least) {
  constexpr double seconds = 1.0;
  constexpr int most = 1000;
  return std::clamp(static_cast<int>(seconds / std::max(total(typical), 1e-6)), least,
                    std::max(least, most));
}

/// Runs with variants drawn at random, each as often as the others of its group.
std::vector<Run> trial_runs(Program& program, Program::Impl& impl, const std::vector<Group>& groups,
                            int rounds) {
  std::size_t most = 1;
  for (const Group& g : groups) most = std::max(most, g.variants.size());
  const Choice defaults(groups.size(), 0);
  time_run(program, impl, groups, defaults);  // warms up
  const int count =
      runs_for(time_run(program, impl, groups, defaults), rounds * static_cast<int>(most));
  std::mt19937 random(1);
  std::vector<Run> runs;
  for (int r = 0; r < count; ++r) {
    Choice choice;
    for (const Group& g : groups) choice.push_back(g.variants[random() % g.variants.size()]);
    runs.push_back(time_run(program, impl, groups, std::move(choice)));
  }
  return runs;
}

/// What a step costs with its own variant v, and what the step behind it then costs beyond its
/// usual time: a kernel that leaves its output in the other core's cache pays later.
class Costs {
 public:
  Costs(const std::vector<Group>& groups, const std::vector<Run>& runs)
      : groups_(groups), runs_(runs), group_of_(runs[0].seconds.size()) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (const std::size_t i : groups[g].steps) group_of_[i] = g;
    }
    for (std::size_t i = 0; i < group_of_.size(); ++i) {
      for (const std::size_t v : groups[group_of_[i]].variants)
        own_[{i, v}] =
            lower_quartile(with_variant(i, v, [&](const Run& r) { return r.seconds[i]; }));
    }
  }

  double of(std::size_t g, std::size_t v) const {
    double sum = 0;
    for (const std::size_t i : groups_[g].steps) {
      sum += own(i, v);
      if (i + 1 == group_of_.size()) continue;
      sum += lower_quartile(with_variant(i, v, [&](const Run& r) {
        return r.seconds[i + 1] - own(i + 1, r.choice[group_of_[i + 1]]);
      }));
    }
    return sum;
  }

 private:
  double own(std::size_t i, std::size_t v) const { return own_.at({i, v}); }

  template <class F>
  std::vector<double> with_variant(std::size_t i, std::size_t v, const F& f) const {
    std::vector<double> list;
    for (const Run& r : runs_) {
      if (r.choice[group_of_[i]] == v) list.push_back(f(r));
    }
    if (list.empty()) list.push_back(std::numeric_limits<double>::infinity());
    return list;
  }

  const std::vector<Group>& groups_;
  const std::vector<Run>& runs_;
  std::vector<std::size_t> group_of_;
  std::map<std::pair<std::size_t, std::size_t>, double> own_;  // by step and variant
};

/// A later candidate must cost less than `margin` times the best before it.
Choice best_of(const std::vector<Group>& groups, const std::vector<Run>& runs, double margin) {
  const Costs costs(groups, runs);
  Choice chosen;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    chosen.push_back(groups[g].variants[0]);
    double least = costs.of(g, chosen[g]);
    for (const std::size_t v : groups[g].variants) {
      const double t = costs.of(g, v);
      if (!(t < margin * least)) continue;
      least = t;
      chosen[g] = v;
    }
  }
  return chosen;
}

/// Every group with its default and the variant that `choice` gives it.
std::vector<Group> finalists(std::vector<Group> groups, const Choice& choice) {
  for (std::size_t g = 0; g < groups.size(); ++g) {
    groups[g].variants = {0};
    if (choice[g] != 0) groups[g].variants.push_back(choice[g]);
  }
  return groups;
}

Choice choose_variants(Program& program, Program::Impl& impl, const std::vector<Group>& groups) {
  const int rounds = impl.options.tune_rounds;
  // More than timer noise, so that repeated tunings agree.
  const Choice first = best_of(groups, trial_runs(program, impl, groups, rounds), 0.98);
  const auto few = finalists(groups, first);
  const Choice chosen = best_of(few, trial_runs(program, impl, few, rounds), 1.0);
  const Choice defaults(groups.size(), 0);
  std::vector<double> with_chosen, with_defaults;
  for (int r = 0; r < rounds; ++r) {
    with_defaults.push_back(total(time_run(program, impl, groups, defaults)));
    with_chosen.push_back(total(time_run(program, impl, groups, chosen)));
  }
  return lower_quartile(with_chosen) < lower_quartile(with_defaults) ? chosen : defaults;
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
    const auto groups = group_steps(impl, names);
    const Choice chosen = choose_variants(program, impl, groups);
    select(impl, groups, chosen);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::size_t i = groups[g].steps[0];
      if (names[i].size() > 1) cache[signature(impl, impl.steps[i])] = names[i][chosen[g]];
    }
    write_cache(impl.options.tune_cache, cache);
  }
  for (Step& s : impl.steps) s.kernel->settle();
  impl.allocate();
  impl.kept.clear();
}

}  // namespace assay::kernels
