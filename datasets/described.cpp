// Folders with data.json: splits as JSON Lines (one sample a line) or as one .npz.
#include <algorithm>
#include <cstring>
#include <sstream>

#include "datasets/folder_sources.h"
#include "runtime/file.h"
#include "runtime/json_fields.h"
#include "runtime/npy.h"
#include "runtime/onnx/reader.h"

namespace assay {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

struct Line {
  std::string id;
  std::map<std::string, std::string> files;
  std::optional<std::int64_t> label;
  std::map<std::string, std::string> sha256;
};

/// Data files come from whoever made the folder; they stay inside it.
fs::path inside(const fs::path& folder, const std::string& relative, const std::string& where) {
  const fs::path clean = fs::path(relative).lexically_normal();
  if (clean.empty() || clean.is_absolute() || *clean.begin() == "..") {
    throw Error(
        {.what = "file lies outside the data folder", .where = where, .got = "'" + relative + "'"});
  }
  return folder / clean;
}

Line read_line(const std::string& text, const std::string& where) {
  json object;
  try {
    object = json::parse(text);
  } catch (const json::parse_error&) {
    throw Error({.what = "not valid JSON", .where = where});
  }
  JsonFields f(object, where);
  Line line;
  line.id = f.get<std::string>("id");
  line.files = f.get<std::map<std::string, std::string>>("inputs");
  if (f.has("target")) line.label = f.get<std::int64_t>("target");
  line.sha256 = f.get_or<std::map<std::string, std::string>>("sha256", {});
  f.done();
  return line;
}

/// Gives a single sample its leading axis when the file leaves it out.
Tensor with_batch_axis(const Tensor& t, const Graph& g, const std::string& input) {
  const auto v = g.find_value(input);
  if (!v || !g.value(*v).type.dims) return t;
  const auto rank = static_cast<std::int64_t>(g.value(*v).type.dims->size());
  if (t.shape().rank() + 1 != rank) return t;
  std::vector<std::int64_t> dims{1};
  dims.insert(dims.end(), t.shape().dims().begin(), t.shape().dims().end());
  return t.reshaped(Shape(std::move(dims)));
}

Tensor read_raw(const fs::path& file, const InputSpec& spec) {
  const std::string bytes = read_file(file);
  Tensor t(spec.dtype, spec.shape);
  if (static_cast<std::int64_t>(bytes.size()) != t.bytes()) {
    throw Error({.what = "raw file has the wrong size",
                 .where = file.string(),
                 .got = std::to_string(bytes.size()),
                 .expected = std::to_string(t.bytes()) + " bytes for " + describe(t)});
  }
  if (!bytes.empty()) std::memcpy(t.mutable_raw().data(), bytes.data(), bytes.size());
  return t;
}

class JsonLines : public Dataset {
 public:
  JsonLines(fs::path folder, DataSpec spec, const std::string& file, const Graph& graph)
      : folder_(std::move(folder)), spec_(std::move(spec)), graph_(graph) {
    const fs::path path = inside(folder_, file, (folder_ / "data.json").string());
    std::istringstream in(read_file(path));
    std::string text;
    std::string digest = read_file(folder_ / "data.json");
    for (std::int64_t number = 1; std::getline(in, text); ++number) {
      if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
      lines_.push_back(read_line(text, path.string() + ":" + std::to_string(number)));
      digest += text + '\n' + sizes_of(lines_.back());
    }
    info_.digest = sha256(digest);
  }

  std::int64_t size() const override { return static_cast<std::int64_t>(lines_.size()); }

  Sample load(std::int64_t index) const override {
    const Line& line = lines_.at(static_cast<std::size_t>(index));
    Sample s{.id = line.id, .inputs = {}, .label = line.label};
    for (const InputSpec& spec : spec_.inputs) {
      const auto it = line.files.find(spec.name);
      if (it == line.files.end()) {
        throw Error({.what = "sample has no file for input '" + spec.name + "'",
                     .where = "sample '" + line.id + "'"});
      }
      s.inputs[spec.name] =
          read(line, inside(folder_, it->second, "sample '" + line.id + "'"), spec);
    }
    return s;
  }

  void set_info(const std::string& split) {
    const std::string digest = info_.digest;
    info_ = {.source = folder_.string() + ", split " + split,
             .split = split,
             .digest = digest,
             .task = spec_.task,
             .batch = spec_.batch};
  }

 private:
  /// Sizes stand for contents that carry no sha256: hashing every image of a large set would cost
  /// more than the run.
  std::string sizes_of(const Line& line) const {
    std::string text;
    for (const auto& [name, file] : line.files) {
      std::error_code code;
      const auto size = fs::file_size(inside(folder_, file, "sample '" + line.id + "'"), code);
      text += name + ":" + (code ? std::string("missing") : std::to_string(size)) + '\n';
    }
    return text;
  }

  Tensor read(const Line& line, const fs::path& file, const InputSpec& spec) const {
    if (const auto it = line.sha256.find(spec.name);
        it != line.sha256.end() && sha256_of_file(file) != it->second) {
      throw Error({.what = "file does not match its sha256",
                   .where = file.string(),
                   .got = sha256_of_file(file),
                   .expected = it->second,
                   .kind = ErrorKind::stale_golden});
    }
    if (spec.kind == "image")
      return image_tensor(read_image(file, spec.color == "gray" ? 1 : 3), spec);
    if (spec.kind == "raw") return read_raw(file, spec);
    Tensor t;
    if (spec.kind == "npy") t = read_npy(file);
    if (spec.kind == "pb") t = read_tensor_file(file);
    if (spec.kind == "npz") {
      const auto arrays = read_npz(file);
      const auto it = arrays.find(spec.name);
      if (it == arrays.end())
        throw Error({.what = "no array named '" + spec.name + "'", .where = file.string()});
      t = it->second;
    }
    return with_batch_axis(t, graph_, spec.name);
  }

  fs::path folder_;
  DataSpec spec_;
  Graph graph_;
  std::vector<Line> lines_;
};

std::string choose_split(const DataSpec& spec, const std::string& wanted,
                         const std::string& where) {
  const std::string name = !wanted.empty()           ? wanted
                           : spec.splits.size() == 1 ? spec.splits.begin()->first
                                                     : "test";
  if (spec.splits.count(name)) return name;
  std::string list;
  for (const auto& [split, file] : spec.splits) list += (list.empty() ? "'" : ", '") + split + "'";
  throw Error({.what = "no such split", .where = where, .got = "'" + name + "'", .expected = list});
}

class Described : public Dataset {
 public:
  Described(DatasetPtr inner, DatasetInfo info) : inner_(std::move(inner)) {
    info_ = std::move(info);
  }
  std::int64_t size() const override { return inner_->size(); }
  Sample load(std::int64_t index) const override { return inner_->load(index); }

 private:
  DatasetPtr inner_;
};

}  // namespace

DatasetPtr open_described(const fs::path& folder, const std::string& wanted, const Graph& graph) {
  const fs::path file = folder / "data.json";
  const DataSpec spec = read_data_spec(file);
  const std::string split = choose_split(spec, wanted, file.string());
  const std::string& source = spec.splits.at(split);
  if (!source.ends_with(".npz")) {
    auto data = std::make_unique<JsonLines>(folder, spec, source, graph);
    data->set_info(split);
    return data;
  }
  auto inner = open_npz(inside(folder, source, file.string()), &spec, graph);
  DatasetInfo info{.source = folder.string() + ", split " + split,
                   .split = split,
                   .digest = sha256(read_file(file) + inner->info().digest),
                   .task = spec.task,
                   .batch = spec.batch};
  return std::make_unique<Described>(std::move(inner), std::move(info));
}

}  // namespace assay
