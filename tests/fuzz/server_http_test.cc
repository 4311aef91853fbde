// Whatever bytes come as a request: an answer that is one, never for a mistake of the server's own, and
// nothing that stays in memory.

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/server/http/request_head.h"
#include "apps/server/jobs/fields.h"
#include "apps/server/jobs/program_output.h"
#include "poet/cost/json_reader.h"
#include "tests/support/effort.h"
#include "tests/support/program.h"
#include "tests/support/random_instance.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/server.h"

namespace poet::server {
namespace {

using FuzzJson = nlohmann::ordered_json;
using test::chance;
using test::pick;
using test::Rng;

constexpr int kRequests = 100'000;
constexpr std::int64_t kMostGrowth = 20 << 20;

const std::set<int> kStatuses = {200, 201, 202, 206, 304, 400, 401, 403, 404, 405, 409,
                                 411, 413, 414, 415, 416, 422, 429, 431, 501, 503, 505};

std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

template <class T>
const T& any_of(Rng& rng, const std::vector<T>& list) {
  return list[static_cast<std::size_t>(pick(rng, 0, static_cast<int>(list.size()) - 1))];
}

std::size_t place_in(Rng& rng, const std::string& text) {
  return static_cast<std::size_t>(pick(rng, 0, static_cast<int>(text.size())));
}

/// A value that stands where another should.
FuzzJson any_value(Rng& rng, int depth = 0) {
  static const std::vector<FuzzJson> values = {nullptr,
                                               true,
                                               false,
                                               0,
                                               -1,
                                               1,
                                               0.5,
                                               1e308,
                                               -1e308,
                                               5e-324,
                                               std::int64_t{1} << 53,
                                               18446744073709551615U,
                                               "",
                                               "auto",
                                               "off",
                                               "24KiB",
                                               "-1",
                                               "1e400",
                                               "5%",
                                               "50ms",
                                               "linear",
                                               "m0",
                                               "m4",
                                               "../x",
                                               "/etc/passwd",
                                               "\xc3\xa9",
                                               "\xff",
                                               std::string("a\0b", 3),
                                               "a\nb",
                                               "--json",
                                               "poet",
                                               "chen",
                                               "all",
                                               std::string(300, 'x'),
                                               std::string(64, 'a')};
  const int kind = pick(rng, 0, 9);
  if (kind > 1 || depth > 3) return any_of(rng, values);
  FuzzJson json = kind == 0 ? FuzzJson::array() : FuzzJson::object();
  for (int i = pick(rng, 0, 3); i > 0; --i) {
    if (kind == 0)
      json.push_back(any_value(rng, depth + 1));
    else
      json[any_of(rng, fields()).name] = any_value(rng, depth + 1);
  }
  return json;
}

/// A job's request that was right before some of it was replaced.
std::string any_job(Rng& rng, const std::vector<FuzzJson>& seeds) {
  FuzzJson json = any_of(rng, seeds);
  if (json.contains("ram_budget")) json["ram_budget"] = pick(rng, 1, 100'000);
  for (int i = pick(rng, 0, 2); i > 0; --i) {
    const std::string name =
        chance(rng, 0.5) || json.empty()
            ? any_of(rng, fields()).name
            : std::next(json.begin(), pick(rng, 0, static_cast<int>(json.size()) - 1)).key();
    FuzzJson& place = json[name];
    if (place.is_array() && !place.empty() && chance(rng, 0.5))
      place[0] = any_value(rng);
    else if (place.is_object() && !place.empty() && chance(rng, 0.7))
      std::next(place.begin(), pick(rng, 0, static_cast<int>(place.size()) - 1)).value() = any_value(rng);
    else
      place = any_value(rng);
  }
  return json.dump(-1, ' ', false, FuzzJson::error_handler_t::ignore);
}

/// A target of one of the routes, with numbers and names put in, and perhaps a query.
std::string any_target(Rng& rng, const std::vector<Route>& routes, const std::vector<std::string>& jobs) {
  static const std::vector<std::string> names = {
      "limit",           "before",       "state",          "mine",   "board", "model",
      "platform",        "ram_budget",   "runtime_budget", "paging", "remat", "batch_size",
      "mem_power_scale", "time_limit_s", "solve_threads",  "x",      "%00",   ""};
  static const std::vector<std::string> values = {
      "1",   "0",      "-1",          "2.5", "1e9",  "1e308", "nan",
      "inf", "linear", "a72",         "m4",  "true", "host",  "..%2f..",
      "%",   "%zz",    "%ff%fe",      "+",   "done", "",      "99999999999999999999999999",
      "..",  "--json", "%0d%0aX:%20y"};
  std::string target = any_of(rng, routes).pattern;
  if (const std::size_t at = target.find("{id}"); at != std::string::npos)
    target.replace(at, 4, any_of(rng, jobs));
  if (chance(rng, 0.3))
    target = fmt::format("/solve?model=linear&platform=m4&ram_budget=100000&runtime_budget=2&batch_size={}",
                         pick(rng, 0, 30));
  for (int i = chance(rng, 0.5) ? pick(rng, 1, 4) : 0; i > 0; --i)
    target +=
        (target.find('?') == std::string::npos ? "?" : "&") + any_of(rng, names) + "=" + any_of(rng, values);
  return target;
}

std::string any_request(Rng& rng, const test::QuietServer& server, const std::vector<std::string>& jobs,
                        const std::vector<FuzzJson>& seeds) {
  static const std::vector<std::string> methods = {"GET",    "GET",     "GET", "POST",  "POST",
                                                   "DELETE", "HEAD",    "PUT", "PATCH", "OPTIONS",
                                                   "TRACE",  "CONNECT", "PRI", "BREW",  "get"};
  static const std::vector<std::string> extra = {"Origin: http://localhost:8080",
                                                 "Origin: http://evil.example",
                                                 "Host: evil.example",
                                                 "Range: bytes=0-3",
                                                 "Range: bytes=9-1,0-,-5,x",
                                                 "Range: bytes=99999999999999999999-",
                                                 "If-None-Match: \"x\"",
                                                 "Expect: 100-continue",
                                                 "Accept-Encoding: gzip, br",
                                                 "Content-Encoding: gzip",
                                                 "Content-Encoding: br",
                                                 "Transfer-Encoding: chunked",
                                                 "Connection: close",
                                                 "Connection: Upgrade, HTTP2-Settings",
                                                 "Upgrade: websocket",
                                                 "Content-Length: 5",
                                                 "Content-Length: 99999999999999999999",
                                                 "Content-Type: multipart/form-data; boundary=x",
                                                 "Content-Type: application/x-www-form-urlencoded",
                                                 "Content-Type: application/octet-stream",
                                                 "REMOTE_ADDR: 1.2.3.4",
                                                 "X-Forwarded-For: 1.2.3.4",
                                                 "X: " + std::string(9000, 'y'),
                                                 "Cookie: \xff\xfe",
                                                 "LOCAL_PORT: x"};
  std::string head, body;
  std::vector<std::string> more;
  if (chance(rng, 0.45)) {
    head = chance(rng, 0.9) ? "POST /api/v1/jobs" : "POST /api/v1/uploads";
    body = any_job(rng, seeds);
    more.push_back(chance(rng, 0.9) ? "Content-Type: application/json"
                                    : "Content-Type: application/octet-stream");
  } else {
    head = any_of(rng, methods) + " " + any_target(rng, server.routes, jobs);
    if (chance(rng, 0.1)) body = any_job(rng, seeds);
    if (chance(rng, 0.05)) body = "5\r\nhello\r\n0\r\n\r\n";
    if (chance(rng, 0.05)) body = "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--x--\r\n";
  }
  for (int i = chance(rng, 0.3) ? pick(rng, 1, 3) : 0; i > 0; --i) more.push_back(any_of(rng, extra));
  return test::http_request(head, body, more, chance(rng, 0.98));
}

/// Bytes flipped, cut out, doubled, or others put in.
void damage_request(Rng& rng, std::string& text) {
  static const std::vector<std::string> pieces = {"\r\n",
                                                  "\r\n\r\n",
                                                  "\n",
                                                  "\r",
                                                  std::string(1, '\0'),
                                                  ":",
                                                  " ",
                                                  "\t",
                                                  "/",
                                                  "%",
                                                  "\xff",
                                                  "\xc0\x80",
                                                  "HTTP/1.1",
                                                  "Content-Length: 1\r\n",
                                                  "0",
                                                  "9999",
                                                  "{",
                                                  "[[[[",
                                                  "\"",
                                                  "\\u0000",
                                                  "\\ud800",
                                                  "e999",
                                                  ","};
  for (int i = pick(rng, 1, 3); i > 0 && !text.empty(); --i) {
    const std::size_t at = place_in(rng, text);
    switch (pick(rng, 0, 5)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(pick(rng, 0, 255));
        break;
      case 1:
        text.erase(at, static_cast<std::size_t>(pick(rng, 1, 20)));
        break;
      case 2:
        text.insert(at, text.substr(place_in(rng, text), static_cast<std::size_t>(pick(rng, 1, 60))));
        break;
      case 3:
        text.resize(at);
        break;
      default:
        text.insert(at, any_of(rng, pieces));
        break;
    }
  }
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

std::vector<FuzzJson> job_seeds(const FuzzJson& profile, const std::string& upload) {
  return {
      {{"model", "linear"}, {"device", "m0"}, {"ram_budget", "24KiB"}, {"schedule", true}},
      {{"kind", "explain"}, {"model", "linear"}, {"device", profile}, {"ram_budget", 24576}, {"gap", "5%"}},
      {{"kind", "compare"},
       {"model", "linear"},
       {"device", "m4"},
       {"ram_budget", 1e5},
       {"methods", {"chen"}}},
      {{"kind", "import"}, {"onnx", upload}, {"input_shapes", {{"x", {1, 2}}}}},
      {{"kind", "verify"}, {"plan", upload}},
      {{"kind", "solve"},
       {"instance", upload},
       {"ram_budget", 1},
       {"semantics", "published"},
       {"on_time", 0.9}},
      {{"kind", "sweep"},
       {"networks", {"linear", {{"onnx", upload}}}},
       {"platforms", {"m0", profile}},
       {"ram", {"24KiB", 0.5, "10%"}},
       {"deadlines", {nullptr, 1.5, "50ms"}},
       {"methods", {"poet", "all"}}}};
}

TEST(ServerHttpFuzz, EveryRequestIsAnsweredByTheRules) {
  const test::ScratchFolder folder;
  // Nothing is drawn here: who asks for it is refused.
  test::QuietServer server(folder.path(), {}, {100, 50}, 256 << 10, "/bin/false");
  const FuzzJson profile =
      FuzzJson::parse(read_text_file(test::repository() / "data" / "devices" / "m0.json"));
  const std::vector<FuzzJson> seeds = job_seeds(profile, server.uploads.add("an upload").value());
  std::vector<std::string> jobs = {"none", "..", "%00", "a%2fb"};
  for (const char* id : {"done", "failed", "running", "queued"}) {
    (void)server.store.submit({id, "solve", "{}", "ann"});
    jobs.emplace_back(id);
  }
  for (int i = 0; i < 3; ++i) (void)server.store.claim("worker", 1e9);
  const auto plan = folder.path() / "plan";
  ASSERT_EQ(test::poet(
                "solve --model linear --platform m0 --ram-budget 24KiB --time-limit 0.2 --quiet --plan-out " +
                plan.string())
                .exit_code,
            0);
  EXPECT_TRUE(server.store.finish(
      "done", "worker", {JobState::done, R"({"status":"optimal"})", "", contents(plan), R"({"format":1})"}));
  EXPECT_TRUE(server.store.finish("failed", "worker", {JobState::failed, "", R"({"error":"died"})", "", ""}));

  Rng rng(20220717);
  std::map<int, int> statuses;
  std::int64_t early = 0;
  const int all = test::kSanitized ? kRequests / 10 : kRequests;
  for (int i = 0; i < all; ++i) {
    std::string bytes = any_request(rng, server, jobs, seeds);
    if (chance(rng, 0.4)) damage_request(rng, bytes);
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
  for (int i = 0; i < (test::kSanitized ? kRequests / 10 : kRequests); ++i) {
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
