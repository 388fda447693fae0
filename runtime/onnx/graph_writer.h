// Graph to GraphProto, and Assay's own operators to functions. For the files of runtime/onnx only.
#pragma once

#include <map>
#include <set>
#include <string>

#include "onnx/onnx_pb.h"
#include "runtime/graph.h"
#include "runtime/onnx/data_file.h"

namespace assay {

void write_type(const ValueType& type, onnx::TypeProto& proto);

class GraphWriter {
 public:
  /// `data` receives large weights; nullptr keeps them in the model.
  explicit GraphWriter(DataFile* data) : data_(data) {}

  void write(const Graph& g, onnx::GraphProto& proto,
             const std::set<std::string>& outer_names = {});
  /// The functions that the written nodes need, by name.
  const std::map<std::string, onnx::FunctionProto>& functions() const { return functions_; }

 private:
  void write_values(const Graph& g, onnx::GraphProto& proto);
  void write_initializer(const Tensor& tensor, const std::string& name, onnx::TensorProto& proto);
  void write_node(const Graph& g, const Node& node, const std::set<std::string>& names,
                  onnx::NodeProto& proto);
  void write_attribute(const Attribute& a, const std::set<std::string>& names,
                       onnx::AttributeProto& proto);
  void add_function(const Graph& g, const Node& node);
  onnx::FunctionProto function_of(const Graph& body, const Node& node,
                                  const std::map<std::string, std::int64_t>& opsets);

  DataFile* data_;
  std::map<std::string, onnx::FunctionProto> functions_;
};

}  // namespace assay
