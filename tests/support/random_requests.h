#pragma once

// Requests that were right before something was done to them.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/server/jobs/fields.h"
#include "tests/support/random_instance.h"
#include "tests/support/server.h"

namespace poet::test {

template <class T>
const T& any_of(Rng& rng, const std::vector<T>& list) {
  return list[static_cast<std::size_t>(pick(rng, 0, static_cast<int>(list.size()) - 1))];
}

inline std::size_t place_in(Rng& rng, const std::string& text) {
  return static_cast<std::size_t>(pick(rng, 0, static_cast<int>(text.size())));
}

/// A value that stands where another should.
inline nlohmann::ordered_json any_value(Rng& rng, int depth = 0) {
  static const std::vector<nlohmann::ordered_json> values = {nullptr,
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
  nlohmann::ordered_json json =
      kind == 0 ? nlohmann::ordered_json::array() : nlohmann::ordered_json::object();
  for (int i = pick(rng, 0, 3); i > 0; --i) {
    if (kind == 0)
      json.push_back(any_value(rng, depth + 1));
    else
      json[any_of(rng, server::fields()).name] = any_value(rng, depth + 1);
  }
  return json;
}

/// A job's request that was right before some of it was replaced.
inline std::string any_job(Rng& rng, const std::vector<nlohmann::ordered_json>& seeds) {
  nlohmann::ordered_json json = any_of(rng, seeds);
  if (json.contains("ram_budget")) json["ram_budget"] = pick(rng, 1, 100'000);
  for (int i = pick(rng, 0, 2); i > 0; --i) {
    const std::string name =
        chance(rng, 0.5) || json.empty()
            ? any_of(rng, server::fields()).name
            : std::next(json.begin(), pick(rng, 0, static_cast<int>(json.size()) - 1)).key();
    nlohmann::ordered_json& place = json[name];
    if (place.is_array() && !place.empty() && chance(rng, 0.5))
      place[0] = any_value(rng);
    else if (place.is_object() && !place.empty() && chance(rng, 0.7))
      std::next(place.begin(), pick(rng, 0, static_cast<int>(place.size()) - 1)).value() = any_value(rng);
    else
      place = any_value(rng);
  }
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::ignore);
}

/// A target of one of the routes, with numbers and names put in, and perhaps a query.
inline std::string any_target(Rng& rng, const std::vector<server::Route>& routes,
                              const std::vector<std::string>& jobs) {
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

inline std::string any_request(Rng& rng, const QuietServer& server, const std::vector<std::string>& jobs,
                               const std::vector<nlohmann::ordered_json>& seeds) {
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
  return http_request(head, body, more, chance(rng, 0.98));
}

/// Bytes flipped, cut out, doubled, or others put in.
inline void damage_request(Rng& rng, std::string& text) {
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

inline std::vector<nlohmann::ordered_json> job_seeds(const nlohmann::ordered_json& profile,
                                                     const std::string& upload) {
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

}  // namespace poet::test
