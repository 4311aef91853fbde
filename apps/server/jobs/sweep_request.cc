#include "apps/server/jobs/sweep_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/server/jobs/digest.h"
#include "apps/server/jobs/storage_error.h"
#include "poet/cost/device.h"
#include "poet/study/sweep_spec.h"

namespace poet::server {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kUsualSecondsOfPoint = 10;

/// Files of a network are uploads, and its name is one that is known: nothing else reaches the job. Profiles
/// are the program's to read, from files in the job's folder.
void check_files(const JsonField& root, const KnownNames& names) {
  for (const JsonField& network : root.at("networks").items()) {
    if (network.json().is_string()) (void)network.one_of(names.models);
    if (!network.json().is_object()) continue;
    if (network.has("name")) (void)network.at("name").one_of(names.models);
    for (const char* file : {"onnx", "instance"})
      if (network.has(file) &&
          (!is_digest(network.at(file).name()) || !names.is_upload(network.at(file).name())))
        network.at(file).fail("is not the id of an uploaded file");
  }
  const char* devices = devices_field(root);
  if (!root.has(devices)) return;
  for (const JsonField& platform : root.at(devices).items()) {
    if (platform.json().is_object()) {
      (void)device_from_json(platform.json(), platform.place());
    } else if (std::find(names.devices.begin(), names.devices.end(), platform.name()) ==
               names.devices.end()) {
      platform.fail("is no device's name; see /api/v1/devices, or give a profile");
    }
  }
}

/// The spec with a file for each profile, and the names of uploads as `name_of` has them.
Json spec_of(Json request, const std::function<std::string(const std::string& id)>& name_of,
             const std::function<std::string(std::size_t index, const Json& profile)>& platform) {
  request.erase("kind");
  request["format"] = 1;
  for (Json& network : request["networks"])
    for (const char* file : {"onnx", "instance"})
      if (network.is_object() && network.contains(file))
        network[file] = name_of(network[file].get<std::string>());
  const char* devices = request.contains("devices") ? "devices" : "platforms";
  if (request.contains(devices))
    for (std::size_t i = 0; i < request[devices].size(); ++i)
      if (request[devices][i].is_object()) request[devices][i] = platform(i, request[devices][i]);
  return request;
}

/// At least as many points as expand() gives, which does not end for lists of a million.
double most_points_of(const SweepSpec& spec) {
  const auto product = [](std::initializer_list<std::size_t> sizes) {
    double all = 1;
    for (const std::size_t each : sizes) all *= static_cast<double>(std::max<std::size_t>(each, 1));
    return all;
  };
  double points = 0;
  for (const SweepSubject& subject : spec.networks)
    points += product({spec.platforms.size(), std::max(subject.batch_sizes.size(), spec.batch_sizes.size()),
                       std::max(subject.sequence_lengths.size(), spec.sequence_lengths.size()),
                       spec.ram.size(), spec.deadlines.size(), spec.methods.size()});
  return points;
}

}  // namespace

Json read_sweep(const JsonField& root, const Bounds& bounds, const KnownNames& names) {
  check_files(root, names);
  Json request = root.json();
  request.erase("format");
  if (!request.contains("time_limit")) request["time_limit"] = kUsualSecondsOfPoint;
  // As the program will read it; files that it names are not looked into here.
  const Json spec = spec_of(request, names.upload_file,
                            [&names](std::size_t, const Json&) { return names.devices.front(); });
  const SweepSpec read = sweep_spec_of(json_text(spec), "request", "/");
  constexpr double kOftenSaid = 100;  // points that are said more than once are one
  const double most = most_points_of(read);
  const std::size_t points =
      most > kOftenSaid * static_cast<double>(bounds.most_points) ? 0 : expand(read).size();
  if (points == 0 || points > bounds.most_points)
    root.fail(fmt::format("has {} points; this server accepts {}",
                          points == 0 ? fmt::format("{:.0f}", most) : std::to_string(points),
                          bounds.most_points));
  if (read.time_limit_seconds > bounds.most_time.value())
    root.fail_at("time_limit",
                 fmt::format("must be at most {:g} s on this server", bounds.most_time.value()));
  request["points"] = points;
  return Json(nlohmann::json(request));  // sorted
}

Commandline sweep_command_line(const Json& request, const std::filesystem::path& folder,
                               const std::function<std::filesystem::path(const std::string& id)>& upload) {
  Json given = request;
  const double points = given["points"].get<double>();
  given.erase("points");
  const Json spec = spec_of(
      given, [&upload](const std::string& id) { return upload(id).string(); },
      [&folder](std::size_t i, const Json& profile) {
        const std::filesystem::path file = folder / fmt::format("device{}.json", i);
        write_own_file(file, json_text(profile, 1));
        return file.string();
      });
  write_own_file(folder / "spec.json", json_text(spec, 1));
  Commandline line;
  const SweepSpec read = sweep_spec_of(json_text(spec), "request", folder);
  line.most_seconds = points * (1.5 * read.time_limit_seconds + 10) + 60;
  // Named as they are in the job's folder: the answer repeats them.
  line.arguments = {"sweep",
                    "spec.json",
                    "--jobs=1",
                    "--quiet",
                    "--json",
                    "--store=points.sqlite",
                    "--progress-out=progress"};
  return line;
}

}  // namespace poet::server
