#include "validation/bench/layers.h"

#include "validation/bench/samples.h"

namespace assay::bench {

std::vector<std::vector<LayerTime>> time_layers(std::span<kernels::Program* const> programs,
                                                int rounds) {
  std::vector<std::vector<std::vector<double>>> ms(programs.size());
  for (std::size_t p = 0; p < programs.size(); ++p) ms[p].resize(programs[p]->steps().size());
  std::vector<double> seconds;
  for (int i = 0; i < rounds; ++i) {
    for (std::size_t p = 0; p < programs.size(); ++p) {
      programs[p]->execute_timed(seconds);
      for (std::size_t k = 0; k < seconds.size(); ++k) ms[p][k].push_back(seconds[k] * 1e3);
    }
  }
  std::vector<std::vector<LayerTime>> rows(programs.size());
  for (std::size_t p = 0; p < programs.size(); ++p) {
    for (std::size_t k = 0; k < ms[p].size(); ++k)
      rows[p].push_back({programs[p]->steps()[k], median_of(ms[p][k])});
  }
  return rows;
}

double rate(const LayerTime& layer) {
  return layer.ms > 0 ? 2.0 * static_cast<double>(layer.step.macs) / layer.ms * 1e-6 : 0;
}

double share_of_roof(const LayerTime& layer, const Roofline& roofline) {
  const kernels::StepInfo& s = layer.step;
  const double limit = roofline.limit(s.arithmetic.has_value(), s.macs, s.bytes);
  return limit > 0 ? rate(layer) / limit : 0;
}

}  // namespace assay::bench
