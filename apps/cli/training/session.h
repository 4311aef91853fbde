#pragma once

// One training run of a plan on this machine, and everything that is measured meanwhile.

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/training/options.h"
#include "poet/plan/plan_file.h"
#include "poet/referee/replay.h"
#include "poet/referee/replay_layout.h"
#include "poet/runtime/executor/program.h"
#include "poet/runtime/training/train.h"
#include "poet/runtime/weights/initial_weights.h"

namespace poet::cli {

struct Session {
  PlanFile file;      // with the hyperparameters chosen
  Report planned;     // the referee's
  ArenaReport arena;  // the referee's, of the addresses
  runtime::MemoryMap map;
  runtime::TrainResult result;
  std::int64_t first_step = 1;  // of this run; above 1 when it was resumed
  std::string data;             // what it trained on
  std::string kernels;
  std::string storage;  // empty: nothing is paged
  bool storage_in_ram = false;
  Bytes page_file{};                 // size of what is paged to
  std::int64_t seeded = 0;           // parameters that began with seeded numbers
  Bytes resident_peak{};             // of the process, in the whole run
  double wall_seconds = 0;           // all steps, checkpoints included
  std::optional<Joules> energy;      // all steps; absent: no sensor
  std::string energy_source;         // the sensor, or why there is none
  std::vector<std::string> notices;  // what a user may not expect
  std::exception_ptr unfinished;     // what `finish` threw, after training that is not to be lost
};

/// Of the process at its peak, what is neither arena nor persistent values: the program and its libraries.
[[nodiscard]] inline Bytes outside_plan(const Session& session) {
  return session.resident_peak - session.map.arena - session.map.persistent;
}

/// Throws InputError for rules that nothing runs by.
void check_rules(Semantics semantics);

/// Sees the trained weights, after everything was measured; not called when they are not finite. May be
/// empty.
using Finish = std::function<void(const Graph& graph, const runtime::Program& program)>;

/// Checks the plan with the referee, sets everything up, and trains. Progress goes to stderr unless `quiet`;
/// Ctrl-C ends the run after the step under way. `weights` is asked for every persistent value first; what it
/// does not know begins as --seed says. Throws InputError for a plan that breaks a rule, and as the runtime.
[[nodiscard]] Session run_session(PlanFile file, const RunChoice& training, const MachineChoice& machine,
                                  const runtime::WeightSource& weights, bool quiet,
                                  const Finish& finish = {});

}  // namespace poet::cli
