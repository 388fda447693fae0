// Model-local functions: which calls are inlined, and the nodes they stand for. For the files of
// runtime/onnx only.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "onnx/onnx_pb.h"
#include "runtime/onnx/reader.h"

namespace assay {

/// "" for both names of the standard domain.
std::string normal_domain(const std::string& domain);

class FunctionLibrary {
 public:
  /// Throws Error for doubled functions, for functions that call each other without end, and beyond
  /// the nesting limit.
  FunctionLibrary(const onnx::ModelProto& model, const ReadOptions& options);

  /// The nodes of a graph with every inlined call replaced, in order. New nodes live as long as the
  /// library. `opsets` are the versions of the model; a domain that only a function imports is
  /// added. Throws Error (unsupported) when a function needs another version of an operator than
  /// the model has.
  std::vector<const onnx::NodeProto*> expanded(const onnx::GraphProto& graph,
                                               std::map<std::string, std::int64_t>& opsets);

 private:
  struct Function {
    const onnx::FunctionProto* proto = nullptr;
    std::vector<onnx::AttributeProto> defaults = {};
  };
  using Key = std::tuple<std::string, std::string, std::string>;  // domain, name, overload
  class Call;

  static Key key_of(const onnx::NodeProto& node);
  const Function* find(const onnx::NodeProto& node) const;
  std::int64_t check_calls(const Key& key, std::vector<Key>& stack);
  void expand(const onnx::NodeProto& node, std::map<std::string, std::int64_t>& opsets,
              std::vector<const onnx::NodeProto*>& out);
  void collect_names(const onnx::GraphProto& graph);

  ReadOptions options_;
  std::map<Key, Function> functions_;
  std::map<Key, std::int64_t> sizes_;  // nodes of a call, calls inside included; saturating
  std::unordered_set<std::string> names_;
  std::deque<onnx::NodeProto> made_;
};

}  // namespace assay
