#pragma once

// Answers requests with cpp-httplib, which parses them, finds the path's handler and writes the response.
// event_loop.h does the networking.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/server/http/event_loop.h"

namespace httplib {
struct Request;
struct Response;
class Server;  // NOLINT(bugprone-forward-declaration-namespace): not ours of that name
}  // namespace httplib

namespace poet::server {

/// A handler's reply.
struct Reply {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> fields;  // "Retry-After"
  std::optional<std::string> topic;
  std::optional<std::string>
      once_ended;  // no reply yet: the request is handled again when this job has ended
};

/// A handler's input: the request with the parameters of its path and query.
struct Call {
  const httplib::Request& request;
  std::string address;
  std::string client;  // a token's name, or the address
  std::vector<std::string> path;
  [[nodiscard]] std::optional<std::string> query(const char* name) const;
  [[nodiscard]] std::vector<std::string> query_names() const;
  [[nodiscard]] std::string field(const char* name) const;
  [[nodiscard]] const std::string& body() const;
  [[nodiscard]] bool is_http_1_0() const;
};

using Handler = std::function<Reply(const Call& call)>;

/// A parameter of a path or a query, for the API's description.
struct Parameter {
  const char* name;
  const char* description;
  bool required = false;
};

struct Route {
  const char* method;   // GET, POST, DELETE
  std::string pattern;  // "/api/v1/jobs/{id}/events"
  const char* summary;
  Handler handler;
  const char* takes = "";  // content type of the body; empty: none
  const char* gives = "application/json";
  std::vector<Parameter> queries = {};
  bool is_public = false;  // no token needed: only static content of the program
  bool acts = false;       // although it is a GET: what may be asked for by a page's image or link
};

/// Sets Call::client, or returns a refusal.
using Gate = std::function<std::optional<Reply>(Call& call, const Route& route)>;

struct Answered {
  RawResponse response;
  std::optional<std::string> once_ended;  // if set, there is no response yet
};

class Router {
 public:
  Router(const std::vector<Route>& routes, const Gate& gate);
  ~Router();
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;
  Router(Router&&) = delete;
  Router& operator=(Router&&) = delete;

  /// Answers a whole request. Thread-safe.
  [[nodiscard]] Answered answer(const RawRequest& request);

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

/// Returns {"error": ..., "message": ...}, with "field" if `field` is not empty.
[[nodiscard]] Reply failure(int status, const std::string& error, const std::string& message,
                            const std::string& field = {});
/// Returns the reply to a StorageError: 503.
[[nodiscard]] Reply storage_failure();

}  // namespace poet::server
