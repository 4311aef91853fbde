#include "apps/shared/inputs.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "apps/shared/amounts.h"
#include "apps/shared/called_as.h"
#include "poet/base/error.h"
#include "poet/base/nearest.h"
#include "poet/pipeline/names.h"

namespace poet::cli {
namespace {

void check_deadlines(const LimitOptions& limits) {
  std::vector<std::string> given;
  for (const auto& [option, text] :
       {std::pair("--runtime-budget", &limits.runtime_budget), std::pair("--deadline", &limits.deadline),
        std::pair("--total-deadline", &limits.total_deadline)})
    if (*text) given.emplace_back(option);
  if (given.size() > 1)
    throw InputError(given[1], fmt::format("cannot be combined with {}: give one of them", given[0]));
  if (limits.total_deadline && !limits.steps)
    throw InputError("--total-deadline", "needs --steps: how many steps that time is for");
  if (limits.steps && !limits.total_deadline)
    throw InputError("--steps", "needs --total-deadline: the time for all of them");
}

}  // namespace

NetworkSpec network_spec(const InputOptions& options) {
  if (!options.model && !options.onnx && !options.instance)
    throw InputError("--model",
                     "is missing, or --onnx or --instance with a file: there is nothing to schedule");
  check_onnx_options(options);
  if (!options.instance) return network_spec(static_cast<const NetworkOptions&>(options));
  if (options.model || options.onnx)
    throw InputError("--instance", fmt::format("cannot be combined with --{}: an instance holds its graph",
                                               options.model ? "model" : "onnx"));
  // Beside a network it says how that is trained, which an instance file has fixed.
  NetworkOptions changes = static_cast<const NetworkOptions&>(options);
  changes.model = "";
  NetworkSpec spec = network_spec(changes);
  if (options.sequence_length)
    throw InputError("--sequence-length", "is for built-in networks; an instance holds its graph");
  spec.source = InstanceFile{*options.instance};
  return spec;
}

DeviceSpec device_spec(const InputOptions& options) {
  if (!options.platform && !options.instance)
    throw InputError("--platform",
                     fmt::format("is needed with --{}: which device", options.onnx ? "onnx" : "model"),
                     fmt::format("{} devices lists them", called_as()));
  return {options.platform.value_or(""), std::nullopt};
}

Policy policy_of(const InputOptions& options) {
  Policy policy;
  if (options.semantics) policy.semantics = semantics_named("--semantics", *options.semantics);
  if (options.split && same_name(*options.split, "auto"))
    policy.split.automatic = true;
  else if (options.split && !same_name(*options.split, "off"))
    policy.split.part = parse_bytes("--split", *options.split);
  if (options.persistent) policy.persistent = persistent_policy_named("--persistent", *options.persistent);
  return policy;
}

Policy policy_of(const InputOptions& options, const LimitOptions& limits) {
  Policy policy = policy_of(options);
  policy.within_device = !limits.beyond_device_ram;
  if (limits.max_bytes_written)
    policy.max_bytes_written = parse_bytes("--max-bytes-written", *limits.max_bytes_written);
  check_deadlines(limits);
  if (limits.runtime_budget) {
    policy.deadline.factor = parse_factor("--runtime-budget", *limits.runtime_budget);
  } else if (limits.deadline) {
    policy.deadline.time = parse_duration("--deadline", *limits.deadline);
  } else if (limits.total_deadline) {
    const double steps = static_cast<double>(parse_count("--steps", *limits.steps));
    policy.deadline.time =
        Seconds(parse_duration("--total-deadline", *limits.total_deadline).value() / steps);
  }
  return policy;
}

}  // namespace poet::cli
