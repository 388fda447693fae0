// Graph to GraphProto, and Assay's own operators to functions. For the files of runtime/onnx only.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "onnx/onnx_pb.h"
#include "runtime/graph.h"
#include "runtime/onnx/data_file.h"

namespace assay {

/// Between an operator's name and the number of its further function bodies: "ConvClip__2".
inline constexpr const char* form_mark = "__";
std::string form_name(const std::string& op_type, std::size_t form);
/// The operator's name again.
std::string without_form(const std::string& op_type);

void write_type(const ValueType& type, onnx::TypeProto& proto);

class GraphWriter {
 public:
  /// `data` receives large weights; nullptr keeps them in the model.
  explicit GraphWriter(DataFile* data) : data_(data) {}

  void write(const Graph& g, onnx::GraphProto& proto,
             const std::set<std::string>& outer_names = {});
  /// The functions that the written nodes need, by name.
  std::vector<onnx::FunctionProto> functions() const;

 private:
  void write_values(const Graph& g, onnx::GraphProto& proto);
  void write_initializer(const Tensor& tensor, const std::string& name, onnx::TensorProto& proto);
  void write_node(const Graph& g, const Node& node, const std::set<std::string>& names,
                  onnx::NodeProto& proto);
  void write_attribute(const Attribute& a, const std::set<std::string>& names,
                       onnx::AttributeProto& proto);
  /// Returns the operator name to write: that of the function whose body is the node's.
  std::string add_function(const Graph& g, const Node& node);
  onnx::FunctionProto function_of(const Graph& body, const Node& node,
                                  const std::map<std::string, std::int64_t>& opsets);

  DataFile* data_;
  struct Written {
    onnx::FunctionProto proto;
    std::set<std::string> called_with;  ///< names of the attributes that some call has
    /// Makes one function of both, if that leaves every call as it was.
    bool merge(const onnx::FunctionProto& other, const std::set<std::string>& other_called_with);
  };
  std::map<std::string, std::vector<Written>> functions_;  // by operator; mostly one body each
};

}  // namespace assay
