// poet.profile: this machine measured for a network.

#include "python/src/machine.h"

#include <pybind11/stl/filesystem.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "poet/base/error.h"
#include "poet/cost/device.h"
#include "poet/cost/json_reader.h"
#include "poet/pipeline/names.h"
#include "poet/pipeline/network.h"
#include "poet/runtime/profile/machine_profile.h"
#include "poet/runtime/sensors/process_memory.h"
#include "poet/split/split.h"
#include "python/src/callbacks.h"
#include "python/src/problem.h"

namespace poet::python {
namespace {

constexpr std::uint64_t kMostThreads = 1024;  // as of `poet run`

std::optional<Watts> take_watts(Arguments& arguments, const char* name, bool positive) {
  const auto watts = arguments.take<double>(name);
  if (!watts) return std::nullopt;
  if (!std::isfinite(*watts) || *watts < 0 || (positive && *watts == 0))
    throw InputError(name, positive ? "must be finite and > 0" : "must be finite and at least 0");
  return Watts(*watts);
}

std::string profile(const py::kwargs& given) {
  Arguments arguments(given);
  Callbacks callbacks{py::none()};
  const NetworkSpec network = take_network(arguments);
  const auto part = arguments.bytes("split");
  runtime::MachineProfileOptions how;
  how.name = arguments.take<std::string>("name").value_or("this machine");
  if (how.name.empty()) throw InputError("name", "must not be empty");
  how.kernels = take_kernels(arguments);
  if (const auto where = arguments.take<std::filesystem::path>("storage")) how.storage.where = *where;
  how.power.active = take_watts(arguments, "active_watts", true);
  how.power.idle = take_watts(arguments, "idle_watts", false);
  how.power.storage = take_watts(arguments, "storage_watts", false);
  how.power.active_origin = how.power.idle_origin = how.power.storage_origin = "assumed: as given to poet.profile";
  if (const auto budget = arguments.seconds("seconds")) how.budget = *budget;
  arguments.finish();
  how.interrupted = callbacks.interrupted();
  std::string device;
  {
    const py::gil_scoped_release unlocked;
    Graph training = training_graph(network);
    if (part) training = split(training, {*part});
    device = json_text(to_json(runtime::profile_machine(training, how).device));
  }
  callbacks.rethrow();
  return device;
}

}  // namespace

runtime::KernelOptions take_kernels(Arguments& arguments) {
  using runtime::KernelLibrary;
  runtime::KernelOptions kernels;
  if (const auto name = arguments.take<std::string>("kernels"))
    kernels.library = choose<KernelLibrary>(
        "kernels", *name,
        {{"fast", KernelLibrary::fast}, {"lean", KernelLibrary::lean}, {"reference", KernelLibrary::reference}});
  kernels.threads = static_cast<int>(arguments.whole("threads", 1, kMostThreads).value_or(1));
  return kernels;
}

void add_machine(py::module_& module) {
  module.def("profile", &profile);
  module.def("available_memory", [] { return runtime::available_memory().value(); });
}

}  // namespace poet::python
