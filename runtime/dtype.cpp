#include "runtime/dtype.h"

#include <array>

namespace assay {
namespace {

struct Row {
  DType type;
  const char* name;
  std::int64_t size;
};

constexpr std::array<Row, 16> rows{{
    {DType::undefined, "undefined", 0},
    {DType::float32, "float32", 4},
    {DType::uint8, "uint8", 1},
    {DType::int8, "int8", 1},
    {DType::uint16, "uint16", 2},
    {DType::int16, "int16", 2},
    {DType::int32, "int32", 4},
    {DType::int64, "int64", 8},
    {DType::string, "string", 0},
    {DType::boolean, "bool", 1},
    {DType::float16, "float16", 2},
    {DType::float64, "float64", 8},
    {DType::uint32, "uint32", 4},
    {DType::uint64, "uint64", 8},
    {DType::bfloat16, "bfloat16", 2},
    {DType::dd, "dd", 16},
}};

const Row* row_of(DType t) {
  for (const Row& r : rows) {
    if (r.type == t) return &r;
  }
  return nullptr;
}

}  // namespace

std::string to_string(DType t) {
  const Row* r = row_of(t);
  return r ? r->name : "type " + std::to_string(static_cast<int>(t));
}

std::optional<DType> parse_dtype(std::string_view name) {
  if (name == "float") return DType::float32;
  if (name == "double") return DType::float64;
  for (const Row& r : rows) {
    if (name == r.name && r.type != DType::undefined) return r.type;
  }
  return std::nullopt;
}

std::int64_t size_of(DType t) {
  const Row* r = row_of(t);
  return r ? r->size : 0;
}

bool is_float(DType t) {
  return t == DType::float32 || t == DType::float64 || t == DType::dd || t == DType::float16 ||
         t == DType::bfloat16;
}

bool is_signed(DType t) {
  return t == DType::int8 || t == DType::int16 || t == DType::int32 || t == DType::int64;
}

bool is_integer(DType t) {
  return is_signed(t) || t == DType::uint8 || t == DType::uint16 || t == DType::uint32 ||
         t == DType::uint64;
}

}  // namespace assay
