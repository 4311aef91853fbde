#pragma once

// Requests to responses, by cpp-httplib: it parses, finds the handler of a path and writes the response. The
// network is event_loop.h's.

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

/// What a handler says, and whether the connection goes on as a stream.
struct Reply {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> fields;  // "Retry-After"
  std::optional<std::string> topic;
  std::optional<std::string>
      once_ended;  // the request is to be answered again when this job has ended; nothing else is said
};

/// What a handler sees. Parameters: of the path, then by name of the query.
struct Call {
  const httplib::Request& request;
  std::string address;
  std::string client;  // who calls: a token's name, or the address
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
  const char* takes = "";  // the type of the body; empty: none
  const char* gives = "application/json";
  std::vector<Parameter> queries = {};
  bool is_public = false;  // without a token, too: it tells nothing that is not in the program
};

/// Says who calls (Call::client), or refuses.
using Gate = std::function<std::optional<Reply>(Call& call, bool is_public)>;

struct Answered {
  RawResponse response;
  std::optional<std::string> once_ended;  // there is no response yet
};

class Router {
 public:
  Router(const std::vector<Route>& routes, const Gate& gate);
  ~Router();
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;
  Router(Router&&) = delete;
  Router& operator=(Router&&) = delete;

  /// The response to a whole request. Any thread may.
  [[nodiscard]] Answered answer(const RawRequest& request);

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

/// {"error": ..., "message": ...} and, where it names one, the request's field.
[[nodiscard]] Reply failure(int status, const std::string& error, const std::string& message,
                            const std::string& field = {});
/// What a StorageError is for clients: 503.
[[nodiscard]] Reply storage_failure();

}  // namespace poet::server
