// Flags that several sub-commands share, under the same names everywhere.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "runtime/executor.h"

namespace CLI {
class App;
}

namespace assay {

/// --threads, --isa, --max-tensor-bytes, --quiet, --json.
struct CommonOptions {
  int threads = 0;
  std::string isa = {};
  std::int64_t max_tensor_bytes = 0;
  bool quiet = false;
  bool json = false;
};
void add_common_options(CLI::App& app, CommonOptions& options);
/// Makes the limits hold for this process. Throws Error for an instruction set that does not exist.
void apply(const CommonOptions& options);

/// --input, --shape, --seed.
struct InputOptions {
  std::vector<std::string> inputs = {};
  std::vector<std::string> shapes = {};
  std::uint64_t seed = 0;
};
void add_input_options(CLI::App& app, InputOptions& options);

/// "NAME=1x3x224x224", repeatable; "NAME=" is a scalar. Names are checked against the graph's
/// inputs.
std::map<std::string, Shape> parse_shapes(const Graph& g, const std::vector<std::string>& texts);

/// "NAME=FILE", repeatable. Throws Error for a text without '='.
std::map<std::string, std::filesystem::path> parse_input_files(
    const std::vector<std::string>& texts);

/// A tensor from a .npy, .npz (KEY, or else the input's name, or its only array) or .pb file; the
/// ending decides. `spec` is FILE or FILE:KEY.
Tensor read_input_file(const std::string& spec, const std::string& input_name);

struct LoadedFeeds {
  Feeds feeds = {};
  std::vector<std::string> synthetic = {};  ///< inputs that were filled with seeded numbers
};
/// Every input from its --input, or filled when there is no --input at all. Throws Error naming the
/// input and the flag to give when a shape stays open.
LoadedFeeds load_feeds(const Graph& g, const InputOptions& options);

}  // namespace assay
