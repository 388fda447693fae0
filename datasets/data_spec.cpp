#include "datasets/data_spec.h"

#include "runtime/json_fields.h"

namespace assay {
namespace {

using nlohmann::json;

std::vector<std::int64_t> sizes(const json& value, const std::string& where) {
  if (value.is_number_integer()) return {value.get<std::int64_t>()};
  std::vector<std::int64_t> list;
  for (const json& v : value) {
    if (!v.is_number_integer()) list.clear();
    if (!v.is_number_integer()) break;
    list.push_back(v.get<std::int64_t>());
  }
  if (list.empty()) {
    throw Error({.what = "not a size",
                 .where = where,
                 .got = value.dump(),
                 .expected = "a number or a list of numbers"});
  }
  for (const std::int64_t s : list) {
    if (s < 1 || s > 65536)
      throw Error({.what = "size out of range", .where = where, .got = std::to_string(s)});
  }
  return list;
}

std::vector<double> values(JsonFields& fields, const std::string& name) {
  if (fields.has(name) && fields.required(name).is_number()) return {fields.get<double>(name)};
  return fields.get_or<std::vector<double>>(name, {});
}

ResizeSpec read_resize(const json& object, const std::string& where) {
  JsonFields f(object, where);
  ResizeSpec r;
  r.mode = f.choice("mode", {"exact", "shorter", "letterbox"});
  r.size = sizes(f.required("size"), f.place("size"));
  r.filter = f.choice("filter", {"nearest", "bilinear", "bicubic"}, "bilinear");
  r.antialias = f.get_or("antialias", true);
  r.pad = f.get_or<std::uint8_t>("pad", 0);
  f.done();
  if (r.mode != "shorter" && r.size.size() == 1) r.size.push_back(r.size[0]);
  const std::size_t want = r.mode == "shorter" ? 1 : 2;
  if (r.size.size() != want) {
    throw Error({.what = "wrong number of sizes",
                 .where = f.place("size"),
                 .got = std::to_string(r.size.size()),
                 .expected = std::to_string(want) + " for mode " + r.mode});
  }
  return r;
}

CropSpec read_crop(const json& object, const std::string& where) {
  JsonFields f(object, where);
  f.choice("mode", {"center"}, "center");
  auto size = sizes(f.required("size"), f.place("size"));
  f.done();
  if (size.size() == 1) size.push_back(size[0]);
  if (size.size() != 2)
    throw Error(
        {.what = "not a crop size", .where = f.place("size"), .expected = "[height, width]"});
  return {size[0], size[1]};
}

DType element_type(JsonFields& f) {
  const auto name = f.get_or<std::string>("dtype", "float32");
  const auto parsed = parse_dtype(name);
  if (!parsed)
    throw Error(
        {.what = "unknown element type", .where = f.place("dtype"), .got = "'" + name + "'"});
  return *parsed;
}

InputSpec read_input(const json& object, const std::string& where) {
  JsonFields f(object, where);
  InputSpec in;
  in.name = f.get<std::string>("name");
  in.kind = f.choice("kind", {"image", "npy", "npz", "pb", "raw"});
  in.color = f.choice("color", {"rgb", "bgr", "gray"}, "rgb");
  if (f.has("resize")) in.resize = read_resize(f.required("resize"), f.place("resize"));
  if (f.has("crop")) in.crop = read_crop(f.required("crop"), f.place("crop"));
  in.scale = f.get_or("scale", 1.0);
  in.mean = values(f, "mean");
  in.std = values(f, "std");
  in.layout = f.choice("layout", {"NCHW", "NHWC"}, "NCHW");
  in.dtype = element_type(f);
  in.shape = Shape(f.get_or<std::vector<std::int64_t>>("shape", {}));
  f.done();
  if (in.kind == "raw" && in.shape.rank() == 0) {
    throw Error({.what = "field is missing",
                 .where = f.place("shape"),
                 .advice = "raw files carry no shape"});
  }
  for (const double s : in.std) {
    if (s == 0) throw Error({.what = "std must not be 0", .where = f.place("std")});
  }
  return in;
}

TaskSpec read_task(const json& object, const std::string& where) {
  JsonFields f(object, where);
  TaskSpec task;
  task.kind = f.choice("kind", {"classification", "ctc", "segmentation", "detection", "regression",
                                "embedding", "none"});
  task.output = f.get_or<std::string>("output", "");
  task.options = object;
  return task;
}

double per_channel(const std::vector<double>& list, std::int64_t channel, std::int64_t channels,
                   double missing) {
  if (list.empty()) return missing;
  if (list.size() == 1) return list[0];
  if (static_cast<std::int64_t>(list.size()) != channels) {
    throw Error({.what = "mean or std has the wrong length",
                 .got = std::to_string(list.size()),
                 .expected = "1 or " + std::to_string(channels)});
  }
  return list[static_cast<std::size_t>(channel)];
}

/// 256 results per channel: a pixel has 8 bits, so preprocessing is a table.
std::vector<std::vector<double>> pixel_tables(const InputSpec& spec, std::int64_t channels) {
  std::vector<std::vector<double>> tables;
  for (std::int64_t c = 0; c < channels; ++c) {
    const double mean = per_channel(spec.mean, c, channels, 0);
    const double std = per_channel(spec.std, c, channels, 1);
    std::vector<double> table(256);
    for (std::size_t p = 0; p < 256; ++p)
      table[p] = (static_cast<double>(p) * spec.scale - mean) / std;
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace

DataSpec read_data_spec(const std::filesystem::path& file) {
  const json document = read_json(file);
  JsonFields f(document, file.string());
  f.schema("assay-data/1");
  DataSpec spec;
  std::size_t i = 0;
  for (const json& input : f.required("inputs")) {
    spec.inputs.push_back(read_input(input, f.place("inputs[" + std::to_string(i++) + "]")));
  }
  if (spec.inputs.empty()) throw Error({.what = "no inputs", .where = f.place("inputs")});
  spec.splits = f.get<std::map<std::string, std::string>>("splits");
  if (f.has("task")) spec.task = read_task(f.required("task"), f.place("task"));
  spec.batch = f.get_or<std::int64_t>("batch", 16);
  f.done();
  if (spec.batch < 1)
    throw Error(
        {.what = "not a batch size", .where = f.place("batch"), .got = std::to_string(spec.batch)});
  return spec;
}

Tensor pixel_tensor(const Tensor& pixels, const InputSpec& spec) {
  ASSAY_ASSERT(pixels.dtype() == DType::uint8 && pixels.shape().rank() == 4);
  const Shape& s = pixels.shape();
  const auto tables = pixel_tables(spec, s[1]);
  const bool last = spec.layout == "NHWC";
  Tensor wide(DType::float64, last ? Shape{s[0], s[2], s[3], s[1]} : s);
  auto out = wide.mutable_data<double>();
  const auto in = pixels.data<std::uint8_t>();
  const std::int64_t area = s[2] * s[3];
  for (std::int64_t n = 0; n < s[0]; ++n) {
    for (std::int64_t c = 0; c < s[1]; ++c) {
      const auto& table = tables[static_cast<std::size_t>(c)];
      for (std::int64_t p = 0; p < area; ++p) {
        const double x = table[in[static_cast<std::size_t>((n * s[1] + c) * area + p)]];
        out[static_cast<std::size_t>(last ? (n * area + p) * s[1] + c
                                          : (n * s[1] + c) * area + p)] = x;
      }
    }
  }
  return convert(wide, spec.dtype);
}

Tensor image_tensor(Image image, const InputSpec& spec) {
  if (spec.resize) image = resize(image, *spec.resize);
  if (spec.crop) image = center_crop(image, spec.crop->height, spec.crop->width);
  if (spec.color == "bgr") swap_red_blue(image);
  Tensor planes(DType::uint8, Shape{1, image.channels, image.height, image.width});
  auto out = planes.mutable_data<std::uint8_t>();
  const std::int64_t area = image.height * image.width;
  for (std::int64_t p = 0; p < area; ++p) {
    for (std::int64_t c = 0; c < image.channels; ++c) {
      out[static_cast<std::size_t>(c * area + p)] =
          image.pixels[static_cast<std::size_t>(p * image.channels + c)];
    }
  }
  return pixel_tensor(planes, spec);
}

}  // namespace assay
