// GraphProto to Graph: wiring, attributes, subgraphs. For the files of runtime/onnx only.
#pragma once

#include "onnx/onnx_pb.h"
#include "runtime/onnx/functions.h"
#include "runtime/onnx/reader.h"
#include "runtime/onnx/tensor_proto.h"

namespace assay {

/// What all graphs of one model share while they are read.
struct ModelReading {
  ReadOptions options = {};
  ModelInfo info = {};
  TensorSource source = {};
  FunctionLibrary* functions = nullptr;
};

ValueType read_type(const onnx::TypeProto& type);

/// Reads one graph; `outer` is the reader of the graph that holds it, for the values it captures.
class GraphReader {
 public:
  GraphReader(ModelReading& reading, const onnx::GraphProto& proto, GraphReader* outer = nullptr);
  Graph read();

 private:
  [[noreturn]] void fail(const onnx::NodeProto& node, ErrorParts parts) const;
  std::string node_name(const onnx::NodeProto& node) const;
  void declare(const std::string& name) const;
  bool sees(const std::string& name) const;
  ValueType type_seen(const std::string& name) const;
  std::optional<ValueId> resolve(const std::string& name);

  void read_inputs();
  void read_initializers();
  void read_constants();
  void declare_outputs();
  void read_types();
  void read_nodes();
  void read_outputs();
  void read_node(const onnx::NodeProto& proto);
  Tensor constant_value(const onnx::NodeProto& proto) const;
  Attribute read_attribute(const onnx::AttributeProto& proto, Node& node);
  GraphPtr read_body(const onnx::GraphProto& proto, Node& node);

  ModelReading& reading_;
  const onnx::GraphProto& proto_;
  GraphReader* outer_;
  int depth_;
  Graph graph_;
  std::vector<const onnx::NodeProto*> nodes_;
  std::set<std::string> node_names_;
  std::set<std::string> undefined_;  // node outputs whose node has not been read yet
};

}  // namespace assay
