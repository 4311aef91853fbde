#pragma once

// What is to be solved, from keyword arguments.

#include <filesystem>
#include <string>

#include "poet/answer/answer.h"
#include "poet/answer/least_budget.h"
#include "poet/compile.h"
#include "poet/pipeline/spec.h"
#include "python/src/arguments.h"

namespace poet::python {

struct Problem {
  NetworkSpec network;
  DeviceSpec device;
  Policy policy;
  CompileRequest how;               // options, best_order, on_time
  std::optional<SettledRam> least;  // where a RAM budget of "least" is settled
};

/// How an ONNX file is imported: input_shapes, input_values, loss, huber_delta, loss_output, allow_opaque.
[[nodiscard]] OnnxFile take_onnx(Arguments& arguments, const std::filesystem::path& file);
/// model, sequence_length | onnx, input_shapes, loss, allow_opaque | instance; batch_size, optimizer, trainable.
[[nodiscard]] NetworkSpec take_network(Arguments& arguments);
/// device: a name or file; device_json: a profile.
[[nodiscard]] DeviceSpec take_device(Arguments& arguments);
struct Wanted {
  bool limits = true;
  bool staged = false;  // only plans that are staged schedules, which page no parameters
};
/// semantics, persistent, split, paging, remat; ram_budget, runtime_budget, deadline, max_bytes_written,
/// beyond_device_ram. Defaults are those of the command line; without limits there are none, and of staged
/// schedules none that pages parameters or splits operators.
[[nodiscard]] Policy take_policy(Arguments& arguments, const NetworkSpec& network, Wanted wanted);
/// All of these, and: order, on_time, gap, time_limit, threads, solver, formulation, staged.
[[nodiscard]] Problem take_problem(Arguments& arguments);

/// Without Python's lock. settle_least() comes first: a RAM budget of "least" in bytes, after a search that
/// takes up to some half of the time limit, or all of it with a deadline or a limit on bytes written.
[[nodiscard]] Answer posed_problem(const Problem& problem);
void settle_least(Problem& problem);
/// With the lock, afterwards: a Python warning where no plan told what the least is, for the line `caller`
/// frames of Python up. Raises it where warnings are errors.
void warn_of_least(const Problem& problem, py::ssize_t caller);

}  // namespace poet::python
