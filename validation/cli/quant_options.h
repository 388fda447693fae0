// Flags that `calibrate` and `quantize` share, and what they mean.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "quant/calibrate.h"
#include "quant/config.h"
#include "validation/cli/options.h"

namespace assay {

struct CalibrationFlags {
  std::string data = {};
  std::string split = {};
  std::string config = {};
  std::string scheme = {};
  std::string target = {};
  std::string product = {};
  std::string algorithm = {};
  std::string mode = "bn";
  std::string backend = "onednn";
  double percentile = 0;
  std::int64_t limit = 0;
  std::int64_t samples = 16;
  std::uint64_t seed = 0;
  std::vector<std::string> shapes = {};
};
void add_calibration_flags(CLI::App& app, CalibrationFlags& flags);

/// The configuration file, with the flags over it.
QuantConfig config_of(const CalibrationFlags& flags);
/// The model after the fusions of --mode.
Graph quantizer_input(const std::string& model, const CalibrationFlags& flags);
/// Runs over --data (its calibration split when there is one), or over a synthetic fill.
CalibrationTable calibrate_from_flags(const Graph& g, const QuantConfig& config,
                                      const CalibrationFlags& flags, const CommonOptions& common);
/// Input shapes for counting MACs: --shape, with a first axis of 1 where nothing is stated.
std::map<std::string, Shape> count_shapes(const Graph& g, const CalibrationFlags& flags);
/// NaN and infinities that were kept out, one line per value, on standard error.
void print_calibration_notes(const CalibrationTable& table);

}  // namespace assay
