// Instances: training graphs with their costs; and what networks and devices there are.

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "poet/cost/device.h"
#include "poet/cost/instance_json.h"
#include "poet/cost/json_reader.h"
#include "poet/frontend/zoo.h"
#include "poet/pipeline/pose.h"
#include "poet/pipeline/published.h"
#include "python/src/problem.h"

namespace poet::python {
namespace {

using Shared = std::shared_ptr<Instance>;

Shared shared(Instance instance) { return std::make_shared<Instance>(std::move(instance)); }

/// An instance without limits, and what was changed on the way.
py::tuple load_instance(const py::kwargs& given) {
  Arguments arguments(given);
  const NetworkSpec network = take_network(arguments);
  const DeviceSpec device = take_device(arguments);
  const Policy policy = take_policy(arguments, network, {.limits = false});
  arguments.finish();
  Workload workload;
  {
    const py::gil_scoped_release unlocked;
    workload = load(network, device, policy);
  }
  return py::make_tuple(shared(std::move(workload.instance)), workload.notices);
}

std::string profile_json(const std::string& name) { return json_text(to_json(find_device(name))); }

}  // namespace

void add_instances(py::module_& module) {
  py::class_<Instance, Shared>(module, "Instance")
      .def_static("read", [](const std::filesystem::path& file) { return shared(read_instance(file)); })
      .def_static("from_json",
                  [](const std::string& text, const std::string& place) {
                    return shared(instance_from_json(parse_json(text, place), place));
                  })
      .def_static("published",
                  [](const std::string& model, const std::string& platform) {
                    return shared(read_published_instance({model, platform}));
                  })
      .def("to_json", [](const Instance& instance) { return json_text(to_json(instance)); });
  module.def("load", &load_instance);
  module.def("published_names", [] {
    std::vector<std::pair<std::string, std::string>> names;
    for (const PublishedName& name : published_instances()) names.emplace_back(name.model, name.platform);
    return names;
  });
  module.def("networks", [] {
    std::vector<std::pair<std::string, std::string>> networks;
    for (const ZooEntry& entry : zoo()) networks.emplace_back(entry.name, entry.description);
    return networks;
  });
  module.def("device_names", [] {
    std::vector<std::string> names;
    for (const DeviceProfile& device : shipped_devices()) names.push_back(device.name);
    return names;
  });
  module.def("device_json", &profile_json);
  // As it is read, so that what is wrong shows at once.
  module.def("check_device", [](const std::string& json) {
    return json_text(to_json(device_from_json(parse_json(json, "device"), "device")));
  });
}

}  // namespace poet::python
