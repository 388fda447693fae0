#include "validation/bisect/failing_case.h"

#include <nlohmann/json.hpp>

#include "validation/bisect/partial_run.h"
#include "validation/certificate/input_types.h"

namespace assay {
namespace {

bool reads(const Graph& g, const std::string& input) {
  const auto v = g.find_value(input);
  return v && g.use_count(*v) > 0;
}

/// `g` with exactly these inputs, and the types of all values as they come out.
Graph with_inputs(const Graph& g, const Feeds& feeds) {
  Graph own = g;
  std::vector<ValueId> inputs;
  for (const auto& [name, t] : feeds) {
    const auto v = own.find_value(name);
    inputs.push_back(v ? *v : own.add_input(name, {}));
  }
  own.set_inputs(inputs);
  own.remove_dead();
  own = with_input_types(own, feeds);
  for (const auto& [name, t] : all_values(own, feeds, run_canonical())) {
    own.set_type(*own.find_value(name), type_of(t.dtype(), t.shape()));
  }
  return own;
}

bool on_own_input(const FusionCertificate& c) {
  return c.witness.is_object() && !c.witness.contains("inputs");
}

double largest_difference(const FusionCertificate& c) {
  const auto size = c.rounding.is_object() ? c.rounding.value("max_abs", nlohmann::ordered_json())
                                           : nlohmann::ordered_json();
  return size.is_number() ? size.get<double>() : 0.0;
}

bool fails_so(const FusionCertificate& c, const Failure& failure) {
  if (c.verdict != failure.verdict) return false;
  if (kind_of(c) == "constant outside its budget")
    return !failure.on_input || largest_difference(c) >= failure.shown;
  return kind_of(c) == failure.kind && (!failure.on_input || on_own_input(c));
}

/// Judged as the failure asks for; the certificate says it when only the kernel fails.
bool shows(FusionCertificate& c, const Failure& failure, const Region& r, const Feeds& feeds) {
  if (!failure.kernel_check) return fails_so(c, failure);
  c.onednn = failure.kernel_check(r, {feeds});
  return only_kernel_fails(c);
}

}  // namespace

bool only_kernel_fails(const FusionCertificate& c) {
  return c.verdict != "E5" && c.verdict != "E4" && c.onednn.is_object() &&
         !c.onednn.value("inside", true);
}

std::string kind_of(const FusionCertificate& c) {
  return c.reason.substr(0, std::min(c.reason.find(" ("), c.reason.find(':')));
}

Failure failure_of(const FusionCertificate& c) {
  return {.verdict = c.verdict,
          .kind = kind_of(c),
          .on_input = on_own_input(c),
          .shown = largest_difference(c) / 128};
}

std::int64_t node_count(const FailingCase& c) {
  return c.original.node_count() + c.fused.node_count();
}

FailingCase settled(FailingCase c) {
  std::erase_if(c.feeds, [&](const auto& feed) {
    return !reads(c.original, feed.first) && !reads(c.fused, feed.first);
  });
  c.original = with_inputs(c.original, c.feeds);
  c.fused = with_inputs(c.fused, c.feeds);
  return c;
}

std::optional<Shown> show(const FailingCase& c, const Failure& failure, std::uint64_t seed) {
  const CertifyOptions options{.samples = {c.feeds}, .kernels = false, .seed = seed};
  try {
    const Comparison both = compare_graphs(c.original, c.fused, c.log ? &*c.log : nullptr, options);
    CertifyResult result = certify(both, options);
    const auto feeds = region_feeds(both, {c.feeds});
    for (std::size_t i = 0; i < result.fusions.size(); ++i) {
      FusionCertificate& f = result.fusions[i];
      const Region& r = both.alignment.regions[i];
      if (!shows(f, failure, r, feeds[i][0])) continue;
      return Shown{std::move(f),
                   {.original = r.original, .fused = r.fused, .feeds = feeds[i][0], .log = c.log}};
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace assay
