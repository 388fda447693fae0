// Uses the installed library as a user would: reads a model, fuses it, runs both graphs correctly
// rounded and on oneDNN's kernels, and prints what it found. Exit 1 when a number is not as it must
// be.
#include <cmath>
#include <cstdio>

#include "fusion/pipeline.h"
#include "kernels/program.h"
#include "runtime/error.h"
#include "runtime/executor.h"
#include "runtime/onnx/reader.h"
#include "validation/gates.h"

namespace {

int compare(const char* model) {
  const assay::Graph original = assay::read_onnx(model);
  const assay::FusionResult result = assay::fuse(original, {.mode = "all"});
  const assay::Shape shape{1, 1, 28, 28};
  assay::Feeds feeds;
  for (const assay::ValueId v : original.inputs())
    feeds[original.name(v)] = assay::Tensor(assay::DType::float32, shape);
  const auto want = assay::Executor(original, assay::Precision::cr).run(feeds);
  auto program = assay::kernels::Program::compile(result.graph, {{feeds.begin()->first, shape}});
  const auto got = program.run(feeds);
  double worst = 0;
  for (const auto& [name, tensor] : want) {
    const auto x = assay::to_doubles(tensor);
    const auto y = assay::to_doubles(got.at(name));
    for (std::size_t i = 0; i < x.size(); ++i) worst = std::fmax(worst, std::fabs(x[i] - y[i]));
  }
  std::printf("%zu rewrites, %lld nodes after them, largest difference %g\n",
              result.log.fired.size(), static_cast<long long>(result.log.nodes_after), worst);
  // Float32 logits of order 10 through 20 layers: far above rounding, far below a wrong kernel.
  return result.log.fired.empty() || !(worst < 1e-3) ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    if (assay::default_gates().empty()) return 1;
    return compare(argv[1]);
  } catch (const assay::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
