#include "validation/cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <filesystem>

#include "datasets/dataset.h"
#include "runtime/npy.h"
#include "runtime/numeric/cpu_isa.h"
#include "runtime/numeric/parallel.h"
#include "runtime/onnx/reader.h"

namespace assay {
namespace {

/// NAME=VALUE, where the name may itself hold '=': the longest known input name wins.
std::pair<std::string, std::string> split_assignment(const Graph& g, const std::string& text,
                                                     const std::string& flag) {
  std::string name;
  for (const ValueId v : g.inputs()) {
    const std::string& known = g.name(v);
    if (text.starts_with(known + "=") && known.size() > name.size()) name = known;
  }
  const auto at = name.empty() ? text.find('=') : name.size();
  if (at == std::string::npos || at == 0) {
    throw Error({.what = flag + " needs NAME=VALUE", .got = "'" + text + "'"});
  }
  return {text.substr(0, at), text.substr(at + 1)};
}

std::string known_inputs(const Graph& g) {
  std::string text;
  for (const ValueId v : g.inputs()) text += (text.empty() ? "'" : ", '") + g.name(v) + "'";
  return text.empty() ? "a model with inputs" : text;
}

void check_input_name(const Graph& g, const std::string& name) {
  const auto v = g.find_value(name);
  if (v && g.value(*v).is_input) return;
  const bool constant = v && g.constant(*v) != nullptr;
  throw Error(
      {.what = constant ? "a constant of the model cannot be given" : "the model has no such input",
       .got = "'" + name + "'",
       .expected = known_inputs(g)});
}

Shape parse_shape(const std::string& text, const std::string& flag) {
  std::vector<std::int64_t> dims;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at != end) {
    std::int64_t size = 0;
    const auto [next, failed] = std::from_chars(at, end, size);
    const bool more = next != end && *next == 'x' && next + 1 != end;
    if (failed != std::errc() || size < 0 || (next != end && !more)) {
      throw Error(
          {.what = "not a shape", .got = "'" + flag + "'", .expected = "sizes like 1x3x224x224"});
    }
    dims.push_back(size);
    at = more ? next + 1 : next;
  }
  return Shape(std::move(dims));
}

Tensor from_npz(const std::string& file, const std::string& key, const std::string& input) {
  const auto arrays = read_npz(file);
  if (key.empty() && !arrays.count(input) && arrays.size() == 1) return arrays.begin()->second;
  const auto it = arrays.find(key.empty() ? input : key);
  if (it != arrays.end()) return it->second;
  std::string names;
  for (const auto& [name, t] : arrays) names += (names.empty() ? "'" : ", '") + name + "'";
  throw Error({.what = "the file has no such array",
               .where = file,
               .got = "'" + (key.empty() ? input : key) + "'",
               .expected = names.empty() ? "an array" : names,
               .advice = "name it with FILE:KEY"});
}

bool ends_with(const std::string& file, const std::string& ending) {
  return file.size() > ending.size() && file.ends_with(ending);
}

/// The shape to fill: from --shape, else as declared.
Shape fill_shape(const Graph& g, ValueId v, const std::map<std::string, Shape>& shapes) {
  const std::string& name = g.name(v);
  if (const auto it = shapes.find(name); it != shapes.end()) return it->second;
  const ValueType& type = g.value(v).type;
  std::vector<std::int64_t> dims;
  for (const Dim& d : type.dims.value_or(std::vector<Dim>{{}})) dims.push_back(d.size);
  for (const std::int64_t d : dims) {
    if (d >= 0) continue;
    throw Error({.what = "the shape of an input is open",
                 .where = "input '" + name + "'",
                 .got = to_string(type),
                 .advice = "give it with --shape " + name +
                           "=1x3x224x224, or the data with --input " + name + "=FILE"});
  }
  return Shape(std::move(dims));
}

}  // namespace

void add_common_options(CLI::App& app, CommonOptions& o) {
  app.add_option("--threads", o.threads, "threads (results do not depend on it); 0: all")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--isa", o.isa, "cap of the instruction set: sse2, avx2, avx512");
  app.add_option("--max-tensor-bytes", o.max_tensor_bytes, "largest tensor that may be allocated")
      ->check(CLI::PositiveNumber);
  app.add_flag("--quiet", o.quiet, "no progress and no table");
  app.add_flag("--json", o.json, "machine output on standard output");
}

void apply(const CommonOptions& o) {
  if (o.threads > 0) set_num_threads(o.threads);
  if (o.max_tensor_bytes > 0) set_max_tensor_bytes(o.max_tensor_bytes);
  if (o.isa.empty()) return;
  for (const Isa isa : {Isa::sse2, Isa::avx2, Isa::avx512}) {
    if (o.isa == isa_name(isa)) return set_isa_cap(isa);
  }
  throw Error({.what = "no such instruction set",
               .got = "--isa " + o.isa,
               .expected = "sse2, avx2 or avx512"});
}

void add_input_options(CLI::App& app, InputOptions& o) {
  app.add_option("--input", o.inputs, "NAME=FILE (.npy, .npz, .npz:KEY, .pb), repeatable")
      ->type_name("NAME=FILE");
  app.add_option("--shape", o.shapes, "NAME=1x3x224x224 for inputs with open sizes, repeatable")
      ->type_name("NAME=SHAPE");
  app.add_option("--seed", o.seed, "of the synthetic fill");
}

std::map<std::string, Shape> parse_shapes(const Graph& g, const std::vector<std::string>& texts) {
  std::map<std::string, Shape> shapes;
  for (const std::string& text : texts) {
    const auto [name, value] = split_assignment(g, text, "--shape");
    check_input_name(g, name);
    shapes[name] = parse_shape(value, "--shape " + text);
  }
  return shapes;
}

std::map<std::string, std::filesystem::path> parse_input_files(
    const std::vector<std::string>& texts) {
  std::map<std::string, std::filesystem::path> files;
  for (const std::string& text : texts) {
    const auto equal = text.find('=');
    if (equal == std::string::npos)
      throw Error({.what = "not NAME=FILE", .where = "--input", .got = text});
    files[text.substr(0, equal)] = text.substr(equal + 1);
  }
  return files;
}

Tensor read_input_file(const std::string& spec, const std::string& input_name) {
  if (ends_with(spec, ".npy")) return read_npy(spec);
  if (ends_with(spec, ".pb")) return read_tensor_file(spec);
  if (ends_with(spec, ".npz")) return from_npz(spec, "", input_name);
  if (const auto at = spec.rfind(".npz:"); at != std::string::npos) {
    return from_npz(spec.substr(0, at + 4), spec.substr(at + 5), input_name);
  }
  throw Error({.what = "unknown kind of input file",
               .where = "input '" + input_name + "'",
               .got = "'" + spec + "'",
               .expected = "a file ending in .npy, .npz, .npz:KEY or .pb"});
}

LoadedFeeds load_feeds(const Graph& g, const InputOptions& o) {
  LoadedFeeds loaded;
  const auto shapes = parse_shapes(g, o.shapes);
  for (const std::string& text : o.inputs) {
    const auto [name, file] = split_assignment(g, text, "--input");
    check_input_name(g, name);
    loaded.feeds[name] = read_input_file(file, name);
  }
  if (!o.inputs.empty()) return loaded;
  for (const ValueId v : g.inputs()) {
    if (g.value(v).initializer.defined()) continue;
    const Shape shape = fill_shape(g, v, shapes);
    loaded.feeds[g.name(v)] = synthetic_tensor(g.value(v).type.dtype, shape, o.seed, g.name(v));
    loaded.synthetic.push_back(g.name(v));
  }
  return loaded;
}

}  // namespace assay
