#include "poet/baselines/pofo.h"

#include <limits>
#include <utility>

#include "poet/baselines/chain_answer.h"
#include "poet/baselines/compute_order.h"
#include "poet/baselines/pofo_table.h"
#include "poet/plan/canonical.h"
#include "poet/plan/machine.h"
#include "poet/plan/timing/overlap.h"
#include "poet/plan/timing/transfers.h"

namespace poet {
namespace {

PofoLink link_of(const Instance& instance, const Chain& chain, bool blocking) {
  double bytes = 0;
  double out = 0;
  double in = 0;
  const auto count = [&](ValueId v) {
    const ValueCost& cost = instance.costs.values[v];
    bytes += static_cast<double>(cost.bytes.value());
    out += cost.page_out.seconds.value();
    in += cost.page_in.seconds.value();
  };
  for (const ChainBlock& block : chain.blocks) {
    if (block.input.valid()) count(block.input);
    for (const ValueId v : block.saved) count(v);
  }
  // Transfers without a duration: faster than any RAM, but a number.
  constexpr double kInstant = 1e15;
  PofoLink link;
  link.out_bytes_per_second = out * kInstant > bytes ? bytes / out : kInstant;
  link.in_bytes_per_second = in * kInstant > bytes ? bytes / in : kInstant;
  link.blocking = blocking;
  return link;
}

// The steps of a plan but frees and, unless transfers are to block, waits.
class Writer {
 public:
  Writer(const MethodRequest& request, const Chain& chain, const RotorTable& times, bool waits)
      : chain_(chain),
        times_(times),
        waits_(waits && has_waits(request.instance, request.semantics)),
        order_(chain),
        costs_(request.instance.costs) {}

  Plan plan(const std::vector<PofoPiece>& pieces) {
    compute();  // the step's data
    for (std::size_t p = 0; p < pieces.size(); ++p) forward(pieces, p);
    for (std::size_t p = pieces.size(); p-- > 0;) backward(pieces, p);
    return std::move(plan_);
  }

 private:
  void forward(const std::vector<PofoPiece>& pieces, std::size_t p) {
    const PofoPiece& piece = pieces[p];
    if (piece.offloaded) {
      if (p > 0 && pieces[p - 1].recorded)
        for (const ValueId v : chain_.blocks[piece.first - 1].saved) move(StepKind::page_out, v);
      if (input_stays(piece)) move(StepKind::page_out, chain_.blocks[piece.first].input);
    }
    for (std::size_t b = piece.first; b < piece.next; ++b) order_.record(b);
    compute();
  }

  void backward(const std::vector<PofoPiece>& pieces, std::size_t p) {
    const PofoPiece& piece = pieces[p];
    if (piece.offloaded && input_stays(piece)) move(StepKind::page_in, chain_.blocks[piece.first].input);
    if (piece.recorded) {
      if (p + 1 < pieces.size() && pieces[p + 1].offloaded)
        for (const ValueId v : chain_.blocks[piece.first].saved) move(StepKind::page_in, v);
      order_.backward(piece.first);
    } else {
      times_.emit(piece.held, piece.first, piece.next - 1, piece.kept, order_);
    }
    compute();
  }

  [[nodiscard]] bool input_stays(const PofoPiece& piece) const {
    const ChainBlock& block = chain_.blocks[piece.first];
    return block.input.valid() && (!piece.recorded || piece.kept || block.reads_input);
  }

  void move(StepKind kind, ValueId v) {
    if (costs_.values[v].bytes == Bytes()) return;  // takes no RAM, so it can stay
    plan_.steps.push_back({kind, OpId(), v});
    if (waits_) plan_.steps.push_back({StepKind::wait, OpId(), v});
  }

  void compute() {
    for (; written_ < order_.ops().size(); ++written_)
      plan_.steps.push_back({StepKind::compute, order_.ops()[written_], ValueId()});
  }

  const Chain& chain_;
  const RotorTable& times_;
  const bool waits_;
  ChainOrder order_;
  const CostTable& costs_;
  Plan plan_;
  std::size_t written_ = 0;  // of order_
};

// rotor's table counts what the method minimises: time.
std::vector<BlockMemory> in_seconds(std::vector<BlockMemory> memory) {
  for (BlockMemory& block : memory) {
    for (const std::size_t first : {0U, 1U}) {
      block.advance_cost[first] = block.advance_time[first].value();
      block.record_cost[first] = block.record_time[first].value();
      block.turn_cost[first] = block.turn_time[first].value();
    }
  }
  return memory;
}

MethodAnswer offload(const MethodRequest& request, bool blocking) {
  const Instance& instance = request.instance;
  if (request.semantics == Semantics::staged)
    return not_defined("transfers last whole stages under staged rules");
  if (!instance.costs.has_storage) return not_defined("there is no storage to offload to");
  const Dataflow flow = dataflow(instance.graph);
  const Chain chain = chain_of(instance, flow);
  MethodAnswer answer = answer_on(chain);
  if (!answer.treats_graph) return answer;
  const std::vector<BlockMemory> memory = in_seconds(chain_memory(instance, flow, chain, request.semantics));
  const Bytes budget = transient_budget(request);
  const RotorTable times(chain, memory, budget);
  bool stopped = false;
  const auto stop = [&, limit = stop_of(request.options)] {
    stopped = limit();
    return stopped;
  };
  const PofoPlan decided = pofo_plan(chain, memory, times, budget, link_of(instance, chain, blocking), stop);
  // Merging states can lose what they stand for, but not that nothing needs to be offloaded.
  double without = times.cost(Bytes(), 0, chain.blocks.size() - 1, false);
  for (const BlockMemory& block : memory) without += block.backward_time.value();
  if (without < std::numeric_limits<double>::infinity() &&
      (decided.pieces.empty() || without < decided.seconds)) {
    ChainOrder order(chain);
    times.emit(Bytes(), 0, chain.blocks.size() - 1, false, order);
    answer.plans.push_back(plan_of_order(request, order.ops()));
    return answer;
  }
  if (decided.pieces.empty()) {
    answer.reason = stopped ? "no plan found in the time allowed"
                            : "no combination of keeping, recomputing and offloading the chain's blocks is "
                              "within the RAM budget";
    return answer;
  }
  Plan plan = Writer(request, chain, times, blocking).plan(decided.pieces);
  if (!has_waits(instance, request.semantics)) {
    plan = canonicalize(instance, plan, request.semantics);
  } else if (blocking) {
    plan = with_frees(instance, plan, request.semantics);
  } else {
    plan = plan_transfers(instance, overlapped(instance, plan, request.limits), request.semantics,
                          request.limits);
  }
  Plan keeping = plan_of_order(request, recording_order(chain));
  const bool different = keeping.steps != plan.steps;
  answer.plans.push_back(std::move(plan));
  if (different) answer.plans.push_back(std::move(keeping));
  return answer;
}

}  // namespace

MethodAnswer pofo(const MethodRequest& request) { return offload(request, false); }
MethodAnswer pofo_blocking(const MethodRequest& request) { return offload(request, true); }

}  // namespace poet
