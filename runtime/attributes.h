// Attributes of a node: named values with typed, checked access.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "runtime/tensor.h"

namespace assay {

class Graph;
using GraphPtr = std::shared_ptr<const Graph>;

using Attribute =
    std::variant<std::int64_t, float, std::string, Tensor, GraphPtr, std::vector<std::int64_t>,
                 std::vector<float>, std::vector<std::string>, std::vector<Tensor>>;

/// Ordered by name, so that files are written the same way each time. An attribute of the wrong
/// kind throws Error naming it.
class Attributes {
 public:
  // Defined out of line: every source would otherwise instantiate the map of variants anew.
  Attributes();
  Attributes(std::initializer_list<std::pair<const std::string, Attribute>> items);
  Attributes(const Attributes&);
  Attributes(Attributes&&) noexcept;
  Attributes& operator=(const Attributes&);
  Attributes& operator=(Attributes&&) noexcept;
  ~Attributes();

  bool has(const std::string& name) const;
  void set(const std::string& name, Attribute value);
  void erase(const std::string& name);
  const std::map<std::string, Attribute>& items() const { return items_; }

  std::int64_t int_or(const std::string& name, std::int64_t missing) const;
  float float_or(const std::string& name, float missing) const;
  std::string string_or(const std::string& name, std::string missing) const;
  std::vector<std::int64_t> ints_or(const std::string& name,
                                    std::vector<std::int64_t> missing) const;
  std::vector<float> floats_or(const std::string& name, std::vector<float> missing) const;
  /// These throw Error when the attribute is missing.
  std::int64_t required_int(const std::string& name) const;
  std::vector<std::int64_t> required_ints(const std::string& name) const;
  const Tensor& required_tensor(const std::string& name) const;
  const Graph& required_graph(const std::string& name) const;

 private:
  template <class T>
  const T* find(const std::string& name) const;
  std::map<std::string, Attribute> items_;
};

/// Same kind and value; tensors by bits, graphs by identity.
bool same(const Attributes& a, const Attributes& b);

}  // namespace assay
