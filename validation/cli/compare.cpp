// assay compare: two tensors, or two folders of tensors by name.
#include "validation/compare.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "runtime/npy.h"
#include "runtime/onnx/reader.h"
#include "validation/cli/cli.h"

namespace assay::compare_command {
namespace {

namespace fs = std::filesystem;

struct Flags {
  fs::path a, b;
  Tolerance tolerance;
  bool json = false, quiet = false;
};

/// Tensors of a file (.npy, .npz, .pb) or of a folder of such files, by name.
std::map<std::string, Tensor> load(const fs::path& path) {
  std::error_code code;
  std::map<std::string, Tensor> found;
  if (!fs::is_directory(path, code)) {
    if (path.extension() == ".npz") return read_npz(path);
    found[path.stem().string()] =
        path.extension() == ".pb" ? read_tensor_file(path) : read_npy(path);
    return found;
  }
  for (const auto& entry : fs::directory_iterator(path)) {
    const auto e = entry.path().extension();
    if (e == ".npy") found[entry.path().stem().string()] = read_npy(entry.path());
    if (e == ".pb") found[entry.path().stem().string()] = read_tensor_file(entry.path());
  }
  if (found.empty())
    throw Error(
        {.what = "holds no tensors", .where = path.string(), .expected = ".npy or .pb files"});
  return found;
}

nlohmann::ordered_json compare_all(const Flags& f, bool& failed) {
  const auto a = load(f.a);
  auto b = load(f.b);
  if (a.size() == 1 && b.size() == 1 && a.begin()->first != b.begin()->first) {
    auto node = b.extract(b.begin());  // two single files: their names say nothing
    node.key() = a.begin()->first;
    b.insert(std::move(node));
  }
  nlohmann::ordered_json out;
  for (const auto& [name, tensor] : a) {
    const auto it = b.find(name);
    if (it == b.end()) {
      out[name] = {{"verdict", "fail"}, {"reason", "missing on the other side"}};
      failed = true;
      continue;
    }
    const Comparison c = compare(tensor, it->second, f.tolerance);
    failed = failed || c.verdict == Comparison::Verdict::fail;
    out[name] = to_json(c);
    b.erase(it);
  }
  for (const auto& [name, tensor] : b) {
    out[name] = {{"verdict", "fail"}, {"reason", "only on the other side"}};
    failed = true;
  }
  return out;
}

void print(const nlohmann::ordered_json& all) {
  for (const auto& [name, c] : all.items()) {
    std::cout << c["verdict"].get<std::string>() << "  " << name;
    if (c.contains("reason")) std::cout << "  " << c["reason"].get<std::string>();
    for (const char* key : {"max_abs", "max_ulp", "sqnr_db", "cosine"}) {
      if (c.contains(key)) std::cout << "  " << key << " " << c[key].dump();
    }
    if (c.contains("nan") && (c["nan"][0] != 0 || c["nan"][1] != 0))
      std::cout << "  nan " << c["nan"].dump();
    std::cout << '\n';
  }
}

std::function<int()> setup(CLI::App& app) {
  auto f = std::make_shared<Flags>();
  app.footer(
      "Example: assay compare reference.npy dump.npy --ulp 1\nWithout a tolerance equality is "
      "meant: NaN equals NaN, +0 equals -0.");
  app.add_option("a", f->a, "reference: .npy, .npz, .pb or a folder of them")->required();
  app.add_option("b", f->b, "what is judged")->required();
  app.add_option("--atol", f->tolerance.atol, "absolute tolerance");
  app.add_option("--rtol", f->tolerance.rtol, "tolerance relative to the reference");
  app.add_option("--ulp", f->tolerance.ulp, "tolerance in float32 steps of the reference");
  app.add_flag("--json", f->json, "machine output");
  app.add_flag("--quiet", f->quiet, "print nothing");
  return [f] {
    bool failed = false;
    const auto all = compare_all(*f, failed);
    if (f->json)
      std::cout << all.dump(1) << '\n';
    else if (!f->quiet)
      print(all);
    return failed ? 1 : 0;
  };
}

const RegisterCommand registered{
    {"compare", "two tensors or folders of tensors: metrics and verdict", setup}};

}  // namespace
}  // namespace assay::compare_command
