// poet models: the built-in networks, and which of them have published instances.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/cli/command.h"
#include "apps/shared/output.h"
#include "apps/shared/terminal.h"
#include "poet/base/amounts.h"
#include "poet/cost/tabulate.h"
#include "poet/frontend/zoo.h"
#include "poet/graph/dataflow.h"
#include "poet/pipeline/pose.h"
#include "poet/pipeline/published.h"
#include "poet/report/table.h"

namespace poet::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ModelRow {
  std::string name;
  std::string description;
  std::int64_t parameters = 0;
  std::int64_t forward_macs = 0;
  std::size_t ops = 0;
  std::size_t values = 0;
  std::size_t transient_values = 0;  // that a schedule decides about
  Bytes keep_all_peak{};             // parameters included
};

ModelRow measure(const ZooEntry& entry) {
  ModelRow model;
  model.name = entry.name;
  model.description = entry.description;
  const Graph forward = entry.build({});
  model.parameters = parameter_count(forward);
  model.forward_macs = forward_macs(forward);

  // What stays in RAM when everything is kept depends on no device's speed, but the replay wants costs.
  DeviceProfile any;
  any.flops_per_second = 1;
  any.memory_bytes_per_second = 1;
  const Workload workload = load({BuiltInNetwork{entry.name, {}}, {}, {}, {}}, {"", any}, {});
  const Instance& instance = workload.instance;
  model.ops = instance.graph.ops.size();
  model.values = instance.graph.values.size();
  model.transient_values = dataflow(instance.graph).transients.size();
  model.keep_all_peak = figures_of(instance, workload.semantics).keep_all.peak_ram;
  return model;
}

Json models_json(const std::vector<ModelRow>& models) {
  Json json = Json::object();
  json["format"] = 1;
  json["models"] = Json::array();
  for (const ModelRow& model : models) {
    Json item = Json::object();
    item["name"] = model.name;
    item["description"] = model.description;
    item["parameters"] = model.parameters;
    item["forward_macs"] = model.forward_macs;
    item["ops"] = model.ops;
    item["values"] = model.values;
    item["transient_values"] = model.transient_values;
    item["keep_all_peak_ram_bytes"] = model.keep_all_peak.value();
    json["models"].push_back(std::move(item));
  }
  json["published_instances"] = Json::array();
  for (const PublishedName& name : published_instances()) {
    json["published_instances"].push_back(Json{{"model", name.model}, {"platform", name.platform}});
  }
  return json;
}

std::string models_text(const std::vector<ModelRow>& models) {
  Table table({{"network", Align::left},
               {"parameters", Align::right},
               {"forward MACs", Align::right},
               {"ops", Align::right},
               {"values", Align::right},
               {"transient", Align::right},
               {"keep all", Align::right},
               {"description", Align::left}});
  for (const ModelRow& model : models) {
    table.add({model.name, format_count(model.parameters),
               format_short(static_cast<double>(model.forward_macs)),
               format_count(static_cast<std::int64_t>(model.ops)),
               format_count(static_cast<std::int64_t>(model.values)),
               format_count(static_cast<std::int64_t>(model.transient_values)),
               format_bytes(model.keep_all_peak), model.description});
  }
  std::string out = terminal_table(table);
  out +=
      "\n" +
      wrapped(
          "Ops and values are those of one training step at batch 1 with SGD; values include views and "
          "parameters, \"transient\" are those that a schedule decides about. \"Keep all\" is the RAM that "
          "the step needs when every value is kept until its last use, parameters included.",
          prose_width(), 0) +
      "\n";

  std::vector<std::string> names;
  std::vector<std::string> platforms;
  for (const PublishedName& name : published_instances()) {
    if (std::find(names.begin(), names.end(), name.model) == names.end()) names.push_back(name.model);
    if (std::find(platforms.begin(), platforms.end(), name.platform) == platforms.end())
      platforms.push_back(name.platform);
  }
  if (!names.empty()) {
    std::sort(platforms.begin(), platforms.end());
    out += fmt::format("Published instances (--semantics published or staged), each on {1}:\n{0}.\n",
                       fmt::join(names, ", "), fmt::join(platforms, ", "));
  }
  return out;
}

class Models final : public Command {
 public:
  explicit Models(CommandLine& program) : Command(program.command("models", "list the built-in networks")) {
    parser_.flag("--json", json_, "print one JSON object instead of text");
  }

  int run() override {
    std::vector<ModelRow> models;
    for (const ZooEntry& entry : zoo()) models.push_back(measure(entry));
    if (json_)
      print_answer(models_json(models));
    else
      print_text(models_text(models));
    return kAnswer;
  }

 private:
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_models(CommandLine& program) { return std::make_unique<Models>(program); }

}  // namespace poet::cli
