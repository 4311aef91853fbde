#include "apps/server/jobs/job_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "poet/cost/json_reader.h"

namespace poet::server {

using Json = nlohmann::ordered_json;

Json job_json(const Job& job, bool with_request) {
  const auto stored = [](const std::string& text) {
    return text.empty() ? Json(nullptr) : parse_json(text, "job");
  };
  const auto time = [](double seconds) { return seconds > 0 ? Json(seconds) : Json(nullptr); };
  Json json = Json::object();
  json["id"] = job.order.id;
  json["kind"] = job.order.kind;
  json["state"] = to_string(job.state);
  json["version"] = job.version;
  json["client"] = job.order.client;
  json["ahead"] = job.ahead;
  json["attempts"] = job.attempts;
  json["submitted"] = time(job.submitted);
  json["started"] = time(job.started);
  json["finished"] = time(job.finished);
  json["progress"] = stored(job.progress);
  json["error"] = stored(job.error);
  json["has_plan"] = job.has_plan;
  if (with_request) json["request"] = stored(job.order.request);
  return json;
}

std::string event_text(const Job& job) {
  return fmt::format("event: job\nid: {}\ndata: {}\n\n", job.version, json_text(job_json(job, false)));
}

}  // namespace poet::server
