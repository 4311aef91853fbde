#pragma once

// What tests of poet serve share: requests and responses as bytes, names that requests may have, and all
// routes on a store of their own.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/server/http/access.h"
#include "apps/server/http/router.h"
#include "apps/server/routes/services.h"
#include "tests/support/paths.h"

namespace poet::test {

/// "GET /x" as a whole request of a program on this machine, with more fields, each "Name: value".
inline std::string http_request(const std::string& method_and_target, const std::string& body = {},
                                const std::vector<std::string>& fields = {}, bool has_host = true) {
  std::string text = method_and_target + " HTTP/1.1\r\n";
  if (has_host) text += "Host: localhost:8080\r\n";
  for (const std::string& each : fields) text += each + "\r\n";
  if (!body.empty()) text += fmt::format("Content-Length: {}\r\n", body.size());
  return text + "\r\n" + body;
}

/// A job's request.
inline std::string job_request(const std::string& json) {
  return http_request("POST /api/v1/jobs", json, {"Content-Type: application/json"});
}

struct HttpResponse {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> fields;
  std::string body;

  [[nodiscard]] std::vector<std::string> all(const std::string& name) const {
    std::vector<std::string> values;
    for (const auto& [each, value] : fields)
      if (each == name) values.push_back(value);
    return values;
  }
  [[nodiscard]] nlohmann::ordered_json json() const { return nlohmann::ordered_json::parse(body); }
};

/// Nothing: it is not well-formed. `has_body`: false after HEAD.
inline std::optional<HttpResponse> http_response(const std::string& bytes, bool has_body = true) {
  const std::size_t end = bytes.find("\r\n\r\n");
  if (bytes.rfind("HTTP/1.1 ", 0) != 0 || end == std::string::npos) return std::nullopt;
  HttpResponse response;
  const char* digits = bytes.data() + 9;
  if (std::from_chars(digits, digits + 3, response.status).ptr != digits + 3 || digits[3] != ' ')
    return std::nullopt;
  response.body = bytes.substr(end + 4);
  for (std::size_t at = bytes.find("\r\n") + 2; at < end + 2;) {
    const std::string line = bytes.substr(at, bytes.find("\r\n", at) - at);
    const std::size_t colon = line.find(": ");
    if (colon == 0 || colon == std::string::npos || line.find_first_of("\r\n") != std::string::npos)
      return std::nullopt;
    response.fields.emplace_back(line.substr(0, colon), line.substr(colon + 2));
    at += line.size() + 2;
  }
  const std::vector<std::string> length = response.all("Content-Length");
  if (length.size() > 1) return std::nullopt;
  if (has_body && !length.empty() && length.front() != std::to_string(response.body.size()))
    return std::nullopt;
  return response;
}

/// Names that requests may have, with one upload.
inline server::KnownNames few_names(const std::string& upload, const std::filesystem::path& file = {}) {
  server::KnownNames names;
  names.models = {"linear", "bert_tiny"};
  names.devices = {"m0", "m4"};
  names.methods = {"keep-all", "chen"};
  names.is_upload = [upload](const std::string& id) { return id == upload; };
  names.upload_file = [file](const std::string&) { return file.string(); };
  return names;
}

/// Everything of a server but the network, in a folder, with nobody who does the jobs.
struct QuietServer {
  explicit QuietServer(const std::filesystem::path& folder, const server::Tokens& tokens = {},
                       server::QueueLimits limits = {}, std::int64_t upload_bytes = std::int64_t{4} << 20,
                       const std::filesystem::path& drawer = program())
      : store(folder, limits, [this] { return now; }),
        uploads(folder / "uploads", upload_bytes),
        catalogue(server::read_catalogue(program(), folder)),
        drawings(drawer, folder / "drawings", std::int64_t{4} << 30),
        sizes(drawer, folder / "sizes", std::int64_t{4} << 30),
        workers(store, uploads, {program(), folder / "jobs", 0, std::int64_t{4} << 30}),
        routes(all_routes({store, uploads, workers, catalogue, drawings, sizes, {}})),
        router(routes, server::gate_of(tokens)) {}

  /// What the router says; nothing: not yet, or it is no response.
  [[nodiscard]] std::optional<HttpResponse> answer(const std::string& request) {
    const server::Answered answered = router.answer({1, request, "127.0.0.1"});
    if (answered.once_ended) return std::nullopt;
    return http_response(answered.response.bytes, request.rfind("HEAD ", 0) != 0);
  }

  static std::vector<server::Route> all_routes(const server::Services& services) {
    std::vector<server::Route> routes;
    server::add_job_routes(routes, services);
    server::add_download_routes(routes, services);
    server::add_catalogue_routes(routes, services);
    server::add_published_route(routes, services);
    server::add_description_route(routes);
    server::add_page_routes(routes);
    return routes;
  }

  double now = 1e9;  // seconds since 1970
  server::JobStore store;
  server::Uploads uploads;
  server::Catalogue catalogue;
  server::Drawings drawings;
  server::NetworkSizes sizes;
  server::Workers workers;
  std::vector<server::Route> routes;
  server::Router router;
};

}  // namespace poet::test
