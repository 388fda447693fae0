// Graph -> compiled steps: which kernels run which nodes.
#include <algorithm>

#include "kernels/bands.h"
#include "kernels/chain_plan.h"
#include "kernels/placement.h"
#include "kernels/program_impl.h"

namespace assay::kernels {
namespace {

class Compiler {
 public:
  Compiler(const Graph& graph, const std::map<std::string, Shape>& input_shapes,
           const ProgramOptions& options)
      : impl_(make_impl(graph, options)), values_(*impl_, input_shapes) {}

  std::unique_ptr<Program::Impl> run() {
    for (const ValueId v : graph().inputs()) values_.add_input(v);
    for (const NodeId n : graph().topological_order()) compile_node(n);
    for (const ValueId v : graph().outputs()) values_.add_output(v);
    return std::move(impl_);
  }

 private:
  static std::unique_ptr<Program::Impl> make_impl(const Graph& graph,
                                                  const ProgramOptions& options) {
    auto impl = std::make_unique<Program::Impl>();
    impl->graph = graph;
    impl->options = options;
    impl->threads = options.threads;
    return impl;
  }

  const Graph& graph() const { return impl_->graph; }
  KernelRequest request_for(NodeId n) {
    const Node& node = graph().node(n);
    KernelRequest r{
        .graph = graph(), .id = n, .inputs = {}, .outputs = {}, .constants = {}, .dies = {}};
    r.threads = impl_->threads;
    for (const ValueId v : node.inputs) {
      r.inputs.push_back(v.valid() ? values_.slot_at_hand(v) : Slot{});
      r.constants.push_back(v.valid() ? values_.constant(v) : nullptr);
      r.dies.push_back(v.valid() && values_.dies(v));
    }
    for (const ValueId v : node.outputs)
      r.outputs.push_back(v.valid() ? values_.slot_of(v) : Slot{});
    return r;
  }

  bool folded(const Node& node) const {
    return std::all_of(node.outputs.begin(), node.outputs.end(), [&](ValueId v) {
      return !v.valid() || values_.types().constants.count(v) != 0;
    });
  }

  /// Every input is known now (dequantized weights, reshaped constants): computed once, on the
  /// reference operator.
  bool foldable(const Node& node) const {
    const std::string& op = node.op_type;
    const bool random =
        op.rfind("Random", 0) == 0 || op == "Bernoulli" || op == "Multinomial" || op == "Dropout";
    if (random || node.inputs.empty() || !node.captures.empty()) return false;
    const auto known = [&](ValueId v) { return !v.valid() || values_.constant(v) != nullptr; };
    const auto sized = [&](ValueId v) { return !v.valid() || values_.types().type(v).known(); };
    return std::all_of(node.inputs.begin(), node.inputs.end(), known) &&
           std::all_of(node.outputs.begin(), node.outputs.end(), sized);
  }

  void fold(NodeId n) {
    const Node& node = graph().node(n);
    const auto kernel = make_reference(request_for(n));
    Binding binding;
    std::vector<Tensor> results;
    for (const ValueId v : node.inputs) {
      binding.inputs.push_back(v.valid() ? const_cast<std::byte*>(values_.constant(v)->raw().data())
                                         : nullptr);
    }
    for (const ValueId v : node.outputs) {
      results.push_back(v.valid()
                            ? Tensor(values_.types().type(v).dtype, values_.types().type(v).shape())
                            : Tensor());
      binding.outputs.push_back(v.valid() ? results.back().mutable_raw().data() : nullptr);
    }
    kernel->bind(binding);
    kernel->run();
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (node.outputs[i].valid()) values_.set_constant(node.outputs[i], results[i]);
    }
  }

  ChainView chain_view() {
    return {graph(), [this](ValueId v) { return values_.constant(v); },
            [this](ValueId v) { return values_.slot_at_hand(v); },
            [this](ValueId v) { return values_.placed(v); }};
  }

  /// The nodes are part of a step that is in place.
  void done_with(const std::vector<NodeId>& nodes) {
    for (const NodeId m : nodes) {
      chained_.insert(m);
      for (const ValueId v : graph().node(m).inputs) {
        if (v.valid()) values_.count_read(v);
      }
    }
  }

  void done_with(const BandPiece& piece) {
    done_with(std::vector{piece.node});
    done_with(piece.tail.nodes);
  }

  /// Elementwise nodes that follow each other become one step. True when `n` is part of it.
  bool compile_chain(NodeId n) {
    if (!impl_->options.fuse_chains || folded(graph().node(n))) return false;
    auto plan = plan_chain(chain_view(), n);
    if (!plan) return false;
    add_chain(*plan);
    done_with(plan->nodes);
    return true;
  }

  KernelRequest request_for(const BandPiece& piece) {
    KernelRequest request = request_for(piece.node);
    request.tail = piece.tail.steps;
    return request;
  }

  /// A run of convolutions becomes one step that works in bands of rows; it bears the last node's
  /// name.
  bool compile_bands(NodeId n) {
    if (!impl_->options.fuse_chains) return false;
    const auto pieces = plan_bands(chain_view(), n);
    if (pieces.empty()) return false;
    std::vector<KernelRequest> requests;
    for (const BandPiece& p : pieces) requests.push_back(request_for(p));
    KernelAnswer answer = make_bands(requests);
    auto* plan = std::get_if<KernelPlan>(&answer);
    if (plan == nullptr) return false;
    const Node& last = *graph().producer(pieces.back().value);
    std::vector<ValueId> inputs{graph().node(n).inputs[0]};
    if (const auto& in = graph().node(pieces.back().node).inputs; in.size() > 3 && in[3].valid())
      inputs.push_back(in[3]);
    finish_step(last, inputs, std::move(*plan), info_of(pieces, requests));
    for (const BandPiece& p : pieces) done_with(p);
    return true;
  }

  /// "Conv+HardSwish": the piece under the name of its last node.
  StepInfo info_of(const BandPiece& piece, const KernelRequest& request) const {
    StepInfo info = info_of(piece.node, request);
    info.node = graph().producer(piece.value)->name;
    info.value = graph().name(piece.value);
    for (const ActivationParts& step : piece.tail.steps) info.op += "+" + step.name;
    return info;
  }

  /// "ConvClip,ConvClip,Conv": the macs of all, the bytes that the run reads and writes.
  StepInfo info_of(const std::vector<BandPiece>& pieces,
                   const std::vector<KernelRequest>& requests) const {
    StepInfo all = info_of(pieces.back(), requests.back());
    for (std::size_t i = pieces.size() - 1; i-- > 0;) {
      const StepInfo one = info_of(pieces[i], requests[i]);
      all.op = one.op + "," + all.op;
      all.macs += one.macs;
      all.bytes += one.bytes - 2 * requests[i].outputs[0].bytes();
    }
    return all;
  }

  /// Elementwise nodes behind `n` run in its kernel when that can take them; the step bears the
  /// last one's name.
  bool compile_with_tail(NodeId n) {
    const Node& node = graph().node(n);
    if (!impl_->options.fuse_chains || node.outputs.size() != 1 || !node.captures.empty())
      return false;
    auto tail = plan_tail(chain_view(), node.outputs[0]);
    if (!tail) return false;
    const Node& last = graph().node(tail->nodes.back());
    const BandPiece piece{.node = n, .tail = *std::move(tail), .value = last.outputs[0]};
    const KernelRequest request = request_for(piece);
    KernelAnswer answer = make_kernel(request);
    auto* plan = std::get_if<KernelPlan>(&answer);
    if (plan == nullptr) return false;
    finish_step(last, node.inputs, std::move(*plan), info_of(piece, request));
    done_with(piece);
    return true;
  }

  /// The first full input whose buffer nobody reads after the chain.
  std::optional<std::size_t> dying_input(const ChainPlan& plan) {
    const DType result = values_.slot_of(graph().node(plan.nodes.back()).outputs[0]).dtype;
    for (std::size_t i = 0; i < plan.full; ++i) {
      const ValueId v = plan.inputs[i];
      if (values_.slot_of(v).dtype != result) continue;
      std::int64_t own = 0;
      for (const NodeId m : plan.nodes) {
        const auto& in = graph().node(m).inputs;
        own += std::count(in.begin(), in.end(), v);
      }
      if (values_.dies(v, own) && values_.at_hand(v, plan.layout)) return i;
    }
    return std::nullopt;
  }

  void add_chain(const ChainPlan& plan) {
    const NodeId last = plan.nodes.back();
    KernelPlan kernel{.kernel = make_chain(plan.spec), .outputs = {plan.layout}};
    for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
      kernel.inputs.push_back(i < plan.full ? plan.layout : Layout::plain);
    }
    kernel.overwrites = dying_input(plan);
    StepInfo info = info_of(last, request_for(last));
    info.op = "Chain";
    for (const NodeId m : plan.nodes)
      info.op += (m == plan.nodes[0] ? "(" : ",") + graph().node(m).op_type;
    info.op += ")";
    info.bytes = values_.slot_of(graph().node(last).outputs[0]).bytes();
    for (const ValueId v : plan.inputs) info.bytes += values_.slot_of(v).bytes();
    finish_step(graph().node(last), plan.inputs, std::move(kernel), std::move(info));
  }

  void compile_node(NodeId n) {
    const Node& node = graph().node(n);
    if (chained_.count(n) != 0) return;
    if (!folded(node) && foldable(node)) fold(n);
    if (compile_chain(n)) return;
    if (!folded(node)) {
      if (compile_bands(n) || compile_with_tail(n)) return;
      const KernelRequest request = request_for(n);
      KernelAnswer answer =
          node.captures.empty() ? make_kernel(request) : Decline{"it has a subgraph"};
      if (auto* plan = std::get_if<KernelPlan>(&answer)) {
        plan->alias ? add_alias(node, *plan) : add_step(n, request, std::move(*plan), {});
      } else {
        add_step(n, request, reference_plan(request), std::get<Decline>(answer).reason);
      }
    }
    for (const ValueId v : node.inputs) {
      if (v.valid()) values_.count_read(v);
    }
  }

  static KernelPlan reference_plan(const KernelRequest& request) {
    KernelPlan plan{.kernel = make_reference(request)};
    plan.inputs.assign(request.inputs.size(), Layout::plain);
    plan.outputs.assign(request.outputs.size(), Layout::plain);
    return plan;
  }

  void add_alias(const Node& node, const KernelPlan& plan) {
    const std::size_t i = *plan.alias;
    const int s = values_.fetch(node.inputs[i], plan.inputs[i]);
    values_.place(node.outputs[0], plan.outputs[0], s, values_.next_step() - 1);
  }

  void add_step(NodeId n, const KernelRequest& request, KernelPlan plan,
                const std::string& reason) {
    StepInfo info = info_of(n, request);
    info.reason = reason;
    finish_step(graph().node(n), graph().node(n).inputs, std::move(plan), std::move(info));
  }

  /// Fetches the operands (layout changes come in front), places the outputs, and appends the step.
  void finish_step(const Node& node, const std::vector<ValueId>& inputs, KernelPlan plan,
                   StepInfo info) {
    Step step{
        .kernel = std::move(plan.kernel), .inputs = {}, .outputs = {}, .info = std::move(info)};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const bool baked = i < plan.baked.size() && plan.baked[i];
      step.inputs.push_back(inputs[i].valid() && !baked ? values_.fetch(inputs[i], plan.inputs[i])
                                                        : -1);
    }
    // Reorders may have come in front: every input must live until this step.
    for (const int s : step.inputs) {
      if (s >= 0) values_.touch(s);
    }
    const std::int64_t at = values_.next_step();
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      step.outputs.push_back(add_step_output(node, step, plan, i, at));
    }
    step.info.layout = plan.outputs.empty() ? Layout::plain : plan.outputs[0];
    step.info.kernel = step.info.reason.empty() ? step.kernel->implementation() : "reference";
    impl_->steps.push_back(std::move(step));
  }

  int add_step_output(const Node& node, const Step& step, const KernelPlan& plan, std::size_t i,
                      std::int64_t at) {
    const ValueId v = node.outputs[i];
    if (!v.valid()) return -1;
    Slot slot = values_.slot_of(v);
    slot.layout = plan.outputs[i];
    int s = -1;
    if (i == 0 && plan.overwrites) {
      s = step.inputs[*plan.overwrites];
      ASSAY_ASSERT(s >= 0 && values_.storage(s).kind == Storage::Kind::arena);
      ASSAY_ASSERT(values_.storage(s).slot.bytes() >= slot.bytes());
      values_.storage(s).last = std::max(values_.storage(s).last, at);
    } else {
      s = values_.add_storage({.slot = slot, .first = at, .last = at});
    }
    if (i == 0) values_.storage(s).overrun = std::max(values_.storage(s).overrun, plan.overrun);
    values_.place(v, slot.layout, s, at);
    return s;
  }

  StepInfo info_of(NodeId n, const KernelRequest& request) const {
    const Node& node = graph().node(n);
    StepInfo info{.node = node.name, .value = {}, .op = node.op_type};
    if (node.has_output(0)) {
      info.value = graph().name(node.outputs[0]);
      info.dtype = request.outputs[0].dtype;
      info.shape = request.outputs[0].shape;
    }
    info.macs = macs_of(graph(), n, values_.types());
    for (const Slot& s : request.inputs) info.bytes += s.bytes();
    for (const Slot& s : request.outputs) info.bytes += s.bytes();
    return info;
  }

  std::unique_ptr<Program::Impl> impl_;
  Placement values_;
  std::set<NodeId> chained_;  // nodes that an earlier chain computes
};

}  // namespace

std::unique_ptr<Program::Impl> compile_program(const Graph& graph,
                                               const std::map<std::string, Shape>& input_shapes,
                                               const ProgramOptions& options) {
  return Compiler(graph, input_shapes, options).run();
}

}  // namespace assay::kernels
