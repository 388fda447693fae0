#include "runtime/onnx/reader.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>

#include <climits>

#include "runtime/mapped_file.h"
#include "runtime/onnx/graph_reader.h"

namespace assay {
namespace {

// A subgraph takes three levels of messages; far above the nesting limit, far below what the stack
// holds.
constexpr int recursion_limit = 3000;

/// What tensors that are views keep alive.
struct Parsed {
  onnx::ModelProto model;
  std::unique_ptr<FunctionLibrary> functions;
};

bool parse(google::protobuf::MessageLite& message, std::span<const std::byte> bytes) {
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                            static_cast<int>(bytes.size()));
  in.SetRecursionLimit(recursion_limit);
  return message.ParsePartialFromCodedStream(&in) && in.ConsumedEntireMessage();
}

void check_size(std::span<const std::byte> bytes) {
  if (bytes.empty()) throw Error({.what = "the file is empty", .expected = "an ONNX model"});
  if (bytes.size() > INT_MAX) {
    throw Error({.what = "the file is larger than 2 GiB, which no ONNX file can be",
                 .got = fmt::format("{} bytes", bytes.size()),
                 .advice = "save the model with external data"});
  }
}

ModelInfo read_info(const onnx::ModelProto& model) {
  ModelInfo info;
  info.ir_version = model.ir_version();
  info.producer = model.producer_name();
  info.producer_version = model.producer_version();
  info.graph_name = model.graph().name();
  info.doc = model.doc_string();
  for (const auto& import : model.opset_import()) {
    info.opsets[normal_domain(import.domain())] = import.version();
  }
  if (info.opsets.empty() && info.ir_version < 3) info.opsets[""] = 1;
  for (const auto& entry : model.metadata_props()) info.metadata[entry.key()] = entry.value();
  return info;
}

void check_model(const onnx::ModelProto& model) {
  std::string missing;
  if (model.ir_version() < 1)
    missing = "no IR version";
  else if (!model.has_graph())
    missing = "no graph";
  else if (model.ir_version() >= 3 && model.opset_import_size() == 0)
    missing = "no operator set";
  if (missing.empty()) return;
  throw Error(
      {.what = "not a whole ONNX model", .got = missing, .expected = "a model with a graph"});
}

Graph read_model(std::span<const std::byte> bytes, ExternalData* external,
                 const ReadOptions& options) {
  check_size(bytes);
  const auto parsed = std::make_shared<Parsed>();
  if (!parse(parsed->model, bytes)) {
    throw Error({.what = "cannot be parsed: not an ONNX model, cut short, or nested too deeply",
                 .got = fmt::format("{} bytes", bytes.size()),
                 .expected = "an ONNX model"});
  }
  check_model(parsed->model);
  parsed->functions = std::make_unique<FunctionLibrary>(parsed->model, options);
  ModelReading reading{.options = options,
                       .info = read_info(parsed->model),
                       .source = {.message = parsed, .external = external},
                       .functions = parsed->functions.get()};
  return GraphReader(reading, parsed->model.graph()).read();
}

}  // namespace

Graph read_onnx(const std::filesystem::path& path, const ReadOptions& options) {
  const MappedFile file(path);
  ExternalData external(path);
  try {
    return read_model(file.bytes(), &external, options);
  } catch (const Error& e) {
    throw e.at(path.string());
  }
}

Graph read_onnx(std::span<const std::byte> bytes, const ReadOptions& options) {
  return read_model(bytes, nullptr, options);
}

Tensor read_tensor_file(const std::filesystem::path& path, std::string* name) {
  const MappedFile file(path);
  try {
    check_size(file.bytes());
    const auto proto = std::make_shared<onnx::TensorProto>();
    if (!parse(*proto, file.bytes()) || proto->data_type() == 0) {
      throw Error({.what = "not a stored ONNX tensor", .expected = "a TensorProto"});
    }
    if (name != nullptr) *name = proto->name();
    return read_tensor(*proto, {.message = proto, .external = nullptr});
  } catch (const Error& e) {
    throw e.at(path.string());
  }
}

}  // namespace assay
