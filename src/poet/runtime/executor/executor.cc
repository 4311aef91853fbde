#include "poet/runtime/executor/executor.h"

#include <chrono>
#include <cmath>
#include <cstring>

#include "poet/base/error.h"
#include "poet/graph/operators/schema.h"
#include "poet/plan/machine.h"

namespace poet::runtime {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

}  // namespace

OpId find_loss(const Graph& graph) {
  OpId found;
  for (const OpId op : ids<OpId>(graph.ops.size())) {
    if (!is_loss(graph.ops[op])) continue;
    if (found.valid()) throw InputError(graph.name, "has more than one loss");
    found = op;
  }
  if (!found.valid())
    throw InputError(graph.name,
                     "has no loss op (softmax_cross_entropy, mse_loss...): it is no training graph");
  return found;
}

Executor::Executor(const PlanFile& file, const Program& program, PersistentValues& persistent,
                   PageFile* pages)
    : file_(file),
      program_(program),
      persistent_(persistent),
      waits_(has_waits(file.instance, file.semantics)),
      loss_op_(find_loss(file.instance.graph)),
      row_numbers_(file.instance.graph, program),
      ticket_(file.instance.graph.values.size(), 0),
      seconds_(program.steps().size(), 0.0) {
  for (const OpId op : ids<OpId>(file.instance.graph.ops.size()))
    if (file.instance.graph.ops[op].kind == "clip_factor") clip_op_ = op;
  if (program.transfers() > 0) channel_ = std::make_unique<TransferQueue>(*pages, program.transfers());
}

Executor::~Executor() = default;

TransferTotals Executor::transferred() const { return channel_ ? channel_->totals() : TransferTotals{}; }

void Executor::run(std::int64_t number, std::uint64_t seed, const InputSource& inputs,
                   const Observer& observer, double rate_factor) {
  try {
    run_steps(number, seed, inputs, observer, rate_factor);
  } catch (...) {
    settle();
    throw;
  }
}

// Transfers that a failed step has issued still use the page file and the arena.
void Executor::settle() {
  try {
    if (last_ticket_ > 0) channel_->wait(last_ticket_);
  } catch (const std::exception&) {
    // The step's failure is reported already.
  }
}

void Executor::run_steps(std::int64_t number, std::uint64_t seed, const InputSource& inputs,
                         const Observer& observer, double rate_factor) {
  rate_factor_ = rate_factor;
  stalled_ = Seconds(0);
  fetching_ = Seconds(0);
  const Clock::time_point begin = Clock::now();
  Clock::time_point step_begin = begin;
  persistent_.start(number);
  row_numbers_.read(inputs);
  fetching_ += Seconds(since(begin));
  step_begin = Clock::now();
  const std::vector<PreparedStep>& steps = program_.steps();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const PreparedStep& step = steps[i];
    switch (step.kind) {
      case StepKind::page_out:
      case StepKind::page_in:
        issue(step);
        break;
      case StepKind::wait:
        wait_for(ticket_[step.value]);
        break;
      case StepKind::compute:
        compute(step, number, seed, inputs);
        if (observer) observer(step);
        break;
      case StepKind::free:
        break;
    }
    const Clock::time_point step_end = Clock::now();
    seconds_[i] = std::chrono::duration<double>(step_end - step_begin).count();
    step_begin = step_end;
  }
  // The next step's transfers must not meet this one's. Nothing is computed after it: no stall, as plans
  // count.
  if (last_ticket_ > 0) channel_->wait(last_ticket_);
  makespan_ = Seconds(since(begin));
  persistent_.commit(number, loss_);
}

void Executor::issue(const PreparedStep& step) {
  if (step.rows != nullptr) {
    last_ticket_ = step.kind == StepKind::page_out ? channel_->page_out(*step.rows, step.data)
                                                   : channel_->page_in(*step.rows, step.data);
    ticket_[step.value] = last_ticket_;
    if (!waits_) wait_for(last_ticket_);
    return;
  }
  const std::size_t slot = persistent_.slot(step);
  last_ticket_ = step.kind == StepKind::page_out ? channel_->page_out(slot, step.data)
                                                 : channel_->page_in(slot, step.data);
  ticket_[step.value] = last_ticket_;
  if (!waits_) wait_for(last_ticket_);
}

void Executor::wait_for(std::uint64_t ticket) {
  if (ticket == 0) return;
  const Clock::time_point begin = Clock::now();
  channel_->wait(ticket);
  stalled_ += Seconds(since(begin));
}

void Executor::compute(const PreparedStep& step, std::int64_t number, std::uint64_t seed,
                       const InputSource& inputs) {
  if (step.kernel == nullptr) {
    const Clock::time_point begin = Clock::now();
    inputs(step.op, static_cast<std::byte*>(step.call.outputs.front()));
    fetching_ += Seconds(since(begin));
    return;
  }
  KernelCall call = step.call;
  call.step = number;
  call.seed = seed;
  call.rate_factor = rate_factor_;
  // Before it runs: it may write over the squared norm.
  if (step.op == clip_op_) {
    float squared = 0;
    std::memcpy(&squared, call.inputs.front(), sizeof squared);
    gradient_norm_ = std::sqrt(squared);
  }
  step.kernel->run(call);
  if (step.op == loss_op_) std::memcpy(&loss_, call.outputs.front(), sizeof loss_);
}

}  // namespace poet::runtime
