// GET /solve as the published reference's server has it: by the paper's rules on its instances, answered when
// it is solved.

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/server/jobs/digest.h"
#include "apps/server/jobs/storage_error.h"
#include "apps/server/routes/published_answer.h"
#include "apps/server/routes/services.h"
#include "poet/base/error.h"
#include "poet/cost/instance_json.h"
#include "poet/cost/json_reader.h"
#include "poet/pipeline/published.h"

namespace poet::server {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<Parameter, 12> kParameters = {{
    {"model", "a network of the paper", true},
    {"platform", "a device of the paper", true},
    {"ram_budget", "bytes", true},
    {"runtime_budget", "a multiple of the time of the step with everything computed once", true},
    {"paging", "0: none; 1 without"},
    {"remat", "0: none; 1 without"},
    {"mem_power_scale", "multiplies what transfers cost; 1 without"},
    {"batch_size", "multiplies bytes, times and energies; 1 without"},
    {"time_limit_s", "of the search"},
    {"solve_threads", "of the search"},
    {"solver", "accepted and ignored"},
    {"use_actual_gurobi", "accepted and ignored"},
}};

double number(const Call& call, const char* name, std::optional<double> otherwise) {
  const std::optional<std::string> text = call.query(name);
  if (!text && otherwise) return *otherwise;
  if (!text) throw InputError("/" + std::string(name), "is missing");
  double value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size() || !std::isfinite(value))
    throw InputError("/" + std::string(name), "must be a number");
  return value;
}

/// The published instance, its costs as the question wants them.
Json scaled_instance(const Call& call) {
  const double power = number(call, "mem_power_scale", 1);
  const double batch = number(call, "batch_size", 1);
  if (!(power > 0)) throw InputError("/mem_power_scale", "must be > 0");
  if (batch < 1 || batch != std::floor(batch) || batch > 1e6)
    throw InputError("/batch_size", "must be a whole number, at least 1");
  Json instance = to_json(
      read_published_instance({call.query("model").value_or(""), call.query("platform").value_or("")}));
  for (Json& node : instance["nodes"]) {
    node["ram_bytes"] = node["ram_bytes"].get<std::int64_t>() * static_cast<std::int64_t>(batch);
    for (const char* cost : {"runtime_seconds", "compute_joules", "page_in_seconds", "page_out_seconds",
                             "page_in_joules", "page_out_joules"})
      node[cost] = node[cost].get<double>() * batch;
    for (const char* cost : {"page_in_joules", "page_out_joules"})
      node[cost] = node[cost].get<double>() * power;
  }
  return instance;
}

/// 0 or another whole number.
std::int64_t switch_of(const Call& call, const char* name) {
  const double value = number(call, name, 1);
  if (value != std::floor(value) || std::abs(value) > 1e6)
    throw InputError("/" + std::string(name), "must be 0 or 1");
  return static_cast<std::int64_t>(value);
}

Order order_of(const Services& services, const Call& call, const std::string& instance) {
  Json request = {{"kind", "solve"}, {"instance", instance}, {"semantics", "published"}, {"schedule", true}};
  const double budget = number(call, "ram_budget", std::nullopt);
  if (budget < 0 || budget > 9e15) throw InputError("/ram_budget", "must be a number of bytes");
  request["ram_budget"] = static_cast<std::int64_t>(budget);
  request["runtime_budget"] = number(call, "runtime_budget", std::nullopt);
  request["paging"] = switch_of(call, "paging") != 0;
  request["remat"] = switch_of(call, "remat") != 0;
  // The reference has no limit, and four threads; here both are the server's to bound.
  const double most = services.bounds.most_time.value();
  request["time_limit"] = std::min(number(call, "time_limit_s", most), most);
  const auto threads = static_cast<std::int64_t>(std::clamp(number(call, "solve_threads", 1), 1.0, 256.0));
  request["threads"] = std::min(threads, services.bounds.most_threads);
  KnownNames names = services.catalogue.names;
  names.is_upload = [&instance](const std::string& id) { return id == instance; };
  return read_request(json_text(request), services.bounds, names);
}

/// As FastAPI words it, besides this server's fields.
Reply with_detail(Reply reply) {
  Json json = parse_json(reply.body, "reply");
  json["detail"] = json["message"];
  reply.body = json_text(json);
  return reply;
}

Reply answer(const Services& services, const Call& call, const Job& job, const Json& instance) {
  if (job.state == JobState::cancelled)
    return with_detail(failure(500, "cancelled", "the job was cancelled"));
  Reply reply;
  if (job.state == JobState::failed) {
    reply.status = 500;
    reply.body = job.error;
    return with_detail(reply);
  }
  PublishedQuestion question;
  question.ram_budget = number(call, "ram_budget", std::nullopt);
  question.runtime_budget = number(call, "runtime_budget", std::nullopt);
  question.paging = switch_of(call, "paging");
  question.remat = switch_of(call, "remat");
  const std::string text = services.store.schedule(job.order.id);
  std::optional<ScheduleFile> schedule;
  if (!text.empty()) schedule = schedule_from_json(parse_json(text, "schedule"), "schedule");
  const Json result = parse_json(job.result, "result");
  reply.body =
      json_text(published_answer(question, instance_from_json(instance, "instance"), result, schedule));
  return reply;
}

Reply solve(const Services& services, const Call& call) {
  try {
    for (const std::string& name : call.query_names())
      if (std::none_of(kParameters.begin(), kParameters.end(),
                       [&](const Parameter& each) { return name == each.name; }))
        throw InputError("/" + name, "unknown parameter");
    const Json instance = scaled_instance(call);
    const std::string text = json_text(instance, 1);
    Order order = order_of(services, call, digest(text));
    // A job that is there needs its file no more, or has it.
    const std::optional<Job> known = services.store.look(order.id);
    const bool is_answered = known && known->state == JobState::done;
    if (!is_answered && !services.uploads.add(text))
      return with_detail(failure(503, "full", "the server has no space for uploads now"));
    std::variant<Job, Reply> submitted = submit(services, std::move(order), call);
    if (Reply* refusal = std::get_if<Reply>(&submitted)) return with_detail(std::move(*refusal));
    const Job& job = std::get<Job>(submitted);
    if (has_ended(job.state)) return answer(services, call, job, instance);
    Reply later;
    later.once_ended = job.order.id;
    return later;
  } catch (const StorageError&) {
    return with_detail(storage_failure());
  } catch (const InputError& error) {
    Reply refusal = bad_request(error);
    refusal.status = 422;
    return with_detail(std::move(refusal));
  }
}

}  // namespace

void add_published_route(std::vector<Route>& routes, const Services& services) {
  routes.push_back(
      {.method = "GET",
       .pattern = "/solve",
       .summary =
           "As the published reference's server: least energy of a published instance by the paper's rules",
       .handler = [services](const Call& call) { return solve(services, call); },
       .queries = {kParameters.begin(), kParameters.end()},
       .acts = true});
}

}  // namespace poet::server
