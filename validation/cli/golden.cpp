// assay golden make|verify: golden packs.
#include "validation/golden/golden.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "runtime/file.h"
#include "runtime/npy.h"
#include "runtime/onnx/reader.h"
#include "validation/cli/cli.h"
#include "validation/cli/options.h"

namespace assay::golden_command {
namespace {

struct Make {
  GoldenRequest request;
  CommonOptions common;
  std::filesystem::path data, out;
  std::string split, precision = "cr";
  std::vector<std::string> shapes;
};

struct Verify {
  std::filesystem::path pack, model;
  CommonOptions common;
};

int make(Make& f) {
  apply(f.common);
  const auto precision = parse_precision(f.precision);
  if (!precision)
    throw Error({.what = "unknown precision",
                 .where = "--precision",
                 .got = f.precision,
                 .expected = "cr, f32 or f64"});
  f.request.precision = *precision;
  const Graph g = read_onnx(f.request.model);
  const DatasetPtr data = f.data.empty() ? synthetic_dataset(g, parse_shapes(g, f.shapes),
                                                             f.request.samples, f.request.seed)
                                         : open_dataset(f.data, f.split, g);
  make_golden(f.request, *data, f.out);
  if (!f.common.quiet) std::cout << "golden pack: " << f.out.string() << '\n';
  return 0;
}

int verify(const Verify& f) {
  apply(f.common);
  const GoldenCheck check = verify_golden(f.pack, f.model);
  for (const std::string& fault : check.faults) std::cerr << fault << '\n';
  if (!f.common.quiet) {
    std::cout << check.tensors << " tensors checked, " << check.faults.size() << " faults"
              << (f.model.empty() ? " (hashes only; give --model to recompute)" : "") << '\n';
  }
  return check.ok ? 0 : static_cast<int>(ErrorKind::stale_golden);
}

std::function<int()> setup(CLI::App& app) {
  auto m = std::make_shared<Make>();
  auto v = std::make_shared<Verify>();
  app.require_subcommand(1);
  app.footer(
      "Example: assay golden make datasets/digits/digits.onnx --data datasets/digits --taps all -o "
      "out/golden\n"
      "         assay golden verify out/golden --model datasets/digits/digits.onnx");
  CLI::App* making = app.add_subcommand("make", "write a golden pack");
  making->add_option("model", m->request.model, "ONNX file")->required();
  making->add_option("-o,--out", m->out, "folder of the pack")->required();
  making->add_option("--data", m->data, "data set; none: seeded synthetic inputs");
  making->add_option("--split", m->split, "split of data.json");
  making->add_option("--shape", m->shapes, "NAME=1x3x224x224, repeatable");
  making->add_option("--form", m->request.form, "original, fused or int8")
      ->check(CLI::IsMember({"original", "fused", "int8"}));
  making->add_option("--mode", m->request.mode, "fusion set of form fused");
  making->add_option("--profile", m->request.profile, "numeric profile of form int8");
  making->add_option("--precision", m->precision, "cr (default), f32 or f64")
      ->check(CLI::IsMember({"cr", "f32", "f64"}));
  making->add_option("--taps", m->request.taps, "outputs (default), all, or value names");
  making->add_option("--samples", m->request.samples, "number of samples (default 1)")
      ->check(CLI::PositiveNumber);
  making->add_option("--seed", m->request.seed, "seed of synthetic inputs");
  add_common_options(*making, m->common);
  CLI::App* checking =
      app.add_subcommand("verify", "check a pack's files, and with --model its numbers");
  checking->add_option("pack", v->pack, "folder of the pack")->required();
  checking->add_option("--model", v->model, "recompute every tensor with this model");
  add_common_options(*checking, v->common);
  return [m, v, making] { return making->parsed() ? make(*m) : verify(*v); };
}

const RegisterCommand registered{{"golden", "make and verify bit-exact expected tensors", setup}};

}  // namespace
}  // namespace assay::golden_command
