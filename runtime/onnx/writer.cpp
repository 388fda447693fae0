#include "runtime/onnx/writer.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <climits>
#include <memory>

#include "runtime/file.h"
#include "runtime/infer.h"
#include "runtime/onnx/graph_writer.h"
#include "runtime/onnx/tensor_proto.h"

namespace assay {
namespace {

// Initializers need not be listed as inputs from IR 4 on, functions exist from IR 8 on.
constexpr std::int64_t ir_of_initializers = 4;
constexpr std::int64_t ir_of_functions = 8;

std::int64_t weight_bytes(const Graph& g) {
  std::int64_t bytes = 0;
  for (const ValueId v : g.value_ids()) bytes += g.value(v).initializer.bytes();
  for (const NodeId n : g.node_ids()) {
    for (const auto& [name, a] : g.node(n).attributes.items()) {
      if (const auto* body = std::get_if<GraphPtr>(&a)) bytes += weight_bytes(**body);
    }
  }
  return bytes;
}

/// Other tools want the element type of every output stated; a rewritten output may have lost it.
Graph with_output_types(const Graph& graph) {
  Graph g = graph;
  const bool stated = std::all_of(g.outputs().begin(), g.outputs().end(), [&](ValueId v) {
    return g.value(v).type.dtype != DType::undefined;
  });
  if (stated) return g;
  const StaticTypes types = infer_types(g);
  for (const ValueId v : g.outputs()) {
    if (g.value(v).type.dtype != DType::undefined) continue;
    const TensorType& found = types.type(v);
    ValueType type{.dtype = found.dtype};
    if (found.dims) {
      type.dims.emplace();
      for (const std::int64_t d : *found.dims) type.dims->push_back({.size = d});
    }
    g.set_type(v, std::move(type));
  }
  return g;
}

void write_info(const Graph& g, const GraphWriter& writer, onnx::ModelProto& model) {
  const auto functions = writer.functions();
  const std::int64_t least = functions.empty() ? ir_of_initializers : ir_of_functions;
  model.set_ir_version(std::max(g.info.ir_version, least));
  model.set_producer_name(g.info.producer);
  if (!g.info.producer_version.empty()) model.set_producer_version(g.info.producer_version);
  if (!g.info.doc.empty()) model.set_doc_string(g.info.doc);
  auto opsets = g.info.opsets;
  if (!functions.empty()) opsets.emplace(assay_domain, 1);
  for (const auto& [domain, version] : opsets) {
    auto& import = *model.add_opset_import();
    import.set_domain(domain);
    import.set_version(version);
  }
  for (const auto& [key, value] : g.info.metadata) {
    auto& entry = *model.add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  }
  for (const auto& function : functions) *model.add_functions() = function;
}

std::string serialized(const google::protobuf::MessageLite& message) {
  const std::size_t size = message.ByteSizeLong();
  if (size > INT_MAX) {
    throw Error({.what = "the model is larger than the 2 GiB that an ONNX file can hold",
                 .got = fmt::format("{} bytes", size)});
  }
  std::string bytes;
  bytes.reserve(size);
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream out(&stream);
  out.SetSerializationDeterministic(true);
  message.SerializePartialToCodedStream(&out);
  out.Trim();
  return bytes;
}

std::string written(const Graph& graph, DataFile* data) {
  const Graph g = with_output_types(graph);
  onnx::ModelProto model;
  GraphWriter writer(data);
  writer.write(g, *model.mutable_graph());
  write_info(g, writer, model);
  return serialized(model);
}

}  // namespace

std::string onnx_bytes(const Graph& graph) { return written(graph, nullptr); }

void write_onnx(const Graph& graph, const std::filesystem::path& path,
                const WriteOptions& options) {
  std::unique_ptr<DataFile> data;
  try {
    if (weight_bytes(graph) > options.max_inline_bytes) {
      data = std::make_unique<DataFile>(path, path.filename().string() + ".data");
    }
    const std::string bytes = written(graph, data.get());
    if (data) data->commit();
    write_file(path, bytes);
  } catch (const Error& e) {
    if (e.parts().where.starts_with(path.string())) throw;
    throw e.at(path.string());
  }
}

void write_tensor_file(const Tensor& tensor, const std::string& name,
                       const std::filesystem::path& path) {
  onnx::TensorProto proto;
  write_tensor(tensor, name, proto);
  const std::string bytes = serialized(proto);
  write_file(path, bytes);
}

}  // namespace assay
