// What the routes answer, without a network and without anybody who does the jobs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/support/background.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/server.h"

namespace poet::server {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using RouteJson = nlohmann::ordered_json;

constexpr const char* kSolveLinear = R"({"model":"linear","device":"m0","ram_budget":"24KiB"})";

/// The status of a request, and its error's name.
std::string status_of(test::QuietServer& server, const std::string& request) {
  const std::optional<test::HttpResponse> response = server.answer(request);
  if (!response) return "nothing";
  std::string text = std::to_string(response->status);
  if (response->status >= 400) text += " " + response->json()["error"].get<std::string>();
  return text;
}

TEST(ServerRoutes, FollowTheLifeOfAJob) {
  const test::ScratchFolder folder;
  test::QuietServer server(folder.path());
  const test::HttpResponse submitted = server.answer(test::job_request(kSolveLinear)).value();
  EXPECT_EQ(submitted.status, 202);
  const std::string id = submitted.json()["id"];
  const std::string job = "/api/v1/jobs/" + id;
  EXPECT_THAT(submitted.all("Location"), testing::ElementsAre(job));
  EXPECT_EQ(submitted.json()["state"], "queued");
  EXPECT_EQ(submitted.json()["request"]["ram_budget"], 24576);
  EXPECT_EQ(submitted.json()["started"], nullptr);
  EXPECT_EQ(status_of(server, test::http_request("GET " + job + "/result")), "409 not_done");
  EXPECT_EQ(status_of(server, test::http_request("GET " + job + "/plan")), "404 not_found");

  EXPECT_EQ(server.store.claim("worker", 10)->order.id, id);
  EXPECT_TRUE(
      server.store.finish(id, "worker", {JobState::done, R"({"status":"optimal"})", "", "a plan", "{}"}));
  EXPECT_EQ(server.answer(test::job_request(kSolveLinear))->status, 200) << "it is there already";
  EXPECT_EQ(server.answer(test::http_request("GET " + job))->json()["state"], "done");
  EXPECT_EQ(server.answer(test::http_request("GET " + job + "/result"))->body, R"({"status":"optimal"})");
  EXPECT_EQ(server.answer(test::http_request("GET " + job + "/plan"))->body, "a plan");
  EXPECT_EQ(server.answer(test::http_request("GET " + job + "/schedule.json"))->body, "{}");
  EXPECT_EQ(status_of(server, test::http_request("DELETE " + job)), "200");
  EXPECT_EQ(server.store.find(id)->state, JobState::done) << "it has ended";
  const test::HttpResponse events = server.answer(test::http_request("GET " + job + "/events")).value();
  EXPECT_THAT(events.body, StartsWith("event: job\nid: "));
  EXPECT_THAT(events.body, HasSubstr(R"("state":"done")"));
}

TEST(ServerRoutes, CancelJobsForWhoSubmittedThemFirst) {
  const test::ScratchFolder folder;
  test::QuietServer server(folder.path());
  const std::string id = server.answer(test::job_request(kSolveLinear))->json()["id"];
  const std::string request = test::http_request("DELETE /api/v1/jobs/" + id);
  const auto other = test::http_response(server.router.answer({1, request, "127.0.0.2"}).response.bytes);
  EXPECT_EQ(other->status, 403);
  EXPECT_EQ(server.store.find(id)->state, JobState::queued);
  EXPECT_EQ(server.answer(request)->json()["state"], "cancelled");
}

TEST(ServerRoutes, StreamWhatHasNotEndedAndOnlyThat) {
  const test::ScratchFolder folder;
  test::QuietServer server(folder.path());
  const std::string id = server.answer(test::job_request(kSolveLinear))->json()["id"];
  const auto topic = [&](const std::string& method) {
    const std::string request = test::http_request(method + " /api/v1/jobs/" + id + "/events");
    return server.router.answer({1, request, "127.0.0.1"}).response.topic.value_or("none");
  };
  EXPECT_EQ(topic("GET"), id);
  EXPECT_EQ(topic("HEAD"), "none") << "its client reads no body";
  for (const char* range :
       {"Range: bytes=0-3", "Range: bytes=-5", "Range: bytes=9-1", "Range: bytes=5000-"}) {
    const std::string request = test::http_request("GET /api/v1/jobs/" + id + "/events", {}, {range});
    const Answered answered = server.router.answer({1, request, "127.0.0.1"});
    EXPECT_EQ(answered.response.topic.has_value(), answered.response.bytes.rfind("HTTP/1.1 200 ", 0) == 0)
        << range << "\n"
        << answered.response.bytes;
  }
  EXPECT_TRUE(server.store.cancel(id));
  EXPECT_EQ(topic("GET"), "none");
}

TEST(ServerRoutes, AnswerWhatIsWrong) {
  const test::ScratchFolder folder;
  test::QuietServer server(folder.path());
  const auto status = [&](const std::string& request) { return status_of(server, request); };
  for (const char* path :
       {"/none", "/api/v1/jobs/none", "/api/v1/jobs/../status", "/api/v1/jobs/a/b", "/api/v1/jobs/%00",
        "/api/v1/jobs/none/events", "/api/v1/jobs/none/result", "/api/v1/jobs/none/plan",
        "/report/../../../etc/passwd", "/report/%2e%2e/%2e%2e/README.md", "//", "/%ff"})
    EXPECT_EQ(status(test::http_request("GET " + std::string(path))), "404 not_found") << path;
  EXPECT_EQ(status(test::http_request("DELETE /api/v1/jobs/none")), "404 not_found");
  EXPECT_EQ(status(test::http_request("POST /api/v1/jobs", kSolveLinear)), "415 refused");
  EXPECT_EQ(status(test::http_request("POST /api/v1/jobs", kSolveLinear, {"Content-Type: text/plain"})),
            "415 refused");
  EXPECT_EQ(status(test::job_request("{")), "400 invalid");
  EXPECT_EQ(status(test::job_request("{\"model\":\"" + std::string(2'000'000, 'x') + "\"}")),
            "413 too_large");
  EXPECT_EQ(server.answer(test::job_request(R"({"model":"linear","device":"m0"})"))->json()["field"],
            "/ram_budget");
  EXPECT_EQ(status(test::http_request("POST /api/v1/uploads", "x")), "415 refused");
  EXPECT_EQ(
      status(test::http_request("POST /api/v1/uploads", "", {"Content-Type: application/octet-stream"})),
      "400 invalid");
  for (const char* query : {"limit=0", "limit=201", "limit=-1", "limit=x", "limit=99999999999999999999999",
                            "limit=", "before=x", "before=nan", "before=1e999", "before="})
    EXPECT_EQ(status(test::http_request("GET /api/v1/jobs?" + std::string(query))), "400 invalid") << query;
  EXPECT_EQ(server.store.load().queued, 0);
}

TEST(ServerRoutes, SayWhenTheQueueIsFullAndForHowLong) {
  const test::ScratchFolder folder;
  test::QuietServer server(folder.path(), {}, {3, 2});
  const auto submit = [&](int bytes, const std::string& address) {
    const std::string request =
        test::job_request(fmt::format(R"({{"model":"linear","device":"m0","ram_budget":{}}})", bytes));
    return test::http_response(server.router.answer({1, request, address}).response.bytes).value();
  };
  EXPECT_EQ(submit(1, "127.0.0.1").status, 202);
  EXPECT_EQ(submit(2, "127.0.0.1").status, 202);
  EXPECT_EQ(submit(3, "127.0.0.1").status, 429);
  EXPECT_EQ(submit(3, "127.0.0.2").status, 202);
  EXPECT_EQ(submit(4, "127.0.0.2").status, 503);
  for (const test::HttpResponse& full : {submit(5, "127.0.0.1"), submit(5, "127.0.0.2")})
    EXPECT_EQ(full.all("Retry-After").size(), 1U);
}

TEST(ServerRoutes, KeepUploadsOnceWithinTheirLimit) {
  const test::ScratchFolder folder;
  test::QuietServer server(folder.path(), {}, {}, 1000);
  const auto upload = [&](const std::string& bytes) {
    return server
        .answer(test::http_request("POST /api/v1/uploads", bytes, {"Content-Type: application/octet-stream"}))
        .value();
  };
  const test::HttpResponse first = upload(std::string(600, '\0'));
  EXPECT_EQ(first.status, 201);
  EXPECT_EQ(first.json()["bytes"], 600);
  EXPECT_EQ(upload(std::string(600, '\0')).json()["id"], first.json()["id"]) << "it takes no more room";
  EXPECT_EQ(upload(std::string(401, 'x')).status, 503);
  EXPECT_EQ(upload(std::string(401, 'x')).all("Retry-After").size(), 1U);
  EXPECT_EQ(upload(std::string(400, 'x')).status, 201);
  EXPECT_EQ(server.answer(test::http_request("GET /api/v1/status"))->json()["upload_bytes"], 1000);
}

TEST(ServerRoutes, HardenEveryAnswerOnce) {
  const test::ScratchFolder folder;
  test::QuietServer server(folder.path());
  const std::string id = server.answer(test::job_request(kSolveLinear))->json()["id"];
  for (const std::string& request :
       {test::http_request("GET /api/v1/status"), test::http_request("GET /none"), test::job_request("{"),
        test::http_request("GET /api/v1/jobs/" + id + "/events"), test::http_request("BREW /api/v1/status"),
        test::http_request("GET /report/page.js"), test::http_request("HEAD /api/v1/models"),
        test::http_request("GET /api/v1/status", {}, {}, false), test::http_request("GET /solve?x=1"),
        std::string("\r\n\r\n"), test::http_request("GET /api/v1/models", {}, {"Range: bytes=5-1"})}) {
    const std::optional<test::HttpResponse> response = server.answer(request);
    ASSERT_TRUE(response) << request;
    for (const char* name : {"X-Content-Type-Options", "Referrer-Policy", "X-Frame-Options", "Cache-Control",
                             "Content-Security-Policy"})
      EXPECT_EQ(response->all(name).size(), 1U) << name << " of " << request;
    EXPECT_LE(response->all("Content-Type").size(), 1U) << request;
    EXPECT_TRUE(response->all("Access-Control-Allow-Origin").empty());
  }
}

TEST(ServerRoutes, StopMakingFilesWhenTheServerStops) {
  const test::ScratchFolder folder;
  const auto slow = folder.write("slow", "#!/bin/sh\ntouch \"$0.began\"\nsleep 100000\n");
  std::filesystem::permissions(slow, std::filesystem::perms::owner_all);
  test::QuietServer server(folder.path(), {}, {}, 1000, slow);
  (void)server.store.submit({"a", "solve", "{}", "ann"});
  (void)server.store.claim("worker", 10);
  EXPECT_TRUE(server.store.finish("a", "worker", {JobState::done, "{}", "", "a plan", ""}));
  std::optional<test::HttpResponse> response;
  std::thread client([&] { response = server.answer(test::http_request("GET /api/v1/jobs/a/page.html")); });
  EXPECT_TRUE(test::wait_until([&] { return std::filesystem::exists(folder.path() / "slow.began"); }));
  server.drawings.stop();
  client.join();
  EXPECT_EQ(response->status, 422);
}

TEST(ServerRoutes, CheckNetworksAgainOnceProcessesCanBeStartedAgain) {
  const test::ScratchFolder folder;
  const std::filesystem::path checker = folder.path() / "checker";  // not there yet
  test::QuietServer server(folder.path(), {}, {}, 1000, checker);
  const auto submit = [&](const std::string& file) {
    const nlohmann::json request = {{"kind", "import"}, {"onnx", server.uploads.add(file).value()}};
    return status_of(server, test::job_request(request.dump()));
  };
  for (const char* file : {"a", "b", "c", "d"}) EXPECT_EQ(submit(file), "202") << "the job will say it";
  (void)folder.write("checker", "#!/bin/sh\necho 'poet: --op-limit: has too many ops' >&2; exit 2\n");
  std::filesystem::permissions(checker, std::filesystem::perms::owner_all);
  EXPECT_EQ(submit("e"), "422 too_large");
}

TEST(ServerRoutes, TellNothingOfTheServersOwnFiles) {
  const test::ScratchFolder folder;
  test::QuietServer server(folder.path(), {}, {}, 1000, folder.path() / "not there");
  (void)server.store.submit({"a", "solve", "{}", "ann"});
  (void)server.store.claim("worker", 10);
  EXPECT_TRUE(server.store.finish("a", "worker", {JobState::done, "{}", "", "a plan", ""}));
  for (int i = 0; i < 4; ++i) {
    const auto response = server.answer(test::http_request("GET /api/v1/jobs/a/page.html")).value();
    EXPECT_EQ(response.status, 503);
    EXPECT_EQ(response.all("Retry-After").size(), 1U);
    EXPECT_EQ(response.json()["message"], "no process can be started for it now; try again in a moment");
  }
  const Handler fails = [&](const Call&) -> Reply {
    throw InputError((folder.path() / "private").string(), "cannot be read");
  };
  Router router({{.method = "GET", .pattern = "/file", .summary = "", .handler = fails}},
                [](Call&, const Route&) { return std::nullopt; });
  const auto response =
      test::http_response(router.answer({1, test::http_request("GET /file"), "127.0.0.1"}).response.bytes);
  EXPECT_EQ(response->status, 500);
  EXPECT_THAT(response->body, Not(HasSubstr("private")));
}

TEST(ServerRoutes, GiveThePublishedAnswerForWhatItAsksFor) {
  const test::ScratchFolder folder;
  test::QuietServer server(folder.path());
  const auto solve = [&](const std::string& query) {
    return server.answer(test::http_request("GET /solve?" + query));
  };
  const std::string right = "model=linear&platform=m4&ram_budget=100000&runtime_budget=2";
  EXPECT_FALSE(solve(right)) << "it is answered when the job has ended";
  EXPECT_EQ(server.store.load().queued, 1);
  EXPECT_FALSE(solve(right + "&paging=1&mem_power_scale=1.0&batch_size=1&solver=gurobi"));
  EXPECT_EQ(server.store.load().queued, 1) << "that is the same";
  for (const auto& [query, field] : std::initializer_list<std::pair<std::string, const char*>>{
           {"model=linear&platform=m4&ram_budget=100000", "/runtime_budget"},
           {"model=linear&platform=m4&runtime_budget=2", "/ram_budget"},
           {right + "&batch_size=0", "/batch_size"},
           {right + "&batch_size=1.5", "/batch_size"},
           {right + "&batch_size=1e300", "/batch_size"},
           {right + "&mem_power_scale=0", "/mem_power_scale"},
           {right + "&mem_power_scale=nan", "/mem_power_scale"},
           {right + "&mem_power_scale=1e999", "/mem_power_scale"},
           {right + "&paging=yes", "/paging"},
           {right + "&paging=1e300", "/paging"},
           {right + "&time_limit_s=0", "/time_limit"},
           {right + "&colour=red", "/colour"},
           {"model=linear&platform=m4&ram_budget=-1&runtime_budget=2", "/ram_budget"},
           {"model=linear&platform=m4&ram_budget=1e20&runtime_budget=2", "/ram_budget"},
           {"model=linear&platform=m4&ram_budget=1&runtime_budget=0", "/runtime_budget"}}) {
    const std::optional<test::HttpResponse> response = solve(query);
    ASSERT_TRUE(response) << query;
    EXPECT_EQ(response->status, 422) << query << response->body;
    EXPECT_THAT(response->json()["field"].get<std::string>(), StartsWith(field)) << query;
    EXPECT_TRUE(response->json()["detail"].is_string());
  }
  EXPECT_THAT(solve("model=../devices/m0&platform=m4&ram_budget=1&runtime_budget=2")->body,
              HasSubstr("no published instance"));
}

}  // namespace
}  // namespace poet::server
