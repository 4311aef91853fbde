#include "python/src/problem.h"

#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "poet/base/error.h"
#include "poet/cost/device.h"
#include "poet/cost/json_reader.h"
#include "poet/optimize/solvers/solver.h"
#include "poet/pipeline/names.h"
#include "poet/pipeline/ram_budget.h"

namespace poet::python {
namespace {

namespace fs = std::filesystem;

/// Whether parameters may be at home on storage and operators split, where nothing else is said.
bool has_device_defaults(const Policy& policy, const NetworkSpec& network) {
  return policy.semantics.value_or(Semantics::device) == Semantics::device && policy.paging &&
         !std::holds_alternative<Instance>(network.source);
}

/// Bytes, "300KiB", "50%" or "least"; absent: the device's RAM.
RamBudget taken_ram_budget(Arguments& arguments) {
  const py::object ram = arguments.object("ram_budget");
  if (py::isinstance<py::str>(ram)) return parse_ram_budget("ram_budget", ram.cast<std::string>());
  if (const auto bytes = Arguments(py::dict(py::arg("ram_budget") = ram)).bytes("ram_budget")) return *bytes;
  return DeviceRam{};
}

void take_limits(Arguments& arguments, Policy& policy) {
  policy.ram = taken_ram_budget(arguments);
  policy.within_device = !arguments.flag("beyond_device_ram", false);
  if (const auto factor = arguments.take<double>("runtime_budget")) {
    if (!(*factor > 0)) throw InputError("runtime_budget", "must be > 0");
    policy.deadline.factor = *factor;
  }
  policy.deadline.time = arguments.seconds("deadline");
  if (policy.deadline.factor && policy.deadline.time)
    throw InputError("deadline", "excludes runtime_budget: give one of them");
  policy.max_bytes_written = arguments.bytes("max_bytes_written");
}

}  // namespace

OnnxFile take_onnx(Arguments& arguments, const fs::path& file) {
  OnnxFile onnx{file, {}};
  if (const auto loss = arguments.take<std::string>("loss")) onnx.reading.loss = loss_named("loss", *loss);
  onnx.reading.huber_delta = arguments.take<double>("huber_delta");
  onnx.reading.loss_output = arguments.take<std::string>("loss_output");
  onnx.reading.allow_opaque = arguments.flag("allow_opaque", false);
  if (const auto shapes = arguments.take<std::map<std::string, Shape>>("input_shapes"))
    onnx.reading.input_shapes = *shapes;
  if (const auto values = arguments.take<std::map<std::string, double>>("input_values"))
    onnx.reading.input_values = *values;
  return onnx;
}

NetworkSpec take_network(Arguments& arguments) {
  const auto model = arguments.take<std::string>("model");
  const auto onnx = arguments.take<fs::path>("onnx");
  const auto instance = arguments.take<std::shared_ptr<Instance>>("instance");
  const int given = static_cast<int>(model.has_value()) + static_cast<int>(onnx.has_value()) +
                    static_cast<int>(instance.has_value());
  if (given != 1) throw py::type_error("model, onnx, instance: one of them says what to schedule");
  if (!onnx)
    for (const char* name :
         {"input_shapes", "input_values", "loss", "huber_delta", "loss_output", "allow_opaque"})
      if (!arguments.object(name).is_none()) throw InputError(name, "is for `onnx`");
  if (!model && !arguments.object("sequence_length").is_none())
    throw InputError("sequence_length",
                     onnx ? "is for built-in networks; `input_shapes` sets the inputs of `onnx`"
                          : "is for built-in networks; a graph holds its shapes");
  NetworkSpec network;
  if (model) network.source = BuiltInNetwork{*model, arguments.count("sequence_length")};
  if (onnx) network.source = take_onnx(arguments, *onnx);
  if (instance) network.source = **instance;
  network.batch_size = arguments.count("batch_size");
  if (const auto name = arguments.take<std::string>("optimizer"))
    network.optimizer = optimizer_named("optimizer", *name);
  network.accumulate = arguments.count("accumulate");
  network.clip_norm = arguments.take<double>("clip_norm");
  network.label_smoothing = arguments.take<double>("label_smoothing");
  if (const auto name = arguments.take<std::string>("precision"))
    network.precision = precision_named("precision", *name);
  network.trainable = arguments.take<std::string>("trainable");
  return network;
}

DeviceSpec take_device(Arguments& arguments) {
  DeviceSpec device;
  device.name = arguments.take<std::string>("device").value_or("");
  if (const auto json = arguments.take<std::string>("device_json"))
    device.profile = device_from_json(parse_json(*json, "device"), "device");
  return device;
}

Policy take_policy(Arguments& arguments, const NetworkSpec& network, Wanted wanted) {
  const auto [limits, staged] = wanted;
  Policy policy;
  if (const auto name = arguments.take<std::string>("semantics"))
    policy.semantics = semantics_named("semantics", *name);
  policy.paging = arguments.flag("paging", true);
  policy.rematerialization = arguments.flag("remat", true);
  const bool defaults = !staged && has_device_defaults(policy, network);
  const auto persistent = arguments.take<std::string>("persistent");
  if (persistent)
    policy.persistent = persistent_policy_named("persistent", *persistent);
  else if (defaults && limits)
    policy.persistent = PersistentPolicy::automatic;
  if (staged && policy.persistent == PersistentPolicy::automatic)
    throw InputError("persistent", "\"auto\" pages parameters, as no staged schedule can: leave it out");
  policy.split.tables = policy.paging && !staged;
  const py::object split = arguments.object("split");
  if (split.is_none() || split.equal(py::str("auto")))
    policy.split.automatic = limits && (defaults || !split.is_none());
  else if (!split.equal(py::str("off")))
    policy.split.part = Arguments(py::kwargs(py::dict(py::arg("split") = split))).bytes("split");
  if (limits) take_limits(arguments, policy);
  return policy;
}

Problem take_problem(Arguments& arguments) {
  Problem problem;
  problem.network = take_network(arguments);
  problem.device = take_device(arguments);
  const bool staged = arguments.flag("staged", false);
  problem.policy = take_policy(arguments, problem.network, {true, staged});
  SolveOptions& options = problem.how.options;
  options.synchronous = !staged;
  if (const auto gap = arguments.fraction("gap")) options.gap = *gap;
  if (const auto limit = arguments.seconds("time_limit")) options.time_limit_seconds = limit->value();
  options.threads = arguments.threads();
  if (const auto name = arguments.take<std::string>("solver"))
    options.solver = choose<Solver>("solver", *name, {{"cbc", Solver::cbc}, {"highs", Solver::highs}});
  if (!has_solver(options.solver)) throw InputError("solver", no_highs());
  if (const auto name = arguments.take<std::string>("formulation"))
    options.formulation = choose<Formulation>(
        "formulation", *name, {{"tight", Formulation::tight}, {"published", Formulation::published}});
  if (const auto name = arguments.take<std::string>("order"))
    problem.how.best_order = choose<bool>("order", *name, {{"given", false}, {"best", true}});
  problem.how.on_time = arguments.fraction("on_time");
  problem.how.addresses = arguments.flag("addresses", true);
  return problem;
}

Answer posed_problem(const Problem& problem) {
  return posed_answer(problem.how, load(problem.network, problem.device, problem.policy), problem.policy);
}

void settle_least(Problem& problem) {
  if (!std::holds_alternative<LeastRam>(problem.policy.ram)) return;
  problem.least = least_budget(problem.policy, problem.how.options.time_limit_seconds,
                               [&problem](const SettledRam& with, double left) {
                                 Problem tried = problem;
                                 tried.policy = with_ram(tried.policy, with);
                                 look_quickly(tried.how, left);
                                 return answered(posed_problem(tried));
                               });
  problem.policy = with_ram(problem.policy, *problem.least);
}

void warn_of_least(const Problem& problem, py::ssize_t caller) {
  if (!problem.least || problem.least->has_plan) return;
  const std::string note = "ram_budget: " + with_argument_names(problem.least->note);
  if (PyErr_WarnEx(PyExc_UserWarning, note.c_str(), caller) != 0) throw py::error_already_set();
}

}  // namespace poet::python
