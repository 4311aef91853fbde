#include "apps/cli/solving.h"

#include <cstdio>
#include <optional>
#include <utility>

#include "apps/cli/command.h"
#include "apps/cli/progress.h"
#include "apps/shared/interrupt.h"
#include "poet/base/error.h"
#include "poet/graph/dataflow.h"
#include "poet/referee/replay.h"

namespace poet::cli {
namespace {

/// RAM that `op` needs while it runs, whatever the schedule.
Bytes working_set(const Instance& instance, const Dataflow& flow, OpId op, Semantics semantics) {
  Bytes sum = instance.costs.persistent;
  if (semantics == Semantics::device) sum += instance.costs.ops[op].workspace;
  for (ValueId value : flow.reads[op]) sum += instance.costs.values[value].bytes;
  for (ValueId value : flow.writes[op]) sum += instance.costs.values[value].bytes;
  return sum;
}

}  // namespace

bool has_answer(const Solved& solved) {
  const Status status = solved.result.certificate.status;
  return status == Status::optimal || status == Status::feasible;
}

bool ran_out_of_time(const Solved& solved) {
  return solved.result.outcome.solve_seconds >= solved.request.options.time_limit_seconds;
}

int exit_code(const Solved& solved) { return has_answer(solved) ? kAnswer : kNoAnswer; }

Solved pose_problem(const ProblemOptions& options, const Adjustment& adjust) {
  Solved solved;
  solved.request.options = read_solver_options(options.solver);
  solved.inputs = load_inputs(options.input);
  solved.request.instance = std::move(solved.inputs.instance);
  solved.request.semantics = solved.inputs.semantics;
  if (adjust) adjust(solved.request.instance, solved.request.semantics);
  const Instance& instance = solved.request.instance;
  const Semantics semantics = solved.request.semantics;
  if (solved.request.options.formulation == Formulation::published && semantics != Semantics::published) {
    throw InputError("--formulation", "published is for --semantics published only");
  }

  solved.result.keep_all = replay_keep_all(instance, semantics);
  solved.request.limits = read_limits(options.limits, solved.result.keep_all.runtime);
  // Every value is paged out at most once in a step, so what is written is what the storage must hold.
  if (solved.inputs.device && solved.inputs.device->storage) {
    const Bytes capacity = solved.inputs.device->storage->capacity;
    auto& writable = solved.request.limits.max_bytes_written;
    std::int64_t all = 0;
    for (const ValueCost& value : solved.request.instance.costs.values) all += value.bytes.value();
    if (capacity < writable.value_or(Bytes(all))) writable = capacity;
  }

  const Dataflow flow = dataflow(instance.graph);
  for (OpId op : ids<OpId>(instance.graph.ops.size())) {
    const Bytes needed = working_set(instance, flow, op, semantics);
    if (!solved.floor_op.valid() || needed > solved.floor_ram) {
      solved.floor_ram = needed;
      solved.floor_op = op;
    }
  }
  return solved;
}

Solved solve_problem(const ProblemOptions& options, const Solving& how) {
  Solved solved = pose_problem(options, how.adjust);
  solved.request.options.between_ops = how.between_ops;
  const InterruptGuard guard(how.on_interrupt);
  std::optional<ProgressDisplay> display;
  if (!options.solver.quiet) {
    display.emplace(stderr, solved.result.keep_all.energy);
    solved.request.options.on_progress = [&display](const Progress& progress) { display->show(progress); };
  }
  solved.request.options.interrupted = [&guard] { return guard.interrupted(); };
  solved.result = compile(solved.request);
  // Display and guard end here.
  solved.request.options.on_progress = nullptr;
  solved.request.options.interrupted = nullptr;
  solved.interrupted = guard.interrupted();
  return solved;
}

}  // namespace poet::cli
