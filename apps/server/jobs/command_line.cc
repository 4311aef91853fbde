#include "apps/server/jobs/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "apps/server/jobs/fields.h"
#include "apps/server/jobs/storage_error.h"
#include "apps/server/jobs/sweep_request.h"
#include "poet/baselines/method.h"
#include "poet/cost/json_reader.h"

namespace poet::server {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMostOps = 20'000;  // of a training step, before its operators are split

std::string op_limit() { return fmt::format("--op-limit={}", kMostOps); }

std::string number_text(const Json& json) {
  return json.is_number_integer() ? std::to_string(json.get<std::int64_t>())
                                  : fmt::format("{}", json.get<double>());
}

void add_arguments(const Field& field, const Json& value, const std::filesystem::path& folder,
                   const std::function<std::filesystem::path(const std::string&)>& upload,
                   std::vector<std::string>& arguments) {
  const std::string option = field.option;
  const auto add = [&](const std::string& text) { arguments.push_back(option + "=" + text); };
  switch (field.kind) {
    case FieldKind::upload:
      return add(upload(value.get<std::string>()).string());
    case FieldKind::device:
      if (value.is_string()) return add(value.get<std::string>());
      write_own_file(folder / "device.json", json_text(value, 1));
      return add((folder / "device.json").string());
    case FieldKind::flag:
    case FieldKind::allowed:
      if (value.get<bool>() == (field.kind == FieldKind::flag)) arguments.push_back(option);
      return;
    case FieldKind::request:
      return;
    case FieldKind::shapes:
      for (const auto& [name, shape] : value.items())
        add(name + "=" + fmt::format("{}", fmt::join(shape.get<std::vector<std::int64_t>>(), "x")));
      return;
    case FieldKind::values:
      for (const auto& [name, number] : value.items()) add(name + "=" + number_text(number));
      return;
    case FieldKind::names:
      return add(fmt::format("{}", fmt::join(value.get<std::vector<std::string>>(), ",")));
    default:
      return add(value.is_string() ? value.get<std::string>() : number_text(value));
  }
}

/// A network of a sweep as a job on it alone has it.
Json alone(const Json& network, const Json& sweep) {
  Json json = network;
  json.erase("batch_sizes");
  for (const Json& sizes : {network.value("batch_sizes", Json()), sweep.value("batch_sizes", Json())})
    if (!sizes.empty() && network.contains("onnx") && !json.contains("batch_size"))
      json["batch_size"] = sizes.front();
  for (const char* training : {"optimizer", "accumulate", "clip_norm", "label_smoothing"})
    if (sweep.contains(training) && network.contains("onnx")) json[training] = sweep[training];
  return json;
}

/// The networks of a request that are files, by the places of their fields.
std::vector<std::pair<std::string, Json>> files_of(const Order& order, const Json& request) {
  std::vector<std::pair<std::string, Json>> files;
  const auto add = [&files](const std::string& place, const Json& network) {
    for (const char* file : {"onnx", "instance"})
      if (network.is_object() && network.contains(file)) files.emplace_back(place + "/" + file, network);
  };
  if (order.kind != "sweep") {
    add("", request);
    return files;
  }
  for (std::size_t i = 0; i < request["networks"].size(); ++i)
    if (const Json& network = request["networks"][i]; network.is_object())
      add(fmt::format("/networks/{}", i), alone(network, request));
  return files;
}

}  // namespace

Commandline command_line(const Order& order, const std::filesystem::path& folder, const UploadFile& upload) {
  constexpr double kGrace = 60;  // for reading, posing and proving that there is nothing
  const Json json = parse_json(order.request, "request");
  if (order.kind == "sweep") {
    Commandline sweep = sweep_command_line(json, folder, upload);
    sweep.arguments.push_back(op_limit());
    return sweep;
  }
  Commandline line;
  line.arguments = {order.kind};
  line.most_seconds = kGrace;
  if (order.kind == "verify") {
    line.arguments.insert(line.arguments.end(), {upload(json["plan"].get<std::string>()).string(), "--json"});
    return line;
  }
  for (const Field& field : fields())
    if (json.contains(field.name)) add_arguments(field, json[field.name], folder, upload, line.arguments);
  if (order.kind == "import") {  // takes the file as it is
    for (std::string& each : line.arguments)
      if (each.rfind("--onnx=", 0) == 0) each = each.substr(7);
  } else {
    const double limit = json["time_limit"].get<double>();
    const std::size_t methods = json.contains("methods") ? json["methods"].size() : poet::methods().size();
    line.most_seconds = 1.2 * limit * static_cast<double>(order.kind == "compare" ? methods : 1) + kGrace;
    line.arguments.emplace_back("--quiet");
    line.arguments.emplace_back("--beyond-device-ram");  // a client may ask what more RAM would bring
  }
  line.arguments.push_back(op_limit());
  line.arguments.emplace_back("--json");
  if (order.kind == "explain") line.arguments.emplace_back("--all");
  if (order.kind == "solve" || order.kind == "explain") {
    line.has_plan = true;
    line.has_schedule = json.value("schedule", false);
    line.arguments.push_back("--plan-out=" + (folder / "plan").string());
    line.arguments.push_back("--progress-out=" + (folder / "progress").string());
  }
  if (line.has_schedule) line.arguments.push_back("--schedule-out=" + (folder / "schedule").string());
  return line;
}

std::vector<SizeCheck> size_checks(const Order& order, const std::string& device, const UploadFile& upload) {
  constexpr std::array kOthers = {
      "batch_size",      "optimizer",   "accumulate",  "clip_norm",    "input_shapes",
      "label_smoothing", "precision",   "trainable",   "input_values", "loss",
      "huber_delta",     "loss_output", "allow_opaque"};
  std::vector<SizeCheck> checks;
  for (const auto& [place, network] : files_of(order, parse_json(order.request, "request"))) {
    SizeCheck check;
    check.field = place;
    const std::string file = place.substr(place.rfind('/') + 1);
    check.arguments = {"solve", "--check", op_limit(),
                       fmt::format("--{}={}", file, upload(network[file].get<std::string>()).string())};
    if (file == "onnx") {  // costs are needed, and any device's will do
      check.arguments.push_back("--platform=" + device);
      for (const Field& field : fields())
        for (const char* other : kOthers)
          if (other == std::string_view(field.name) && network.contains(other))
            add_arguments(field, network[other], {}, upload, check.arguments);
    }
    checks.push_back(std::move(check));
  }
  return checks;
}

}  // namespace poet::server
