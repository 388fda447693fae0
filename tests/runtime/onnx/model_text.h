// Models from protobuf's text format, broken ones included.
#pragma once

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>

#include "onnx/onnx_pb.h"
#include "runtime/onnx/reader.h"

namespace assay::test {

inline onnx::ModelProto model_proto(const std::string& text) {
  onnx::ModelProto model;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &model)) << text;
  return model;
}

/// A model of this graph under IR 8 and opset 13.
inline onnx::ModelProto model_of(const std::string& graph, const std::string& more = {}) {
  return model_proto("ir_version: 8 opset_import { version: 13 } graph { name: 'g' " + graph +
                     " } " + more);
}

inline Graph read(const onnx::ModelProto& model) {
  const std::string bytes = model.SerializePartialAsString();
  return read_onnx(std::as_bytes(std::span(bytes)));
}
inline Graph read_graph(const std::string& graph) { return read(model_of(graph)); }

/// "name: 'X' type { ... }" of a float tensor with these sizes, for input, output and value_info.
inline std::string floats(const std::string& name, const std::vector<std::string>& dims) {
  std::string shape;
  for (const std::string& d : dims) {
    const bool number = d.find_first_not_of("0123456789") == std::string::npos;
    shape += "dim { " + (number ? "dim_value: " + d : "dim_param: '" + d + "'") + " } ";
  }
  return "name: '" + name + "' type { tensor_type { elem_type: 1 shape { " + shape + "} } }";
}

}  // namespace assay::test
