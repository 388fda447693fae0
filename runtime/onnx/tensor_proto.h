// TensorProto to Tensor and back. For the files of runtime/onnx only: it shows protobuf types.
//
// A tensor's elements are stored in one of three forms: raw bytes (little endian), a typed field,
// or a file beside the model. What is stored is counted before it is read. Where the stored form is
// already that of memory, the tensor is a view of the parsed message.
#pragma once

#include <memory>

#include "onnx/onnx_pb.h"
#include "runtime/onnx/external_data.h"
#include "runtime/tensor.h"

namespace assay {

/// What the elements of a TensorProto may be taken from.
struct TensorSource {
  std::shared_ptr<const void> message;  ///< keeps the TensorProto alive; views refer to it
  ExternalData* external = nullptr;     ///< nullptr: external data are refused
};

/// Throws Error naming the tensor (`name`, else the stored name), with expected and found counts. A
/// type that Assay does not have (string, float8, int4 ...) gives a tensor without accessible
/// elements: only using it is an error.
Tensor read_tensor(const onnx::TensorProto& proto, const TensorSource& source,
                   const std::string& name = {});

/// Raw form. Throws Error (unsupported) for types without elements in memory.
void write_tensor(const Tensor& tensor, const std::string& name, onnx::TensorProto& proto);

}  // namespace assay
