#include "runtime/onnx/tensor_proto.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstring>

namespace assay {
namespace {

static_assert(std::endian::native == std::endian::little, "tensor data are stored little endian");

/// The typed field that holds a type, by ONNX's rule, and how many entries it has.
enum class Field {
  none,
  float_data,
  int32_data,
  int64_data,
  double_data,
  uint64_data,
  string_data
};

Field field_of(DType t) {
  switch (t) {
    case DType::float32:
      return Field::float_data;
    case DType::float64:
      return Field::double_data;
    case DType::int64:
      return Field::int64_data;
    case DType::uint32:
    case DType::uint64:
      return Field::uint64_data;
    case DType::string:
      return Field::string_data;
    case DType::uint8:
    case DType::int8:
    case DType::uint16:
    case DType::int16:
    case DType::int32:
    case DType::boolean:
    case DType::float16:
    case DType::bfloat16:
      return Field::int32_data;
    default:
      return Field::none;
  }
}

std::int64_t entries(const onnx::TensorProto& p, Field f) {
  switch (f) {
    case Field::float_data:
      return p.float_data_size();
    case Field::int32_data:
      return p.int32_data_size();
    case Field::int64_data:
      return p.int64_data_size();
    case Field::double_data:
      return p.double_data_size();
    case Field::uint64_data:
      return p.uint64_data_size();
    case Field::string_data:
      return p.string_data_size();
    case Field::none:
      return 0;
  }
  return 0;
}

std::int64_t all_entries(const onnx::TensorProto& p) {
  return std::int64_t{p.float_data_size()} + p.int32_data_size() + p.int64_data_size() +
         p.double_data_size() + p.uint64_data_size() + p.string_data_size();
}

Shape shape_of(const onnx::TensorProto& p) {
  Shape shape(std::vector<std::int64_t>(p.dims().begin(), p.dims().end()));
  shape.numel();  // throws for negative sizes and overflow
  return shape;
}

/// A view when the memory is aligned for the type, else a copy.
Tensor viewed(DType dtype, const Shape& shape, const void* data,
              const std::shared_ptr<const void>& owner) {
  const auto* bytes = static_cast<const std::byte*>(data);
  Tensor view(dtype, shape, std::shared_ptr<const std::byte>(owner, bytes));
  if (view.bytes() == 0) return Tensor(dtype, shape);
  const bool aligned = reinterpret_cast<std::uintptr_t>(data) % 8 == 0;
  return aligned && owner ? view : view.clone();
}

Tensor from_raw(const onnx::TensorProto& p, DType dtype, const Shape& shape,
                const TensorSource& source) {
  const std::int64_t want = bytes_of(dtype, shape);
  const auto found = static_cast<std::int64_t>(p.raw_data().size());
  if (found != want) {
    throw Error(
        {.what = "raw data of the wrong length",
         .got = fmt::format("{} bytes", found),
         .expected = fmt::format("{} bytes for {} {}", want, to_string(dtype), to_string(shape))});
  }
  Tensor t = viewed(dtype, shape, p.raw_data().data(), source.message);
  if (dtype != DType::boolean) return t;
  // A bool other than 0 and 1 is undefined to C++.
  t = t.clone();
  for (std::byte& b : t.mutable_raw()) b = std::byte{b != std::byte{0}};
  return t;
}

/// Entries of a wider field narrowed to the elements; bits above the element's width are ignored
/// (they are sign extension in most files, and carry no meaning for float16 and bfloat16).
template <class Entries>
Tensor narrowed(const Entries& in, DType dtype, const Shape& shape) {
  Tensor t(dtype, shape);
  std::byte* out = t.mutable_raw().data();
  const auto size = static_cast<std::size_t>(size_of(dtype));
  for (const auto& entry : in) {
    if (dtype == DType::boolean) {
      *out = std::byte{entry != 0};
    } else {
      std::memcpy(out, &entry, size);
    }
    out += size;
  }
  return t;
}

Tensor from_field(const onnx::TensorProto& p, DType dtype, const Shape& shape,
                  const TensorSource& source) {
  const Field field = field_of(dtype);
  const std::int64_t found = entries(p, field);
  if (found != shape.numel() || all_entries(p) != found) {
    throw Error({.what = "stored data do not fit the shape",
                 .got = fmt::format("{} elements", all_entries(p)),
                 .expected = fmt::format("{} for {} {}", shape.numel(), to_string(dtype),
                                         to_string(shape))});
  }
  switch (field) {
    case Field::float_data:
      return viewed(dtype, shape, p.float_data().data(), source.message);
    case Field::double_data:
      return viewed(dtype, shape, p.double_data().data(), source.message);
    case Field::int64_data:
      return viewed(dtype, shape, p.int64_data().data(), source.message);
    case Field::uint64_data:
      if (dtype == DType::uint64)
        return viewed(dtype, shape, p.uint64_data().data(), source.message);
      return narrowed(p.uint64_data(), dtype, shape);
    case Field::int32_data:
      if (dtype == DType::int32) return viewed(dtype, shape, p.int32_data().data(), source.message);
      return narrowed(p.int32_data(), dtype, shape);
    default:
      return Tensor(dtype, shape, nullptr);
  }
}

std::int64_t parsed_number(const std::string& key, const std::string& text) {
  std::int64_t n = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (failed != std::errc() || end != text.data() + text.size() || n < 0) {
    throw Error({.what = "external data with a bad " + key,
                 .got = "'" + text + "'",
                 .expected = "a whole number of bytes"});
  }
  return n;
}

Tensor from_file(const onnx::TensorProto& p, DType dtype, const Shape& shape,
                 const TensorSource& source) {
  if (all_entries(p) > 0 || !p.raw_data().empty()) {
    throw Error({.what = "tensor has both external and stored data"});
  }
  if (source.external == nullptr) throw Error({.what = "external data are not allowed here"});
  ExternalPlace place;
  for (const auto& entry : p.external_data()) {
    if (entry.key() == "location") place.location = entry.value();
    if (entry.key() == "offset") place.offset = parsed_number("offset", entry.value());
    if (entry.key() == "length") place.length = parsed_number("length", entry.value());
  }
  return source.external->read(dtype, shape, place);
}

Tensor read_elements(const onnx::TensorProto& p, const TensorSource& source) {
  const auto dtype = static_cast<DType>(p.data_type());
  if (dtype == DType::undefined) throw Error({.what = "tensor has no element type"});
  const Shape shape = shape_of(p);
  if (p.has_segment())
    throw Error({.what = "tensor stored in segments", .kind = ErrorKind::unsupported});
  const bool ours = size_of(dtype) > 0 && dtype != DType::dd;
  if (!ours && dtype != DType::string) return Tensor(dtype, shape, nullptr);
  if (p.data_location() == onnx::TensorProto::EXTERNAL) return from_file(p, dtype, shape, source);
  if (p.has_raw_data() && all_entries(p) > 0) {
    throw Error({.what = "tensor has both raw and typed data",
                 .got = fmt::format("{} raw bytes and {} typed elements", p.raw_data().size(),
                                    all_entries(p)),
                 .expected = "one of them"});
  }
  const bool raw = p.has_raw_data() && ours;
  return raw ? from_raw(p, dtype, shape, source) : from_field(p, dtype, shape, source);
}

}  // namespace

Tensor read_tensor(const onnx::TensorProto& proto, const TensorSource& source,
                   const std::string& name) {
  try {
    return read_elements(proto, source);
  } catch (const Error& e) {
    throw e.at("tensor '" + (name.empty() ? proto.name() : name) + "'");
  }
}

void write_tensor(const Tensor& tensor, const std::string& name, onnx::TensorProto& proto) {
  if (size_of(tensor.dtype()) == 0 || tensor.dtype() == DType::dd) {
    throw Error({.what = "cannot write a tensor of this element type",
                 .where = "tensor '" + name + "'",
                 .got = to_string(tensor.dtype()),
                 .kind = ErrorKind::unsupported});
  }
  proto.set_name(name);
  proto.set_data_type(static_cast<int>(tensor.dtype()));
  for (const std::int64_t d : tensor.shape().dims()) proto.add_dims(d);
  const auto raw = tensor.raw();
  proto.set_raw_data(raw.data(), raw.size());
}

}  // namespace assay
