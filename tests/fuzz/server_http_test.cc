// Whatever bytes come as a request: an answer that is one, never for a mistake of the server's own, and
// nothing that stays in memory.

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/server/http/request_head.h"
#include "apps/server/jobs/program_output.h"
#include "poet/cost/json_reader.h"
#include "tests/support/effort.h"
#include "tests/support/program.h"
#include "tests/support/random_requests.h"
#include "tests/support/scratch_folder.h"

namespace poet::server {
namespace {

using FuzzJson = nlohmann::ordered_json;
using test::any_of;
using test::chance;
using test::pick;
using test::Rng;

constexpr std::int64_t kMostGrowth = 20 << 20;

const std::set<int> kStatuses = {200, 201, 202, 206, 304, 400, 401, 403, 404, 405, 409,
                                 411, 413, 414, 415, 416, 422, 429, 431, 501, 503, 505};

std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

int requests() {
  return static_cast<int>(test::from_environment("POET_FUZZ_REQUESTS", test::effort(100'000, 10)));
}

/// As the event loop passes it on: whole, its length as stated. Nothing: it is refused or never whole.
std::optional<std::string> passed_on(const std::string& bytes) {
  const std::optional<RequestHead> head = request_head(bytes);
  if (!head) return std::nullopt;
  EXPECT_LE(head->size, bytes.size());
  EXPECT_TRUE(kStatuses.contains(head->refused) || head->refused == 0) << head->refused;
  if (head->refused != 0 || head->body > bytes.size()) return std::nullopt;
  std::string whole = head->awaits_continue ? without_expect(bytes, head->size) : bytes;
  const std::size_t size = head->size - (bytes.size() - whole.size()) + head->body;
  if (whole.size() < size) return std::nullopt;
  whole.resize(size);
  return whole;
}

TEST(ServerHttpFuzz, EveryRequestIsAnsweredByTheRules) {
  const test::ScratchFolder folder;
  // Nothing is drawn here: who asks for it is refused.
  test::QuietServer server(folder.path(), {}, {100, 50}, 256 << 10, "/bin/false");
  const FuzzJson profile =
      FuzzJson::parse(read_text_file(test::repository() / "data" / "devices" / "m0.json"));
  const std::vector<FuzzJson> seeds = test::job_seeds(profile, server.uploads.add("an upload").value());
  std::vector<std::string> jobs = {"none", "..", "%00", "a%2fb"};
  for (const char* id : {"done", "failed", "running", "queued"}) {
    (void)server.store.submit({id, "solve", "{}", "ann"});
    jobs.emplace_back(id);
  }
  for (int i = 0; i < 3; ++i) (void)server.store.claim("worker", 1e9);
  const auto plan = folder.path() / "plan";
  ASSERT_EQ(test::poet("solve --model linear --platform m4 --ram-budget 64KiB --persistent excluded --split "
                       "off --quiet --plan-out " +
                       plan.string())
                .exit_code,
            0);
  EXPECT_TRUE(server.store.finish(
      "done", "worker", {JobState::done, R"({"status":"optimal"})", "", contents(plan), R"({"format":1})"}));
  EXPECT_TRUE(server.store.finish("failed", "worker", {JobState::failed, "", R"({"error":"died"})", "", ""}));

  Rng rng(20220717);
  std::map<int, int> statuses;
  std::int64_t early = 0;
  const int all = requests();
  for (int i = 0; i < all; ++i) {
    std::string bytes = test::any_request(rng, server, jobs, seeds);
    if (chance(rng, 0.4)) test::damage_request(rng, bytes);
    const std::optional<std::string> request = passed_on(bytes);
    if (request) {
      const Answered answered = server.router.answer({1, *request, "127.0.0.1"});
      if (answered.once_ended) {
        EXPECT_TRUE(answered.response.bytes.find("HTTP/1.1 200") == 0) << "it is dropped";
        ++statuses[0];
      } else {
        const auto response = test::http_response(answered.response.bytes, request->rfind("HEAD ", 0) != 0);
        ASSERT_TRUE(response) << *request << "\n----\n" << answered.response.bytes;
        ASSERT_TRUE(kStatuses.contains(response->status)) << *request << "\n----\n"
                                                          << answered.response.bytes;
        ASSERT_TRUE(!answered.response.topic || response->status == 200) << *request << "\n----\n"
                                                                         << answered.response.bytes;
        ++statuses[response->status];
      }
    }
    // The queue is emptied now and then.
    if (i % 5000 == 0) {
      while (const std::optional<Job> job = server.store.claim("worker", 1e9))
        (void)server.store.finish(job->order.id, "worker", {JobState::cancelled, "", "", "", ""});
    }
    if (i == all / 5) early = resident_bytes();
  }
  for (const int status : {0, 200, 202, 400, 403, 404, 415, 422, 429, 503})
    EXPECT_GT(statuses[status], 0) << "nothing was answered with " << status;
  EXPECT_FALSE(statuses.contains(500));
  if (!test::kSanitized) {
    EXPECT_LT(resident_bytes() - early, kMostGrowth);
  }
}

TEST(ServerHttpFuzz, HeadsOfRubbishAreReadOrRefused) {
  Rng rng(7);
  for (int i = 0; i < requests(); ++i) {
    std::string text;
    static const std::vector<std::string> pieces = {"GET ",
                                                    "POST ",
                                                    "/",
                                                    " HTTP/1.1",
                                                    "\r\n",
                                                    "\r\n",
                                                    "\r\n\r\n",
                                                    "Host: x",
                                                    "Content-Length: ",
                                                    "1",
                                                    "99",
                                                    ":",
                                                    " ",
                                                    "\t",
                                                    "\xff",
                                                    std::string(1, '\0'),
                                                    "Transfer-Encoding: chunked",
                                                    "Expect: 100-continue",
                                                    "\n",
                                                    "\r",
                                                    "a"};
    for (int n = pick(rng, 0, 20); n > 0; --n) text += any_of(rng, pieces);
    const std::optional<RequestHead> head = request_head(text);
    ASSERT_EQ(head.has_value(), text.find("\r\n\r\n") != std::string::npos);
    if (!head) continue;
    ASSERT_EQ(head->size, text.find("\r\n\r\n") + 4);
    const std::string without = without_expect(text, head->size);
    ASSERT_LE(without.size(), text.size());
    ASSERT_EQ(without.substr(without.size() - (text.size() - head->size)), text.substr(head->size));
  }
}

}  // namespace
}  // namespace poet::server
