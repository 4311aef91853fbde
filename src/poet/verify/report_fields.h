#pragma once

// Figures of a report by their names and in their order in JSON results (docs/formats_result.md).

#include "poet/verify/replay.h"

namespace poet {

/// Calls visit(name, value) for the parts of the energy, the runtime and the time stalled.
template <class Visit>
void visit_energy_and_time(const Report& report, const Visit& visit) {
  visit("compute_joules", report.compute_energy.value());
  visit("page_in_joules", report.page_in_energy.value());
  visit("page_out_joules", report.page_out_energy.value());
  visit("idle_joules", report.idle_energy.value());
  visit("runtime_seconds", report.runtime.value());
  visit("stalled_seconds", report.stalled.value());
}

/// Calls visit(name, value) for the numbers of recomputations and transfers, and the bytes transferred.
template <class Visit>
void visit_counts(const Report& report, const Visit& visit) {
  visit("recomputations", report.recomputations);
  visit("page_ins", report.page_ins);
  visit("page_outs", report.page_outs);
  visit("bytes_read", report.bytes_read.value());
  visit("bytes_written", report.bytes_written.value());
}

}  // namespace poet
