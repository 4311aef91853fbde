#include "poet/verify/tally.h"

#include <fmt/format.h>

#include "poet/base/error.h"

namespace poet {

Tally::Tally(const Instance& instance, Semantics semantics, const Limits& limits)
    : costs_(instance.costs), limits_(limits), timed_(semantics == Semantics::device) {
  ensure(costs_.ops.size() == instance.graph.ops.size(), "the cost table has a row per op");
  ensure(costs_.values.size() == instance.graph.values.size(), "the cost table has a row per value");
  report_.peak_ram = costs_.persistent;
  if (costs_.persistent > limits_.ram_budget) {
    break_rule(fmt::format("persistent values alone take {} bytes of RAM, over the budget of {}",
                           costs_.persistent.value(), limits_.ram_budget.value()));
  }
}

void Tally::break_rule(const std::string& message) {
  if (!violated()) report_.violation = message;
}

void Tally::computed(OpId op, bool again) {
  report_.compute_energy += costs_.ops[op].energy;
  computing_ += costs_.ops[op].runtime;
  if (again) ++report_.recomputations;
  if (!report_.peak_op.valid()) report_.peak_op = op;
  last_op_ = op;
}

void Tally::paged_in(ValueId value) {
  report_.page_in_energy += costs_.values[value].page_in.energy;
  ++report_.page_ins;
  std::int64_t read = 0;
  if (!__builtin_add_overflow(report_.bytes_read.value(), costs_.values[value].bytes.value(), &read))
    report_.bytes_read = Bytes(read);
}

void Tally::paged_out(ValueId value, bool home) {
  report_.page_out_energy += costs_.values[value].page_out.energy;
  ++report_.page_outs;
  // A plan may write without end: it is over any limit then, so the count may stop.
  std::int64_t written = 0;
  if (!__builtin_add_overflow(report_.bytes_written.value(), costs_.values[value].bytes.value(), &written)) {
    report_.bytes_written = Bytes(written);
    if (!home) stored_ += costs_.values[value].bytes;
  }
}

void Tally::woke(StepKind woken_by) {
  (woken_by == StepKind::page_in ? report_.page_in_energy : report_.page_out_energy) +=
      costs_.timing.wake_energy;
}

void Tally::occupied(Bytes transient, OpId op) {
  const Bytes level = costs_.persistent + transient;
  if (level <= report_.peak_ram) return;
  report_.peak_ram = level;
  report_.peak_op = op;
}

std::string Tally::over_budget(Bytes transient) const {
  const Bytes level = costs_.persistent + transient;
  if (level <= limits_.ram_budget) return {};
  return fmt::format("{} bytes of RAM, over the budget of {}", level.value(), limits_.ram_budget.value());
}

std::string Tally::over_wear() const {
  const Bytes written = report_.bytes_written;
  if (limits_.max_bytes_written && written > *limits_.max_bytes_written)
    return fmt::format("{} bytes written to storage so far, over the limit of {}", written.value(),
                       limits_.max_bytes_written->value());
  if (costs_.storage_capacity && stored_ > *costs_.storage_capacity)
    return fmt::format("{} bytes written to storage so far, which holds {}", stored_.value(),
                       costs_.storage_capacity->value());
  return {};
}

Report Tally::close(Seconds makespan, Seconds stalled) {
  report_.runtime = timed_ ? makespan : computing_;
  if (timed_) {
    report_.stalled = stalled;
    report_.idle_energy = costs_.timing.idle * makespan;
  }
  report_.energy =
      report_.compute_energy + report_.page_in_energy + report_.page_out_energy + report_.idle_energy;
  if (!report_.peak_op.valid()) report_.peak_op = last_op_;
  if (limits_.deadline && report_.runtime > latest_end(*limits_.deadline)) {
    break_rule(fmt::format("the step takes {} s, over the deadline of {} s", report_.runtime.value(),
                           limits_.deadline->value()));
  }
  report_.valid = !violated();
  return report_;
}

}  // namespace poet
