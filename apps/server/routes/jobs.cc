// Jobs: submit, look, follow, cancel, results.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "apps/server/jobs/job_json.h"
#include "apps/server/routes/services.h"
#include "poet/base/error.h"
#include "poet/cost/json_reader.h"

namespace poet::server {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostListed = 200;
constexpr std::size_t kMostRequest = std::size_t{256} << 10;  // reading JSON of many fields takes long
constexpr std::int64_t kLongestRetry = 60;                    // seconds

Reply job_reply(int status, const Job& job) {
  Reply reply;
  reply.status = status;
  reply.body = json_text(job_json(job, true));
  reply.fields.emplace_back("Location", "/api/v1/jobs/" + job.order.id);
  return reply;
}

Reply no_job(const std::string& id) { return failure(404, "not_found", "there is no job " + id); }

/// Said now and not when it is the job's turn, unless there is that job already.
std::optional<Reply> too_large(const Services& services, const Order& order) {
  if (services.store.look(order.id)) return std::nullopt;
  const auto upload = [&services](const std::string& id) { return services.uploads.file(id); };
  for (const SizeCheck& check : size_checks(order, services.catalogue.names.devices.front(), upload))
    if (const std::optional<std::string> said = services.sizes.too_many(check))
      return failure(422, "too_large", *said, check.field);
  return std::nullopt;
}

Reply post_job(const Services& services, const Call& call) {
  if (call.field("Content-Type").rfind("application/json", 0) != 0)
    return failure(415, "refused", "the body must be JSON: Content-Type: application/json");
  if (call.body().size() > kMostRequest)
    return failure(413, "too_large", "a request may have at most 256 KiB; upload files instead");
  KnownNames names = services.catalogue.names;
  names.is_upload = [&services](const std::string& id) { return services.uploads.has(id); };
  names.upload_file = [&services](const std::string& id) { return services.uploads.file(id).string(); };
  Order order;
  try {
    order = read_request(call.body(), services.bounds, names);
  } catch (const InputError& error) {
    return bad_request(error);
  }
  if (std::optional<Reply> refusal = too_large(services, order)) return *std::move(refusal);
  std::variant<Job, Reply> submitted = submit(services, std::move(order), call);
  if (Reply* refusal = std::get_if<Reply>(&submitted)) return std::move(*refusal);
  const Job& job = std::get<Job>(submitted);
  return job_reply(has_ended(job.state) ? 200 : 202, job);
}

Reply list_jobs(const Services& services, const Call& call) {
  const std::string client = call.query("mine").value_or("") == "true" ? call.client : "";
  const std::string state = call.query("state").value_or("");
  const std::vector<std::string> states = {"", "queued", "running", "done", "failed", "cancelled"};
  if (std::find(states.begin(), states.end(), state) == states.end())
    return failure(400, "invalid", "must be queued, running, done, failed or cancelled", "state");
  double before = std::numeric_limits<double>::infinity();
  std::size_t most = 50;
  const auto number = [&](const char* name, auto& value) {
    const std::optional<std::string> text = call.query(name);
    if (!text) return true;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    return error == std::errc() && end == text->data() + text->size();
  };
  if (!number("before", before) || std::isnan(before))
    return failure(400, "invalid", "must be seconds since 1970", "before");
  if (!number("limit", most) || most < 1 || most > kMostListed)
    return failure(400, "invalid", "must be from 1 to 200", "limit");
  Json list = Json::array();
  for (const Job& job : services.store.list(client, state, before, most)) list.push_back(job_json(job, true));
  const JobStore::Load load = services.store.load();
  Reply reply;
  reply.body = json_text(Json{{"jobs", list}, {"queued", load.queued}, {"running", load.running}});
  return reply;
}

Reply get_job(const Services& services, const Call& call) {
  const std::optional<Job> job = services.store.look(call.path[0]);
  return job ? job_reply(200, *job) : no_job(call.path[0]);
}

Reply follow_job(const Services& services, const Call& call) {
  const std::optional<Job> job = services.store.look(call.path[0]);
  if (!job) return no_job(call.path[0]);
  Reply reply;
  reply.type = "text/event-stream";
  reply.body = event_text(*job);
  if (!has_ended(job->state)) reply.topic = job->order.id;
  return reply;
}

Reply result_of(const Services& services, const Call& call) {
  const std::optional<Job> job = services.store.find(call.path[0]);
  if (!job) return no_job(call.path[0]);
  Reply reply;
  if (job->state == JobState::done) {
    reply.body = job->result;
  } else if (job->state == JobState::failed) {
    reply.status = 422;
    reply.body = job->error;
  } else {
    reply = failure(409, "not_done", std::string("the job is ") + to_string(job->state));
  }
  return reply;
}

Reply cancel_job(const Services& services, const Call& call) {
  const std::optional<Job> job = services.store.look(call.path[0]);
  if (!job) return no_job(call.path[0]);
  if (job->order.client != call.client)
    return failure(403, "forbidden", "the job is " + job->order.client + "'s, who submitted it first");
  (void)services.store.cancel(call.path[0]);
  return job_reply(200, services.store.look(call.path[0]).value_or(*job));
}

Reply status(const Services& services) {
  const JobStore::Load load = services.store.load();
  Reply reply;
  reply.body = json_text(Json{{"version", services.bounds.version},
                              {"queued", load.queued},
                              {"running", load.running},
                              {"workers", services.bounds.workers},
                              {"most_seconds", services.bounds.most_time.value()},
                              {"most_points", services.bounds.most_points},
                              {"upload_bytes", services.uploads.bytes()}});
  return reply;
}

}  // namespace

Reply bad_request(const InputError& error) {
  return failure(400, "invalid", std::string(error.rule()), pointer_in(error.place()));
}

std::variant<Job, Reply> submit(const Services& services, Order order, const Call& call) {
  order.client = call.client;
  try {
    Job job = services.store.submit(order);
    services.workers.wake();
    return job;
  } catch (const QueueFull& full) {
    const auto workers = static_cast<std::int64_t>(std::max<std::size_t>(services.bounds.workers, 1));
    Reply reply =
        full.of_client
            ? failure(429, "too_many",
                      "you have " + std::to_string(full.queued) + " jobs queued; wait for some of them")
            : failure(503, "queue_full", std::to_string(full.queued) + " jobs are queued; try again later");
    reply.fields.emplace_back("Retry-After", std::to_string(std::clamp<std::int64_t>(
                                                 full.queued / workers / 10, 1, kLongestRetry)));
    return reply;
  }
}

void add_job_routes(std::vector<Route>& routes, const Services& services) {
  const auto with = [&services](Reply (*handler)(const Services&, const Call&)) {
    return [services, handler](const Call& call) { return handler(services, call); };
  };
  routes.push_back(
      {.method = "POST",
       .pattern = "/api/v1/jobs",
       .summary = "Submits a job, or returns the equal job that exists: 200 if it has ended, else 202",
       .handler = with(post_job),
       .takes = "application/json"});
  routes.push_back({.method = "GET",
                    .pattern = "/api/v1/jobs",
                    .summary = "Jobs, the latest first",
                    .handler = with(list_jobs),
                    .queries = {{"state", "queued, running, done, failed or cancelled"},
                                {"mine", "true: only jobs first submitted by this client"},
                                {"before", "submitted earlier than this, in seconds since 1970"},
                                {"limit", "maximum number of jobs (default 50, at most 200)"}}});
  routes.push_back({.method = "GET",
                    .pattern = "/api/v1/jobs/{id}",
                    .summary = "State and progress of a job",
                    .handler = with(get_job)});
  routes.push_back(
      {.method = "GET",
       .pattern = "/api/v1/jobs/{id}/events",
       .summary = "The same as server-sent events, now and with every change, until the job has ended",
       .handler = with(follow_job),
       .gives = "text/event-stream"});
  routes.push_back({.method = "GET",
                    .pattern = "/api/v1/jobs/{id}/result",
                    .summary = "The JSON that the program's command prints with --json; 409 until the job "
                               "has ended, 422 with the error of a failed job",
                    .handler = with(result_of)});
  routes.push_back({.method = "DELETE",
                    .pattern = "/api/v1/jobs/{id}",
                    .summary = "Cancels a job, unless it has ended; for the client that submitted it first",
                    .handler = with(cancel_job)});
  routes.push_back({.method = "GET",
                    .pattern = "/api/v1/status",
                    .summary = "The server's version, load and limits",
                    .handler = [services](const Call&) { return status(services); }});
}

}  // namespace poet::server
