#pragma once

// What every operator of a network takes on this machine, shape by shape.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "poet/base/units.h"
#include "poet/graph/graph.h"
#include "poet/runtime/kernels/kernel.h"
#include "poet/runtime/profile/training_step.h"

namespace poet::runtime {

/// One kind and shape class (cost/tabulate.h), over all ops of the network that have it.
struct OpTime {
  std::string kind;
  std::string shape_class;
  int ops = 0;        // of the network
  int samples = 0;    // measured runs
  Seconds median{};   // of its runs; inside steps scaled so that all ops together take the median step
  double spread = 0;  // median distance of its runs from their median, relative to it
  double p95_over_median = 1;  // of its runs, each relative to the step that it was in
  Bytes workspace{};
  OpId example;  // the first of the ops
};

struct OpTimes {
  std::vector<OpTime> times;  // in the order of their first ops
  bool in_context = true;     // measured inside whole training steps; else each op on its own
  Seconds step{};             // median of the whole steps; 0 when not in context
  int repetitions = 0;
  double step_p95_over_median = 1;  // of the whole steps; 1 when not in context
  double op_p95_over_median = 1;    // of ops, each counting by the time that it takes
};

struct OpTimesOptions {
  KernelOptions kernels;
  Seconds budget{10};  // of measuring, after one warm-up; at least three repetitions are made
  std::function<void(int repetition, int repetitions)> on_repetition;  // may be empty
  std::function<bool()> interrupted;                                   // may be empty
};

/// Times the ops of a training graph where they will run: inside `step`, one after another in their order, so
/// that caches are as warm as they will be. Without it every kind and shape class is timed on its own, after
/// its operands were swept out of the caches. Throws InputError for an op without a kernel.
[[nodiscard]] OpTimes measure_ops(const Graph& training, TrainingStep* step, const OpTimesOptions& options);

}  // namespace poet::runtime
