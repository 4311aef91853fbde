// Files that are made of a job's plan.

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "apps/server/routes/services.h"
#include "poet/cost/json_reader.h"
#include "poet/plan/file/plan_file.h"

namespace poet::server {
namespace {

struct Download {
  const char* name;
  const char* type;
  const char* description;
};

constexpr std::array<Download, 6> kDrawn = {{
    {"page.html", "text/html; charset=utf-8", "The plan as an interactive page that needs no server"},
    {"figure.svg", "image/svg+xml", "A figure for papers"},
    {"figure.png", "image/png", "The same"},
    {"figure.pdf", "application/pdf", "The same"},
    {"figure.gp", "text/plain; charset=utf-8", "The same as a gnuplot script"},
    {"picture.json", "application/json", "What the page draws, as data"},
}};

Reply file_reply(std::string bytes, const char* type, const std::string& name) {
  Reply reply;
  reply.type = type;
  reply.body = std::move(bytes);
  reply.fields.emplace_back("Content-Disposition", "attachment; filename=\"" + name + "\"");
  reply.fields.emplace_back("Cache-Control", "private, max-age=600");
  return reply;
}

Reply drawn_reply(Drawings::Drawn drawn, const char* type, const std::string& name) {
  if (drawn.status == 200) return file_reply(std::move(drawn.bytes), type, name);
  Reply reply = failure(drawn.status, drawn.status == 503 ? "busy" : "refused", drawn.bytes);
  if (drawn.status == 503) reply.fields.emplace_back("Retry-After", "1");
  return reply;
}

/// With the plan of the job that the path names; without one, what is wrong.
Handler with_plan(const Services& services,
                  std::function<Reply(const std::string& plan, const Call& call)> make) {
  return [services, make = std::move(make)](const Call& call) {
    const std::string plan = services.store.plan(call.path[0]);
    if (plan.empty()) return failure(404, "not_found", "there is no plan of a job " + call.path[0]);
    return make(plan, call);
  };
}

Reply schedule_of(const Services& services, const Call& call) {
  std::string schedule = services.store.schedule(call.path[0]);
  if (schedule.empty())
    return failure(404, "not_found",
                   "there is no schedule of a job " + call.path[0] + "; ask for one with \"schedule\": true");
  return file_reply(std::move(schedule), "application/json", "schedule.json");
}

Reply plan_as_json(const std::string& plan) {
  return file_reply(json_text(to_json(plan_from_text(plan, "plan"))), "application/json", "plan.json");
}

}  // namespace

void add_download_routes(std::vector<Route>& routes, const Services& services) {
  const std::string job = "/api/v1/jobs/{id}/";
  routes.push_back({.method = "GET",
                    .pattern = job + "plan",
                    .summary = "The plan file, as poet solve --plan-out writes it",
                    .handler = with_plan(services,
                                         [](const std::string& plan, const Call&) {
                                           return file_reply(plan, "application/octet-stream", "poet.plan");
                                         }),
                    .gives = "application/octet-stream"});
  routes.push_back({.method = "GET",
                    .pattern = job + "plan.json",
                    .summary = "The same as JSON",
                    .handler = with_plan(
                        services, [](const std::string& plan, const Call&) { return plan_as_json(plan); })});
  routes.push_back({.method = "GET",
                    .pattern = job + "schedule.json",
                    .summary = "The schedule in stages, of jobs that asked for it",
                    .handler = [services](const Call& call) { return schedule_of(services, call); }});
  for (const Download& each : kDrawn)
    routes.push_back(
        {.method = "GET",
         .pattern = job + each.name,
         .summary = each.description,
         .handler = with_plan(services,
                              [each, &drawings = services.drawings](const std::string& plan, const Call&) {
                                return drawn_reply(drawings.draw(plan, each.name), each.type, each.name);
                              }),
         .gives = each.type});
  routes.push_back({.method = "GET",
                    .pattern = job + "firmware.tar.gz",
                    .summary = "Firmware in C that trains by the plan, with the image of its card",
                    .handler = with_plan(
                        services,
                        [&drawings = services.drawings](const std::string& plan, const Call& call) {
                          const std::string board = call.query("board").value_or("host");
                          const bool is_name = std::all_of(board.begin(), board.end(), [](unsigned char c) {
                            return std::isalnum(c) != 0 || c == '-';
                          });
                          if (!is_name || board.size() > 40)
                            return failure(400, "invalid", "is no board's name", "board");
                          return drawn_reply(drawings.firmware(plan, board), "application/gzip",
                                             "firmware.tar.gz");
                        }),
                    .gives = "application/gzip",
                    .queries = {{"board", "what it is for, as poet codegen --board; host without"}}});
}

}  // namespace poet::server
