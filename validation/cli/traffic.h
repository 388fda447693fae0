// What running a graph operator by operator reads and writes: the cost that merging operators
// saves.
//
//   read    = sum over calls of the bytes of every activation input, once per reading slot
//   written = sum over calls of the bytes of every output
// A call is a node that reads something that changes from run to run. Weights are not counted.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "runtime/graph.h"

namespace assay {

struct Traffic {
  std::int64_t calls = 0;
  std::int64_t read = 0;     ///< bytes
  std::int64_t written = 0;  ///< bytes
  std::int64_t open = 0;     ///< activations whose shapes are not known: not counted
};

Traffic traffic_of(const Graph& g, const std::map<std::string, Shape>& shapes = {});

/// The graph as it stands, and its integer form when it holds quantizers.
struct TrafficReport {
  Traffic graph = {};
  std::optional<Traffic> integer = {};
};
TrafficReport measure_traffic(const Graph& g, const std::map<std::string, Shape>& shapes);

std::string to_text(const TrafficReport& r);
/// Adds the key "traffic".
void add_to(nlohmann::json& j, const TrafficReport& r);

}  // namespace assay
