#include "runtime/npy.h"

#include <zip.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <regex>

#include "runtime/file.h"

namespace assay {
namespace {

constexpr std::string_view magic("\x93NUMPY", 6);

struct Descr {
  const char* text;
  DType type;
};
// Order matters for writing: the first entry of a type is the one written.
constexpr std::array<Descr, 14> descrs{{{"f4", DType::float32},
                                        {"f8", DType::float64},
                                        {"f2", DType::float16},
                                        {"u1", DType::uint8},
                                        {"i1", DType::int8},
                                        {"u2", DType::uint16},
                                        {"i2", DType::int16},
                                        {"u4", DType::uint32},
                                        {"i4", DType::int32},
                                        {"u8", DType::uint64},
                                        {"i8", DType::int64},
                                        {"b1", DType::boolean},
                                        {"?", DType::boolean},
                                        {"u2", DType::bfloat16}}};

struct Header {
  DType dtype = DType::undefined;
  bool swapped = false;
  bool fortran = false;
  Shape shape;
};

[[noreturn]] void bad(const std::string& where, const std::string& what,
                      const std::string& got = {}) {
  throw Error({.what = what, .where = where, .got = got});
}

Shape parse_shape(const std::string& list, const std::string& where) {
  std::vector<std::int64_t> dims;
  static const std::regex number("[0-9]+");
  for (auto it = std::sregex_iterator(list.begin(), list.end(), number);
       it != std::sregex_iterator(); ++it) {
    if (it->str().size() > 18) bad(where, "array size out of range", it->str());
    dims.push_back(std::stoll(it->str()));
  }
  return Shape(std::move(dims));
}

Header parse_header(const std::string& text, const std::string& where) {
  static const std::regex descr("'descr'\\s*:\\s*'([<>|=]?)([a-zA-Z?][0-9]*)'");
  static const std::regex order("'fortran_order'\\s*:\\s*(True|False)");
  static const std::regex shape("'shape'\\s*:\\s*\\(([0-9, L]*)\\)");
  std::smatch m;
  Header h;
  if (!std::regex_search(text, m, descr))
    bad(where, "NumPy header without a simple element type", text);
  const std::string type = m[2];
  const auto row =
      std::find_if(descrs.begin(), descrs.end(), [&](const Descr& d) { return type == d.text; });
  if (row == descrs.end()) bad(where, "unsupported NumPy element type", "'" + type + "'");
  h.dtype = row->type;
  h.swapped = m[1] == ">";
  if (!std::regex_search(text, m, order)) bad(where, "NumPy header without fortran_order", text);
  h.fortran = m[1] == "True";
  if (!std::regex_search(text, m, shape)) bad(where, "NumPy header without a shape", text);
  h.shape = parse_shape(m[1], where);
  return h;
}

void swap_bytes(std::span<std::byte> bytes, std::int64_t size) {
  for (auto it = bytes.begin(); it != bytes.end(); it += size) std::reverse(it, it + size);
}

/// Elements stored with the first axis fastest, put into row-major order.
Tensor from_fortran(const Tensor& t) {
  Tensor out(t.dtype(), t.shape());
  const std::int64_t size = size_of(t.dtype());
  const auto strides = t.shape().strides();
  std::vector<std::int64_t> index(static_cast<std::size_t>(t.shape().rank()), 0);
  for (std::int64_t i = 0; i < t.numel(); ++i) {
    std::int64_t at = 0;
    for (std::size_t a = 0; a < index.size(); ++a) at += index[a] * strides[a];
    std::memcpy(out.mutable_raw().data() + at * size, t.raw().data() + i * size,
                static_cast<std::size_t>(size));
    for (std::size_t a = 0;
         a < index.size() && ++index[a] == t.shape()[static_cast<std::int64_t>(a)]; ++a)
      index[a] = 0;
  }
  return out;
}

}  // namespace

Tensor parse_npy(std::span<const std::byte> bytes, const std::string& where) {
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  if (bytes.size() < 10 || std::string_view(text, 6) != magic) bad(where, "not a NumPy file");
  const bool wide = bytes[6] >= std::byte{2};
  const std::size_t start = wide ? 12 : 10;
  if (bytes.size() < start) bad(where, "truncated NumPy file");
  std::size_t length =
      std::to_integer<std::size_t>(bytes[8]) | std::to_integer<std::size_t>(bytes[9]) << 8;
  if (wide)
    length |= std::to_integer<std::size_t>(bytes[10]) << 16 |
              std::to_integer<std::size_t>(bytes[11]) << 24;
  if (bytes.size() - start < length) bad(where, "truncated NumPy file");
  const Header h = parse_header(std::string(text + start, length), where);
  Tensor t(h.dtype, h.shape);
  const auto body = bytes.subspan(start + length);
  if (static_cast<std::int64_t>(body.size()) < t.bytes()) {
    throw Error({.what = "truncated NumPy file",
                 .where = where,
                 .got = std::to_string(body.size()) + " bytes of data",
                 .expected = std::to_string(t.bytes()) + " for " + describe(t)});
  }
  if (t.bytes() > 0)
    std::memcpy(t.mutable_raw().data(), body.data(), static_cast<std::size_t>(t.bytes()));
  if (h.swapped) swap_bytes(t.mutable_raw(), size_of(h.dtype));
  return h.fortran && t.shape().rank() > 1 ? from_fortran(t) : t;
}

Tensor read_npy(const std::filesystem::path& file) {
  const std::string bytes = read_file(file);
  return parse_npy(std::as_bytes(std::span(bytes)), file.string());
}

std::map<std::string, Tensor> read_npz(const std::filesystem::path& file) {
  int code = 0;
  const std::unique_ptr<zip_t, decltype(&zip_discard)> archive(
      zip_open(file.c_str(), ZIP_RDONLY, &code), zip_discard);
  if (!archive) bad(file.string(), "cannot be read as an .npz archive");
  std::map<std::string, Tensor> arrays;
  for (zip_int64_t i = 0; i < zip_get_num_entries(archive.get(), 0); ++i) {
    zip_stat_t stat;
    if (zip_stat_index(archive.get(), static_cast<zip_uint64_t>(i), 0, &stat) != 0)
      bad(file.string(), "broken .npz archive");
    std::string name = stat.name;
    if (name.size() > 4 && name.ends_with(".npy")) name.resize(name.size() - 4);
    const std::string where = file.string() + ":" + name;
    if (static_cast<std::int64_t>(stat.size) > max_tensor_bytes())
      bad(where, "array is larger than the limit");
    const std::unique_ptr<zip_file_t, decltype(&zip_fclose)> entry(
        zip_fopen_index(archive.get(), static_cast<zip_uint64_t>(i), 0), zip_fclose);
    std::vector<std::byte> bytes(stat.size);
    if (!entry ||
        zip_fread(entry.get(), bytes.data(), stat.size) != static_cast<zip_int64_t>(stat.size)) {
      bad(where, "broken .npz archive");
    }
    arrays[name] = parse_npy(bytes, where);
  }
  return arrays;
}

std::string npy_bytes(const Tensor& t) {
  const auto row = std::find_if(descrs.begin(), descrs.end(),
                                [&](const Descr& d) { return d.type == t.dtype(); });
  ASSAY_ASSERT(row != descrs.end());
  std::string shape;
  for (const std::int64_t d : t.shape().dims()) shape += std::to_string(d) + ", ";
  if (t.shape().rank() > 1) shape.resize(shape.size() - 2);
  if (t.shape().rank() == 1) shape.resize(shape.size() - 1);
  const std::string order = size_of(t.dtype()) == 1 ? "|" : "<";
  std::string header =
      "{'descr': '" + order + row->text + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string out(magic);
  out += {'\x01', '\x00', static_cast<char>(header.size() & 255),
          static_cast<char>(header.size() >> 8)};
  out += header;
  out.append(reinterpret_cast<const char*>(t.raw().data()), t.raw().size());
  return out;
}

void write_npy(const std::filesystem::path& file, const Tensor& t) {
  write_file(file, npy_bytes(t));
}

}  // namespace assay
