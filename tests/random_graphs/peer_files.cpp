#include "tests/random_graphs/peer_files.h"

#include <set>

#include "runtime/onnx/writer.h"
#include "tests/random_graphs/fingerprint.h"
#include "tests/random_graphs/properties.h"
#include "validation/certificate/radius.h"

namespace assay::testing {
namespace {

/// Value in float64 and the sum of both radii: that of a float32 evaluation, and its own.
void write_output(const Graph& fused, ValueId out, const Feeds& feeds,
                  const std::filesystem::path& stem) {
  const std::string& name = fused.name(out);
  const Graph part = extract(fused, fused.inputs(), {out});
  const Bounded exact = evaluate_bounded(part, feeds, Precision::f64, false);
  const Bounded loose = evaluate_bounded(part, feeds, Precision::f32, true);
  if (!exact.radius || !loose.radius) return;
  Tensor radius = loose.radius->clone();
  const auto more = exact.radius->data<double>();
  auto sum = radius.mutable_data<double>();
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
  write_tensor_file(exact.value, name, stem.string() + ".want.pb");
  write_tensor_file(radius, name, stem.string() + ".radius.pb");
}

}  // namespace

void write_peer_files(const RandomGraph& r, const std::filesystem::path& dir) {
  if (!in_domain(r)) return;
  const std::filesystem::path folder = dir / std::to_string(r.seed);
  std::filesystem::create_directories(folder);
  write_onnx(r.graph, folder / "original.onnx");
  const Feeds& feeds = r.samples[0];
  int i = 0;
  for (const auto& [name, t] : feeds)
    write_tensor_file(t, name, folder / ("input_" + std::to_string(i++) + ".pb"));
  std::set<std::map<std::string, std::uint64_t>> seen;
  for (const std::string& mode : sets_for(r)) {
    const Graph fused = fuse(r.graph, {.mode = mode}).graph;
    if (!seen.insert(fingerprint(fused)).second) continue;
    write_onnx(fused, folder / (mode + ".onnx"));
    int k = 0;
    for (const ValueId out : fused.outputs())
      write_output(fused, out, feeds, folder / (mode + "." + std::to_string(k++)));
  }
}

}  // namespace assay::testing
