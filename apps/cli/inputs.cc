#include "apps/cli/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <system_error>
#include <tuple>

#include "apps/cli/choose.h"
#include "apps/shared/amounts.h"
#include "poet/base/data_dir.h"
#include "poet/base/error.h"
#include "poet/cost/instance_json.h"
#include "poet/cost/tabulate.h"

namespace poet::cli {
namespace {

std::optional<Semantics> chosen_semantics(const InputOptions& options) {
  if (!options.semantics) return std::nullopt;
  return choose<Semantics>(
      "--semantics", *options.semantics,
      {{"device", Semantics::device}, {"staged", Semantics::staged}, {"published", Semantics::published}});
}

/// Options that make sense for a built-in network only, because elsewhere graph and costs are fixed. `why`
/// ends the message: "the published instances are fixed graphs...".
void refuse_graph_options(const InputOptions& options, bool batch_of_one_is_fine, const std::string& why) {
  if (options.batch_size &&
      !(batch_of_one_is_fine && parse_count("--batch-size", *options.batch_size) == 1)) {
    throw InputError("--batch-size", why);
  }
  const std::vector<std::pair<std::string, const std::optional<std::string>*>> others = {
      {"--sequence-length", &options.sequence_length},
      {"--persistent", &options.persistent},
      {"--optimizer", &options.optimizer},
      {"--trainable", &options.trainable}};
  for (const auto& [name, value] : others) {
    if (value->has_value()) throw InputError(name, why);
  }
}

Inputs load_file(const InputOptions& options) {
  if (options.model || options.onnx)
    throw InputError(fmt::format("--instance and --{} exclude each other: an instance holds its graph",
                                 options.model ? "model" : "onnx"));
  if (options.platform) {
    throw InputError("--platform", "an instance file holds its costs; leave this out or use --model");
  }
  refuse_graph_options(options, false,
                       "changes the graph or its costs, and an instance file fixes both; use --model");
  Inputs inputs;
  inputs.instance = read_instance(*options.instance);
  inputs.semantics =
      chosen_semantics(options).value_or(inputs.instance.has_device ? Semantics::device : Semantics::staged);
  inputs.origin = "instance file " + *options.instance;
  return inputs;
}

Inputs load_published(const InputOptions& options, Semantics semantics) {
  const std::string& model = *options.model;
  const std::string& platform = *options.platform;
  refuse_graph_options(options, true,
                       fmt::format("--semantics {} uses the published instances, whose graphs and costs are "
                                   "fixed (batch 1, parameters "
                                   "not counted); leave this out or use --semantics device",
                                   to_string(semantics)));
  std::vector<std::string> models;
  std::vector<std::string> platforms;
  bool known = false;
  for (const PublishedName& name : published_instances()) {
    known = known || (name.model == model && name.platform == platform);
    if (std::find(models.begin(), models.end(), name.model) == models.end()) models.push_back(name.model);
    if (std::find(platforms.begin(), platforms.end(), name.platform) == platforms.end()) {
      platforms.push_back(name.platform);
    }
  }
  std::sort(platforms.begin(), platforms.end());
  if (!known) {
    throw InputError(
        fmt::format("no published instance of {} on {}; there are {}, each on {} (--semantics device takes "
                    "any built-in network and device)",
                    model, platform, listed(models), listed(platforms)));
  }
  Inputs inputs;
  inputs.instance = read_instance(data_dir() / "published" / (model + "." + platform + ".json"));
  inputs.semantics = semantics;
  inputs.origin = "published instance";
  return inputs;
}

Inputs build_network_instance(const InputOptions& options) {
  PersistentPolicy persistent = PersistentPolicy::counted;
  if (options.persistent) {
    persistent = choose<PersistentPolicy>(
        "--persistent", *options.persistent,
        {{"counted", PersistentPolicy::counted}, {"excluded", PersistentPolicy::excluded}});
  }
  TrainingNetwork network = load_network(options);
  DeviceProfile device = find_device(*options.platform);

  Inputs inputs;
  inputs.semantics = Semantics::device;
  inputs.origin = network.origin;
  inputs.notices = std::move(network.notices);
  inputs.persistent_excluded = persistent == PersistentPolicy::excluded;
  inputs.instance.graph = std::move(network.training);
  inputs.instance.costs = tabulate(inputs.instance.graph, device, persistent);
  inputs.instance.model = network.model;
  inputs.instance.platform = device.name;
  inputs.instance.source =
      fmt::format("{}, cost model of poet, device profile {}", network.source, *options.platform);
  inputs.instance.batch_size = network.batch_size;
  inputs.instance.has_device = true;
  inputs.device = std::move(device);
  return inputs;
}

}  // namespace

std::vector<PublishedName> published_instances() {
  namespace fs = std::filesystem;
  std::vector<PublishedName> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(data_dir() / "published", error)) {
    const std::string stem = entry.path().stem().string();
    const std::size_t dot = stem.find('.');
    if (entry.path().extension() != ".json" || dot == std::string::npos) continue;
    names.push_back({stem.substr(0, dot), stem.substr(dot + 1)});
  }
  std::sort(names.begin(), names.end(), [](const PublishedName& a, const PublishedName& b) {
    return std::tie(a.model, a.platform) < std::tie(b.model, b.platform);
  });
  return names;
}

Inputs load_inputs(const InputOptions& options) {
  const std::optional<Semantics> semantics = chosen_semantics(options);
  if (!options.model && !options.onnx && !options.instance)
    throw InputError("nothing to schedule: name a network (--model) or a file (--onnx, --instance)");
  check_onnx_options(options);
  if (options.instance) return load_file(options);
  if (options.model && options.onnx)
    throw InputError("--model and --onnx exclude each other: each names a network");
  const char* network = options.onnx ? "--onnx" : "--model";
  if (!options.platform) {
    throw InputError(
        fmt::format("--platform is needed with {}: which device (poet devices lists them)", network));
  }
  if (options.onnx) {
    if (semantics && *semantics != Semantics::device)
      throw InputError("--semantics",
                       "with --onnx only device: the paper's rules come with published instances");
    if (options.sequence_length)
      throw InputError("--sequence-length",
                       "is for built-in networks; --input-shape sets the inputs of --onnx");
  } else if (semantics && *semantics != Semantics::device) {
    return load_published(options, *semantics);
  }
  return build_network_instance(options);
}

Limits read_limits(const LimitOptions& options, Seconds unlimited_runtime) {
  if (!options.ram_budget)
    throw InputError("--ram-budget is needed: how much RAM the step may use (300KiB, 2MB, ...)");
  Limits limits;
  limits.ram_budget = parse_bytes("--ram-budget", *options.ram_budget);
  if (options.max_bytes_written) {
    limits.max_bytes_written = parse_bytes("--max-bytes-written", *options.max_bytes_written);
  }

  const int deadlines = static_cast<int>(options.runtime_budget.has_value()) +
                        static_cast<int>(options.deadline.has_value()) +
                        static_cast<int>(options.total_deadline.has_value());
  if (deadlines > 1) {
    throw InputError(
        "--runtime-budget, --deadline and --total-deadline exclude each other: give one of them");
  }
  if (options.total_deadline.has_value() != options.steps.has_value()) {
    throw InputError(
        "--total-deadline and --steps need each other: the time for all steps, and how many there are");
  }
  if (options.runtime_budget) {
    limits.deadline = parse_factor("--runtime-budget", *options.runtime_budget) * unlimited_runtime;
  } else if (options.deadline) {
    limits.deadline = parse_duration("--deadline", *options.deadline);
  } else if (options.total_deadline) {
    const double steps = static_cast<double>(parse_count("--steps", *options.steps));
    limits.deadline = Seconds(parse_duration("--total-deadline", *options.total_deadline).value() / steps);
  }
  if (limits.deadline && !(limits.deadline->value() < std::numeric_limits<double>::infinity())) {
    throw InputError("--runtime-budget", "the deadline that follows is not finite");
  }
  return limits;
}

}  // namespace poet::cli
