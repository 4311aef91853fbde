#include "apps/server/routes/catalogue.h"

#include <nlohmann/json.hpp>

#include "apps/server/jobs/program_output.h"
#include "apps/server/routes/services.h"
#include "poet/base/error.h"
#include "poet/baselines/method.h"
#include "poet/cost/json_reader.h"

namespace poet::server {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> names_in(const std::string& text, const char* list) {
  std::vector<std::string> names;
  const Json json = parse_json(text, list);
  for (const Json& each : json[list]) names.push_back(each["name"].get<std::string>());
  return names;
}

Reply json_reply(std::string text) { return {200, "application/json", std::move(text), {}, {}, {}}; }

Reply add_upload(const Services& services, const Call& call) {
  if (call.field("Content-Type") != "application/octet-stream")
    return failure(415, "refused", "the body is the file: Content-Type: application/octet-stream");
  if (call.body().empty()) return failure(400, "invalid", "the file is empty");
  const std::optional<std::string> id = services.uploads.add(call.body());
  if (!id) {
    Reply reply = failure(
        503, "full",
        "the server has no room for uploads now; files that are not used any more go after some days");
    reply.fields.emplace_back("Retry-After", "3600");
    return reply;
  }
  Reply reply = json_reply(json_text(Json{{"id", *id}, {"bytes", call.body().size()}}));
  reply.status = 201;
  return reply;
}

}  // namespace

Catalogue read_catalogue(const std::filesystem::path& program, const std::filesystem::path& folder) {
  Catalogue catalogue;
  catalogue.models = program_output(program, folder, {"models", "--json"});
  catalogue.devices = program_output(program, folder, {"devices", "--json"});
  Json list = Json::array();
  for (const Method& method : methods()) {
    list.push_back({{"name", method.name}, {"title", method.title}, {"source", method.source}});
    catalogue.names.methods.emplace_back(method.name);
  }
  catalogue.methods = json_text(Json{{"format", 1}, {"methods", list}});
  catalogue.names.models = names_in(catalogue.models, "models");
  catalogue.names.devices = names_in(catalogue.devices, "devices");
  return catalogue;
}

void add_catalogue_routes(std::vector<Route>& routes, const Services& services) {
  routes.push_back(
      {.method = "GET",
       .pattern = "/api/v1/models",
       .summary = "Built-in networks, as poet models --json",
       .handler = [&catalogue = services.catalogue](const Call&) { return json_reply(catalogue.models); }});
  routes.push_back(
      {.method = "GET",
       .pattern = "/api/v1/devices",
       .summary = "Device profiles with the origin of every number, as poet devices --json",
       .handler = [&catalogue = services.catalogue](const Call&) { return json_reply(catalogue.devices); }});
  routes.push_back(
      {.method = "GET",
       .pattern = "/api/v1/methods",
       .summary = "Published methods that jobs of the kind compare run",
       .handler = [&catalogue = services.catalogue](const Call&) { return json_reply(catalogue.methods); }});
  routes.push_back({.method = "POST",
                    .pattern = "/api/v1/uploads",
                    .summary = "Gives an ONNX, instance or plan file; the same content has the same id",
                    .handler = [services](const Call& call) { return add_upload(services, call); },
                    .takes = "application/octet-stream"});
}

}  // namespace poet::server
