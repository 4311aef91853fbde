#include "poet/study/sweep_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "poet/base/error.h"
#include "poet/base/nearest.h"
#include "poet/base/parse_amounts.h"
#include "poet/baselines/method.h"
#include "poet/cost/json_reader.h"
#include "poet/plan/file/limits_json.h"

namespace poet {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();  // of samples, tokens, dimensions

std::vector<JsonField> filled_list(const JsonField& field) {
  std::vector<JsonField> items = field.items();
  if (items.empty()) field.fail("must not be empty");
  return items;
}

std::string non_empty(const JsonField& field) {
  if (field.name().empty()) field.fail("must not be empty");
  return field.name();
}

std::vector<std::int64_t> sizes(const JsonField& object, std::string_view key) {
  if (!object.has(key)) return {};
  std::vector<std::int64_t> out;
  for (const JsonField& item : filled_list(object.at(key))) out.push_back(item.integer(1, kMost));
  return out;
}

SweepFile named_file(const JsonField& field, const fs::path& folder) {
  const std::string name = non_empty(field);
  try {
    return fingerprinted(folder / name);
  } catch (const InputError& error) {
    field.fail(error.what());
  }
}

/// {"input": [1, 3, 224, 224]} as "input=1x3x224x224", by name.
std::vector<std::string> read_shapes(const JsonField& field) {
  std::vector<std::string> shapes;
  if (!field.json().is_object())
    field.fail("must be an object of shapes, as in {\"input\": [1, 3, 224, 224]}");
  for (const auto& [name, ignored] : field.json().items()) {
    const std::vector<std::int64_t> shape = field.at(name).integers(1, kMost);
    if (name.empty() || shape.empty()) field.fail_at(name, "must be a name with a shape");
    shapes.push_back(fmt::format("{}={}", name, fmt::join(shape, "x")));
  }
  std::sort(shapes.begin(), shapes.end());
  return shapes;
}

/// {"rate": 16000} as "rate=16000", by name.
std::vector<std::string> read_values(const JsonField& field) {
  if (!field.json().is_object()) field.fail("must be an object of numbers, as in {\"rate\": 16000}");
  std::vector<std::string> values;
  for (const auto& [name, ignored] : field.json().items())
    values.push_back(fmt::format("{}={}", name, field.at(name).number()));
  std::sort(values.begin(), values.end());
  return values;
}

void read_network_object(const JsonField& field, const fs::path& folder, SweepSubject& subject) {
  SweepNetwork& network = subject.network;
  const int named = static_cast<int>(field.has("name")) + static_cast<int>(field.has("onnx")) +
                    static_cast<int>(field.has("instance"));
  if (named != 1) field.fail("must have one of name, onnx, instance");
  if (field.has("name")) {
    field.only({"name", "batch_sizes", "sequence_lengths", "trainable"});
    network.name = non_empty(field.at("name"));
  } else if (field.has("onnx")) {
    field.only({"onnx", "input_shapes", "input_values", "loss", "huber_delta", "loss_output", "allow_opaque",
                "batch_sizes", "trainable"});
    network.origin = NetworkOrigin::onnx;
    network.name = non_empty(field.at("onnx"));
    network.file = named_file(field.at("onnx"), folder);
    if (field.has("input_shapes")) network.input_shapes = read_shapes(field.at("input_shapes"));
    if (field.has("input_values")) network.input_values = read_values(field.at("input_values"));
    if (field.has("loss"))
      network.loss =
          field.at("loss").one_of({"cross-entropy", "mse", "l1", "huber", "bce", "bce-with-logits", "none"});
    if (field.has("huber_delta")) network.huber_delta = field.at("huber_delta").positive();
    if (field.has("loss_output")) network.loss_output = non_empty(field.at("loss_output"));
    if (field.has("allow_opaque")) network.allow_opaque = field.at("allow_opaque").boolean();
  } else {
    field.only({"instance"});
    network.origin = NetworkOrigin::instance;
    network.name = non_empty(field.at("instance"));
    network.file = named_file(field.at("instance"), folder);
  }
  if (field.has("trainable")) network.trainable = non_empty(field.at("trainable"));
  subject.batch_sizes = sizes(field, "batch_sizes");
  subject.sequence_lengths = sizes(field, "sequence_lengths");
}

SweepSubject read_network(const JsonField& field, const fs::path& folder) {
  SweepSubject subject;
  subject.place = field.place();
  if (field.json().is_object()) {
    read_network_object(field, folder, subject);
  } else if (field.json().is_string()) {
    subject.network.name = non_empty(field);
  } else {
    field.fail("must be a name, or an object with one of name, onnx, instance");
  }
  return subject;
}

SweepTarget read_platform(const JsonField& field, const fs::path& folder) {
  SweepTarget target{{non_empty(field), std::nullopt}, field.place()};
  const std::string& name = target.platform.name;
  // As find_device() tells files from names.
  if (name.find('/') != std::string::npos || name.ends_with(".json"))
    target.platform.file = named_file(field, folder);
  return target;
}

RamBudget read_ram(const JsonField& field) {
  if (field.json().is_string()) return parse_ram_budget(field.place(), field.text(), BudgetSource::sweep);
  if (!field.json().is_number())
    field.fail(
        "must be a number in (0, 1], an amount such as \"300KiB\", or a part of keep-all RAM such as "
        "\"10%\"");
  const RamAboveFloor ram{field.number()};
  if (!(ram.fraction > 0 && ram.fraction <= 1))
    field.fail(
        "a number must be in (0, 1], a part of the way to keeping everything; "
        "bytes are \"300KiB\", parts of keep-all RAM \"10%\"");
  return ram;
}

StepDeadline read_deadline(const JsonField& field) {
  StepDeadline deadline;
  if (field.json().is_string()) {
    deadline.time = parse_duration(field.place(), field.text());
  } else if (field.json().is_number()) {
    deadline.factor = field.positive();
  } else if (!field.json().is_null()) {
    field.fail("must be null, a factor such as 1.3, or a time such as \"50ms\"");
  }
  return deadline;
}

std::vector<std::string> read_methods(const JsonField& list) {
  std::vector<std::string> names;
  for (const JsonField& item : filled_list(list)) {
    if (same_name(item.text(), "all")) {
      for (const Method& method : methods()) names.emplace_back(method.name);
      continue;
    }
    try {
      names.emplace_back(find_method(item.text()).name);
    } catch (const InputError& error) {
      item.fail(error.what());
    }
  }
  return names;
}

/// A fraction as text ("1%") or number.
double read_gap(const JsonField& field) {
  if (field.json().is_string()) return parse_fraction(field.place(), field.text());
  const double gap = field.non_negative();
  if (gap > 1) field.fail("must be from 0 to 1");
  return gap;
}

double read_time_limit(const JsonField& field) {
  return field.json().is_string() ? parse_duration(field.place(), field.text()).value() : field.positive();
}

/// "auto" or bytes; nothing for "off".
std::optional<std::string> read_split(const JsonField& field, const std::vector<RamBudget>& ram) {
  const std::string& text = field.text();
  if (same_name(text, "off")) return std::nullopt;
  if (!same_name(text, "auto")) return fmt::format("{}", parse_bytes(field.place(), text).value());
  const bool fractions = std::any_of(ram.begin(), ram.end(), [](const RamBudget& budget) {
    return std::holds_alternative<RamAboveFloor>(budget);
  });
  if (fractions)
    field.fail(
        "\"auto\" needs RAM in bytes or as \"10%\" of keep-all RAM: the way to it depends on the parts");
  return "auto";
}

/// With the paper's rules a name means a published instance, whose graph and costs are fixed.
void check_published(const JsonField& root, const SweepSpec& spec) {
  if (!spec.semantics || *spec.semantics == Semantics::device) return;
  const std::string why =
      fmt::format("with semantics {} networks are the published instances, whose graphs and costs are fixed",
                  to_string(*spec.semantics));
  for (const char* key : {"sequence_lengths", "persistent", "split", "optimizer", "accumulate", "clip_norm",
                          "label_smoothing", "precision"}) {
    if (root.has(key)) root.fail_at(key, why);
  }
  const auto other = [](std::int64_t batch) { return batch != 1; };
  if (std::any_of(spec.batch_sizes.begin(), spec.batch_sizes.end(), other))
    root.fail_at("batch_sizes", why + " (batch 1)");
  for (const SweepSubject& subject : spec.networks) {
    if (subject.network.origin == NetworkOrigin::onnx)
      throw InputError(subject.place, "an ONNX file has device semantics only");
    if (subject.network.trainable || !subject.sequence_lengths.empty() ||
        std::any_of(subject.batch_sizes.begin(), subject.batch_sizes.end(), other))
      throw InputError(subject.place, why);
  }
}

SweepSpec read_lists(const JsonField& root, const fs::path& folder) {
  SweepSpec spec;
  for (const JsonField& item : filled_list(root.at("networks")))
    spec.networks.push_back(read_network(item, folder));
  if (const char* devices = devices_field(root); root.has(devices)) {
    for (const JsonField& item : filled_list(root.at(devices)))
      spec.platforms.push_back(read_platform(item, folder));
  }
  for (const SweepSubject& subject : spec.networks) {
    if (spec.platforms.empty() && subject.network.origin != NetworkOrigin::instance)
      root.fail_at("platforms", "is missing: a network needs a device");
  }
  for (const JsonField& item : filled_list(root.at("ram"))) spec.ram.push_back(read_ram(item));
  spec.deadlines = {StepDeadline{}};
  if (root.has("deadlines")) {
    spec.deadlines.clear();
    for (const JsonField& item : filled_list(root.at("deadlines")))
      spec.deadlines.push_back(read_deadline(item));
  }
  spec.methods = read_methods(root.at("methods"));
  return spec;
}

/// Instance files fix graph and costs: what would be without effect is refused.
void check_instances(const JsonField& root, const SweepSpec& spec) {
  const bool only_instances = std::all_of(
      spec.networks.begin(), spec.networks.end(),
      [](const SweepSubject& subject) { return subject.network.origin == NetworkOrigin::instance; });
  if (!only_instances) return;
  for (const char* key : {devices_field(root), "batch_sizes", "sequence_lengths", "persistent", "split",
                          "optimizer", "accumulate", "clip_norm", "label_smoothing", "precision"}) {
    if (root.has(key)) root.fail_at(key, "is without effect on instance files, which hold graph and costs");
  }
}

/// The point without limits and method; defaults are written out, so that saying them changes no key.
SweepPoint instance_point(const SweepSpec& spec, const SweepSubject& subject) {
  SweepPoint point;
  point.network = subject.network;
  point.semantics = spec.semantics;
  point.max_bytes_written = spec.max_bytes_written;
  point.gap = spec.gap;
  point.time_limit_seconds = spec.time_limit_seconds;
  point.solver = spec.solver;
  if (subject.network.origin == NetworkOrigin::instance) return point;
  if (!point.semantics) point.semantics = Semantics::device;
  if (*point.semantics == Semantics::device) {
    point.persistent = spec.persistent.value_or("resident");
    point.split = spec.split;
    point.optimizer = spec.optimizer.value_or("sgd");
    point.accumulate = spec.accumulate;
    point.clip_norm = spec.clip_norm;
    point.label_smoothing = spec.label_smoothing;
    point.precision = spec.precision;
  }
  return point;
}

/// Own, else common, else the default.
std::vector<std::optional<std::int64_t>> sizes_of(const std::vector<std::int64_t>& own,
                                                  const std::vector<std::int64_t>& common,
                                                  std::optional<std::int64_t> otherwise) {
  const std::vector<std::int64_t>& given = own.empty() ? common : own;
  if (given.empty()) return {otherwise};
  return {given.begin(), given.end()};
}

void add_limits_and_methods(const SweepSpec& spec, SweepPoint point, std::unordered_set<std::string>& seen,
                            std::vector<SweepPoint>& out) {
  for (const RamBudget& ram : spec.ram) {
    for (const StepDeadline& deadline : spec.deadlines) {
      for (const std::string& method : spec.methods) {
        point.ram = ram;
        point.deadline = deadline;
        point.method = method;
        if (seen.insert(key_of(point)).second) out.push_back(point);
      }
    }
  }
}

/// How gradients and labels are treated. Defaults are left out, so that saying them changes no key.
void read_training(const JsonField& root, SweepSpec& spec) {
  if (root.has("accumulate")) {
    const std::int64_t steps = root.at("accumulate").integer(1, kMost);
    if (steps > 1) spec.accumulate = steps;
  }
  if (root.has("clip_norm")) spec.clip_norm = root.at("clip_norm").positive();
  if (root.has("label_smoothing")) {
    const double smoothing = root.at("label_smoothing").non_negative();
    if (smoothing >= 1) root.fail_at("label_smoothing", "must be below 1");
    if (smoothing > 0) spec.label_smoothing = smoothing;
  }
  if (root.has("precision")) {
    spec.precision = root.at("precision").one_of({"fp32", "bf16-mixed"});
    if (*spec.precision == "fp32") spec.precision.reset();
  }
}

SweepSpec spec_of(const nlohmann::ordered_json& json, const std::string& name, const fs::path& folder) {
  const JsonField root(json, name);
  root.only({"format",     "networks", "platforms",      "devices",           "semantics",  "batch_sizes",
             "persistent", "split",    "optimizer",      "sequence_lengths",  "accumulate", "clip_norm",
             "precision",  "ram",      "deadlines",      "max_bytes_written", "methods",    "gap",
             "time_limit", "solver",   "label_smoothing"});
  static_cast<void>(root.format(1, 1));
  SweepSpec spec = read_lists(root, folder);
  if (root.has("semantics")) spec.semantics = read_semantics(root);
  spec.batch_sizes = sizes(root, "batch_sizes");
  spec.sequence_lengths = sizes(root, "sequence_lengths");
  if (root.has("persistent")) {
    spec.persistent = root.at("persistent").one_of({"auto", "resident", "excluded", "counted"});
    if (*spec.persistent == "counted") spec.persistent = "resident";  // its name in older specs
  }
  if (root.has("split")) spec.split = read_split(root.at("split"), spec.ram);
  if (root.has("optimizer"))
    spec.optimizer = root.at("optimizer").one_of({"sgd", "momentum", "adam", "adamw"});
  read_training(root, spec);
  if (root.has("max_bytes_written")) {
    const JsonField most = root.at("max_bytes_written");
    spec.max_bytes_written = parse_bytes(most.place(), most.text());
  }
  if (root.has("gap")) spec.gap = read_gap(root.at("gap"));
  if (root.has("time_limit")) spec.time_limit_seconds = read_time_limit(root.at("time_limit"));
  if (root.has("solver"))
    spec.solver = root.at("solver").one_of({"cbc", "highs"}) == "highs" ? Solver::highs : Solver::cbc;
  check_published(root, spec);
  check_instances(root, spec);
  return spec;
}

}  // namespace

const char* devices_field(const JsonField& spec) {
  if (!spec.has("devices")) return "platforms";
  if (spec.has("platforms")) spec.fail_at("devices", "is another word for platforms: leave one of them out");
  return "devices";
}

SweepSpec read_sweep_spec(const fs::path& file) {
  return spec_of(read_json_file(file), file.string(), file.parent_path());
}

SweepSpec sweep_spec_of(const std::string& text, const std::string& name, const fs::path& folder) {
  return spec_of(parse_json(text, name), name, folder);
}
std::vector<SweepPoint> expand(const SweepSpec& spec) {
  std::vector<SweepPoint> points;
  std::unordered_set<std::string> seen;
  for (const SweepSubject& subject : spec.networks) {
    SweepPoint point = instance_point(spec, subject);
    if (subject.network.origin == NetworkOrigin::instance) {
      add_limits_and_methods(spec, point, seen, points);
      continue;
    }
    const bool onnx = subject.network.origin == NetworkOrigin::onnx;
    // An ONNX file knows its own batch size, and its sequence is an input's shape.
    const auto batches =
        sizes_of(subject.batch_sizes, spec.batch_sizes, onnx ? std::nullopt : std::optional<std::int64_t>(1));
    const auto lengths = onnx ? std::vector<std::optional<std::int64_t>>{std::nullopt}
                              : sizes_of(subject.sequence_lengths, spec.sequence_lengths, std::nullopt);
    for (const SweepTarget& target : spec.platforms) {
      point.platform = target.platform;
      for (const std::optional<std::int64_t>& batch : batches) {
        point.batch_size = batch;
        for (const std::optional<std::int64_t>& length : lengths) {
          point.sequence_length = length;
          add_limits_and_methods(spec, point, seen, points);
        }
      }
    }
  }
  return points;
}

}  // namespace poet
