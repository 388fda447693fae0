// Small graphs with every type stated, so that programs compile without the operators' inference.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/graph.h"

namespace assay::kernels {

class GraphMaker {
 public:
  GraphMaker() {
    graph.info.opsets[""] = 13;
    graph.info.opsets["ai.assay"] = 1;
  }
  ValueId input(const std::string& name, DType dtype, const Shape& shape) {
    return graph.add_input(name, type_of(dtype, shape));
  }
  ValueId constant(const std::string& name, Tensor t) {
    return graph.add_initializer(name, std::move(t));
  }
  /// A node named like its output.
  ValueId node(const std::string& op, const std::string& output, std::vector<ValueId> inputs,
               DType dtype, const Shape& shape, Attributes attributes = {},
               const std::string& domain = {}) {
    const ValueId y = graph.add_value(output, type_of(dtype, shape));
    graph.add_node({.name = output,
                    .op_type = op,
                    .domain = domain,
                    .inputs = std::move(inputs),
                    .outputs = {y},
                    .attributes = std::move(attributes),
                    .captures = {}});
    return y;
  }

  Graph graph;
};

/// Repeatable pseudo-random numbers (a linear congruential generator; the low bits are dropped).
class Random {
 public:
  explicit Random(std::uint32_t seed) : state_(seed * 2654435761U + 1U) {}
  std::uint32_t bits() {
    state_ = state_ * 1664525U + 1013904223U;
    return state_ >> 8U;
  }
  /// Integer in [low, high].
  int integer(int low, int high) {
    return low + static_cast<int>(bits() % static_cast<std::uint32_t>(high - low + 1));
  }
  /// In [-1, 1), 24 significant bits.
  float real() {
    return static_cast<float>(static_cast<int>(bits()) - (1 << 23)) / static_cast<float>(1 << 23);
  }
  Tensor reals(const Shape& shape) {
    Tensor t(DType::float32, shape);
    for (float& v : t.mutable_data<float>()) v = real();
    return t;
  }
  template <class T>
  Tensor codes(const Shape& shape, int low, int high) {
    Tensor t(dtype_of<T>, shape);
    for (T& v : t.mutable_data<T>()) v = static_cast<T>(integer(low, high));
    return t;
  }

 private:
  std::uint32_t state_;
};

}  // namespace assay::kernels
