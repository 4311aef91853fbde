// The OpenAPI description of the routes, made of the table that they are in and of that of requests' fields.

#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "apps/server/jobs/fields.h"
#include "apps/server/routes/services.h"
#include "poet/cost/json_reader.h"
#include "poet/version.h"

namespace poet::server {
namespace {

using Json = nlohmann::ordered_json;

Json amount() { return {{"oneOf", {{{"type", "number"}, {"minimum", 0}}, {{"type", "string"}}}}}; }

Json schema_of(const Field& field) {
  Json schema;
  switch (field.kind) {
    case FieldKind::model:
    case FieldKind::patterns:
      schema = {{"type", "string"}};
      break;
    case FieldKind::upload:
      schema = {{"type", "string"}, {"pattern", "^[0-9a-f]{64}$"}};
      break;
    case FieldKind::device:
      schema = {{"oneOf", {{{"type", "string"}}, {{"type", "object"}}}}};
      break;
    case FieldKind::choice:
      schema = {{"type", "string"}, {"enum", field.choices}};
      break;
    case FieldKind::names:
      schema = {{"type", "array"}, {"items", {{"type", "string"}}}};
      break;
    case FieldKind::bytes:
    case FieldKind::split:
    case FieldKind::seconds:
    case FieldKind::fraction:
      schema = amount();
      break;
    case FieldKind::factor:
      schema = {{"type", "number"}, {"exclusiveMinimum", 0}};
      break;
    case FieldKind::count:
      schema = {{"type", "integer"}, {"minimum", 1}};
      break;
    case FieldKind::flag:
    case FieldKind::allowed:
    case FieldKind::request:
      schema = {{"type", "boolean"}};
      break;
    case FieldKind::shapes:
      schema = {
          {"type", "object"},
          {"additionalProperties", {{"type", "array"}, {"items", {{"type", "integer"}, {"minimum", 1}}}}}};
      break;
    case FieldKind::values:
      schema = {{"type", "object"}, {"additionalProperties", {{"type", "number"}}}};
      break;
  }
  schema["description"] = field.description;
  return schema;
}

Json job_request_of(const std::string& kind) {
  Json properties = Json::object();
  properties["kind"] = {{"type", "string"}, {"enum", {kind}}};
  for (const Field& field : fields())
    if (belongs_to(field, kind)) properties[field.name] = schema_of(field);
  if (kind == "verify")
    properties["plan"] = {{"type", "string"}, {"description", "the id of an uploaded plan or schedule file"}};
  Json schema = {{"type", "object"},
                 {"properties", properties},
                 {"required", kind == "solve" ? Json::array() : Json{"kind"}}};
  // A sweep's fields are those of a spec file.
  if (kind == "sweep")
    schema["description"] = "a sweep's spec (docs/formats_sweep.md), files being the ids of uploads";
  schema["additionalProperties"] = kind == "sweep";
  return schema;
}

Json schemas() {
  Json all = Json::object();
  Json kinds = Json::array();
  for (const std::string& kind : job_kinds()) {
    all[kind] = job_request_of(kind);
    kinds.push_back({{"$ref", "#/components/schemas/" + kind}});
  }
  all["JobRequest"] = {{"oneOf", kinds}};
  const Json text = {{"type", "string"}};
  const Json time = {{"type", {"number", "null"}}, {"description", "seconds since 1970"}};
  all["Job"] = {
      {"type", "object"},
      {"properties",
       {{"id", text},
        {"kind", {{"type", "string"}, {"enum", job_kinds()}}},
        {"state", {{"type", "string"}, {"enum", {"queued", "running", "done", "failed", "cancelled"}}}},
        {"version", {{"type", "integer"}, {"description", "grows with every change"}}},
        {"client", text},
        {"ahead", {{"type", "integer"}, {"description", "jobs that come before a queued one"}}},
        {"attempts", {{"type", "integer"}}},
        {"submitted", time},
        {"started", time},
        {"finished", time},
        {"progress",
         {{"type", {"object", "null"}},
          {"description", "the latest line of --progress-out; of a sweep with \"rows\""}}},
        {"error", {{"oneOf", {{{"$ref", "#/components/schemas/Error"}}, {{"type", "null"}}}}}},
        {"has_plan", {{"type", "boolean"}}},
        {"request", {{"type", "object"}, {"description", "in bytes and seconds; not in events"}}}}}};
  all["Error"] = {{"type", "object"},
                  {"properties",
                   {{"error", {{"type", "string"}, {"description", "for programs"}}},
                    {"message", {{"type", "string"}, {"description", "for people"}}},
                    {"field", {{"type", "string"}, {"description", "of the request that is wrong"}}}}},
                  {"required", {"error", "message"}}};
  return all;
}

Json parameters_of(const Route& route) {
  Json list = Json::array();
  for (std::size_t at = 0; (at = route.pattern.find('{', at)) != std::string::npos; ++at)
    list.push_back({{"name", route.pattern.substr(at + 1, route.pattern.find('}', at) - at - 1)},
                    {"in", "path"},
                    {"required", true},
                    {"schema", {{"type", "string"}}}});
  for (const Parameter& each : route.queries)
    list.push_back({{"name", each.name},
                    {"in", "query"},
                    {"required", each.required},
                    {"description", each.description},
                    {"schema", {{"type", "string"}}}});
  return list;
}

Json operation_of(const Route& route) {
  Json operation = {{"summary", route.summary}};
  if (const Json parameters = parameters_of(route); !parameters.empty()) operation["parameters"] = parameters;
  if (*route.takes != '\0') {
    const bool is_json = std::string_view(route.takes) == "application/json";
    const Json schema = is_json ? Json{{"$ref", "#/components/schemas/JobRequest"}}
                                : Json{{"type", "string"}, {"format", "binary"}};
    operation["requestBody"] = {{"required", true}, {"content", {{route.takes, {{"schema", schema}}}}}};
  }
  const bool gives_job = route.pattern == "/api/v1/jobs/{id}" ||
                         (route.pattern == "/api/v1/jobs" && std::string_view(route.method) == "POST");
  const Json schema = gives_job ? Json{{"$ref", "#/components/schemas/Job"}} : Json::object();
  operation["responses"] = {
      {"200", {{"description", "as the summary says"}, {"content", {{route.gives, {{"schema", schema}}}}}}},
      {"default",
       {{"description", "an error; 429 and 503 come with Retry-After"},
        {"content", {{"application/json", {{"schema", {{"$ref", "#/components/schemas/Error"}}}}}}}}}};
  return operation;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

void add_description_route(std::vector<Route>& routes) {
  const auto text = std::make_shared<std::string>();
  routes.push_back({.method = "GET",
                    .pattern = "/api/v1/openapi.json",
                    .summary = "This description",
                    .handler =
                        [text](const Call&) {
                          Reply reply;
                          reply.body = *text;
                          return reply;
                        },
                    .is_public = true});
  Json json = Json::object();
  json["openapi"] = "3.1.0";
  json["info"] = {{"title", "poet serve"},
                  {"version", version()},
                  {"description", "Training schedules of least energy within RAM and time, as jobs"}};
  json["security"] = {{{"token", Json::array()}}, Json::object()};
  Json paths = Json::object();
  for (const Route& route : routes)
    if (*route.summary != '\0')
      paths.emplace(route.pattern, Json::object()).first.value()[lower(route.method)] = operation_of(route);
  json["paths"] = std::move(paths);
  json["components"] = {{"schemas", schemas()},
                        {"securitySchemes", {{"token", {{"type", "http"}, {"scheme", "bearer"}}}}}};
  *text = json_text(json, 1);
}

}  // namespace poet::server
