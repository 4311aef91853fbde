#include "bench/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "poet/base/data_dir.h"
#include "poet/base/error.h"
#include "poet/cost/device.h"
#include "poet/cost/instance_json.h"
#include "poet/frontend/zoo.h"
#include "poet/graph/dataflow.h"
#include "poet/optimize/heuristic/greedy.h"
#include "poet/optimize/problem/problem.h"
#include "poet/pipeline/pose.h"
#include "tests/support/random_layered_graph.h"
#include "tests/support/random_training_graph.h"

namespace poet::bench {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> json_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// W, the largest working set of one op, and A, the bytes of all forward values.
RamRange published_range(const Instance& instance) {
  const Dataflow flow = dataflow(instance.graph);
  RamRange range;
  range.least = ram_floor(instance, Semantics::published).bytes();
  for (OpId op : ids<OpId>(instance.graph.ops.size()))
    for (ValueId v : flow.writes[op])
      if (instance.graph.ops[op].pass == Pass::forward) range.most += instance.costs.values[v].bytes;
  return range;
}

// From the least RAM that the greedy search gets by with to the keep-all peak. The leanest schedule may take
// long; where it breaks the deadline the least RAM is found by bisection, to a hundredth of the range.
RamRange least_to_keep_all(const Instance& instance, Semantics semantics,
                           std::optional<double> deadline_factor) {
  const auto never = [] { return false; };
  const Report keep_all = replay_keep_all(instance, semantics);
  RamRange range;
  range.most = keep_all.peak_ram;
  Limits limits{range.most, std::nullopt, std::nullopt};
  if (deadline_factor) limits.deadline = Seconds(*deadline_factor * keep_all.runtime.value());
  const Problem problem = make_problem({instance, limits, semantics}, {});
  const Candidate lean = lean_schedule(problem, never);
  range.least = Bytes(problem.persistent + lean.peak);
  if (lean.seconds <= problem.deadline) return range;

  Bytes answered = range.most;
  for (int step = 0; step < 7; ++step) {
    limits.ram_budget = Bytes(range.least.value() + (answered - range.least).value() / 2);
    if (greedy(make_problem({instance, limits, semantics}, {}), never)) {
      answered = limits.ram_budget;
    } else {
      range.least = limits.ram_budget;
    }
  }
  range.least = answered;
  return range;
}

Subject load_published(const fs::path& file) {
  Subject subject;
  subject.instance = read_instance(file);
  subject.ram = published_range(subject.instance);
  return subject;
}

Subject load_recompute(const fs::path& file) {
  std::ifstream stream(file);
  const auto json = nlohmann::ordered_json::parse(stream, nullptr, false);
  Subject subject;
  for (const auto& [field, bytes] :
       {std::pair{"working_set_bytes", &subject.ram.least}, {"keep_all_peak_bytes", &subject.ram.most}}) {
    if (!json.is_object() || !json.contains(field) || !json[field].is_number_integer())
      throw InputError(file.string(), fmt::format("needs a whole number \"{}\"", field));
    *bytes = Bytes(json[field].get<std::int64_t>());
  }
  subject.instance = instance_from_json(json, file.string());
  return subject;
}

Subject load_random(int ops, int seed, Semantics semantics, std::optional<double> deadline_factor,
                    bool with_ram) {
  test::RandomTrainingGraphOptions options;
  options.ops = ops;
  Subject subject;
  subject.instance = test::random_training_graph(static_cast<std::uint64_t>(seed), options);
  if (with_ram) subject.ram = least_to_keep_all(subject.instance, semantics, deadline_factor);
  return subject;
}

Subject load_layered(int ops, int seed, bool as_share) {
  test::RandomLayeredGraphOptions options;
  options.ops = ops;
  Subject subject;
  subject.instance = test::random_layered_graph(static_cast<std::uint64_t>(seed), options);
  if (!as_share) subject.ram.least = ram_floor(subject.instance, Semantics::published).bytes();
  subject.ram.most = replay_keep_all(subject.instance, Semantics::published).peak_ram;
  return subject;
}

Subject load_zoo(const std::string& network, const std::string& device_name,
                 std::optional<double> deadline_factor, bool with_ram) {
  Subject subject;
  subject.instance = load({BuiltInNetwork{network, {}}, {}, {}, {}}, {device_name, {}}, {}).instance;
  if (with_ram) subject.ram = least_to_keep_all(subject.instance, Semantics::device, deadline_factor);
  return subject;
}

// The cases of a set, with the deadline and the time limit asked for but without their fraction.
std::vector<Case> instances(const std::string& set, const CaseOptions& options,
                            const std::function<void(const std::string&)>& note) {
  std::vector<Case> found;
  const auto add = [&](const std::string& name, Semantics semantics, std::optional<double> deadline,
                       double time_limit) -> Case& {
    Case one;
    one.set = set;
    one.name = name;
    one.semantics = semantics;
    one.deadline_factor = options.deadline ? options.deadline : deadline;
    one.time_limit_seconds = options.time_limit_seconds.value_or(time_limit);
    return found.emplace_back(std::move(one));
  };
  if (set == "published") {
    for (const fs::path& file : json_files(data_dir() / "published"))
      add(file.stem(), Semantics::published, 1.3, 60).load = [file](bool) { return load_published(file); };
  } else if (set == "recompute") {
    if (!fs::is_directory(options.recompute_folder)) {
      note(fmt::format("set recompute skipped: there is no folder {}", options.recompute_folder.string()));
      return found;
    }
    for (const fs::path& file : json_files(options.recompute_folder))
      add(file.stem(), Semantics::published, std::nullopt, 60).load = [file](bool) {
        return load_recompute(file);
      };
  } else if (set == "random") {
    const Semantics semantics = options.random_semantics;
    for (int ops : options.random_ops)
      for (int seed : options.random_seeds) {
        Case& one =
            add(fmt::format("random.{}.{}", ops, seed), semantics, std::nullopt, ops <= 1000 ? 120 : 300);
        one.load = [ops, seed, semantics, deadline = one.deadline_factor](bool with_ram) {
          return load_random(ops, seed, semantics, deadline, with_ram);
        };
      }
  } else if (set == "layered" || set == "layered_share") {
    for (int ops : options.layered_ops)
      for (int seed : options.random_seeds)
        add(fmt::format("{}.{}", ops, seed), Semantics::published, std::nullopt, 120).load =
            [ops, seed, as_share = set != "layered"](bool) { return load_layered(ops, seed, as_share); };
  } else if (set == "zoo") {
    for (const ZooEntry& network : zoo())
      for (const DeviceProfile& device : shipped_devices()) {
        Case& one =
            add(network.name + "." + device.name, Semantics::device, 1.3, network.name == "bert" ? 120 : 30);
        one.load = [model = network.name, platform = device.name, deadline = one.deadline_factor](
                       bool with_ram) { return load_zoo(model, platform, deadline, with_ram); };
      }
  } else {
    throw InputError(
        "--set",
        fmt::format("\"{}\" is none of published, recompute, random, layered, layered_share, zoo", set));
  }
  return found;
}

std::vector<double> usual_fractions(const std::string& set) {
  if (set == "published") return {0.1, 0.25, 0.5, 0.75};
  if (set == "recompute") return {0.75, 0.5, 0.25};
  if (set == "layered_share") return {0.9, 0.8};
  return {0.5, 0.25};
}

bool wanted(const Case& one, const std::vector<std::string>& only) {
  const std::string name = one.set + "/" + one.name;
  return only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& part) {
           return name.find(part) != std::string::npos;
         });
}

}  // namespace

Bytes RamRange::at(double fraction) const {
  return least + Bytes(static_cast<std::int64_t>(
                     std::floor(fraction * static_cast<double>(most.value() - least.value()))));
}

Limits limits_of(const Case& one, const Instance& instance, Bytes ram_budget) {
  Policy policy;
  policy.ram = ram_budget;
  policy.deadline.factor = one.deadline_factor;
  Workload workload;
  workload.instance = instance;
  return poet::limits_of(policy, workload, figures_of(instance, one.semantics));
}

std::string title(const Case& one) { return fmt::format("{}/{} f={}", one.set, one.name, one.fraction); }

std::vector<Case> cases(const CaseOptions& options, const std::function<void(const std::string&)>& note) {
  std::vector<Case> all;
  for (const std::string& set : options.sets) {
    const std::vector<double> fractions =
        options.fractions.empty() ? usual_fractions(set) : options.fractions;
    for (Case one : instances(set, options, note)) {
      if (!wanted(one, options.only)) continue;
      for (double fraction : fractions) {
        one.fraction = fraction;
        all.push_back(one);
      }
    }
  }
  return all;
}

}  // namespace poet::bench
