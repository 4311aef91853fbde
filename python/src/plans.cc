// Plans: read, written, judged by the verifier, drawn.

#include "python/src/plans.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "poet/base/units.h"
#include "poet/cost/json_reader.h"
#include "poet/pipeline/names.h"
#include "poet/plan/file/plan_file.h"
#include "poet/report/figure.h"
#include "poet/report/html.h"
#include "poet/report/picture_json.h"
#include "poet/report/text.h"
#include "poet/report/verdict.h"
#include "python/src/arguments.h"
#include "python/src/bindings.h"

namespace poet::python {
namespace {

SharedPlan judged(PlanFile file, const std::string& title) {
  auto plan = std::make_shared<LoadedPlan>();
  plan->picture = picture_of(std::move(file), title);
  plan->name = title;
  return plan;
}

std::vector<SharedPlan> read(const std::filesystem::path& file, const py::kwargs& limits) {
  Arguments arguments(limits);
  const auto semantics = arguments.take<std::string>("semantics");
  const std::optional<Bytes> ram = arguments.bytes("ram_budget");
  arguments.finish();
  std::optional<Semantics> rules;
  if (semantics) rules = semantics_named("semantics", *semantics);
  std::vector<SharedPlan> plans;
  for (LoadedPlan& plan : load_plans(file.string(), rules, ram))
    plans.push_back(std::make_shared<LoadedPlan>(std::move(plan)));
  return plans;
}

py::bytes to_bytes(const LoadedPlan& plan) {
  const std::vector<std::uint8_t> bytes = to_binary(plan.picture.plan);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

SharedPlan from_bytes(const std::string& bytes, const std::string& title) {
  return judged(plan_from_binary({bytes.begin(), bytes.end()}, title), title);
}

std::string page(const std::vector<SharedPlan>& plans) {
  std::vector<Picture> pictures;
  for (const SharedPlan& plan : plans) pictures.push_back(plan->picture);
  return html_page(pictures);
}

}  // namespace

void add_plans(py::module_& module) {
  py::class_<LoadedPlan, std::shared_ptr<LoadedPlan>>(module, "Plan")
      .def_static("from_bytes", &from_bytes)
      .def("to_bytes", &to_bytes)
      .def_property_readonly("name", [](const LoadedPlan& plan) { return plan.name; })
      .def("write", [](const LoadedPlan& plan,
                       const std::filesystem::path& file) { write_plan(plan.picture.plan, file); })
      .def("write_image", [](const LoadedPlan& plan,
                             const std::filesystem::path& file) { write_device_image(plan.picture.plan, file); })
      .def("write_figure",
           [](const LoadedPlan& plan, const std::filesystem::path& file, const std::string& axis) {
             write_figure(plan.picture, choose<Axis>("axis", axis, {{"time", Axis::time}, {"step", Axis::step}}),
                          file);
           })
      .def("verdict", [](const LoadedPlan& plan) { return json_text(verdict_json(plan)); })
      .def("picture", [](const LoadedPlan& plan) { return json_text(picture_json(plan.picture)); })
      .def("text",
           [](const LoadedPlan& plan, int width, bool all) {
             TextOptions options;
             options.width = width;
             options.all = all;
             return picture_text(plan.picture, options);
           })
      .def("instance", [](const LoadedPlan& plan) {
        return std::make_shared<Instance>(plan.picture.plan.instance);
      });
  module.def("read_plans", &read);
  module.def("page", &page);
}

}  // namespace poet::python
