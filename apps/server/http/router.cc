#include "apps/server/http/router.h"

#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>

#include "apps/server/jobs/storage_error.h"
#include "poet/base/error.h"
#include "poet/cost/json_reader.h"

namespace poet::server {
namespace {

/// A request that is there and a response that is kept.
class Exchange final : public httplib::Stream {
 public:
  Exchange(const std::string& request, std::string address)
      : request_(request), address_(std::move(address)) {}

  [[nodiscard]] bool is_readable() const override { return at_ < request_.size(); }
  [[nodiscard]] bool is_writable() const override { return true; }
  ssize_t read(char* bytes, size_t size) override {
    const std::size_t count = std::min(size, request_.size() - at_);
    std::memcpy(bytes, request_.data() + at_, count);
    at_ += count;
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* bytes, size_t size) override {
    response_.append(bytes, size);
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    ip = address_;
    port = 0;
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    ip.clear();
    port = 0;
  }
  [[nodiscard]] socket_t socket() const override { return -1; }

  [[nodiscard]] std::string& response() { return response_; }

 private:
  const std::string& request_;
  std::string address_;
  std::size_t at_ = 0;
  std::string response_;
};

/// "/jobs/{id}/events" as a regular expression.
std::string expression(const std::string& pattern) {
  std::string out;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '{') {
      i = pattern.find('}', i);
      out += "([A-Za-z0-9_.-]+)";
    } else {
      out += pattern[i] == '.' ? "\\." : std::string(1, pattern[i]);
    }
  }
  return out;
}

// Of the request that this thread answers.
thread_local std::optional<std::string> stream_topic, job_awaited;

void write_reply(Reply&& reply, httplib::Response& response) {
  response.status = reply.status;
  job_awaited = std::move(reply.once_ended);
  for (const auto& [name, text] : reply.fields) response.set_header(name, text);
  if (reply.topic) {
    // Without a length: until the connection ends.
    stream_topic = std::move(reply.topic);
    const std::string first = std::move(reply.body);
    response.set_content_provider(reply.type, [first](std::size_t, httplib::DataSink& sink) {
      if (!first.empty()) sink.write(first.data(), first.size());
      sink.done();
      return true;
    });
  } else {
    response.set_content(reply.body, reply.type);
  }
}

/// What nobody but the page's own scripts needs.
void harden(httplib::Response& response) {
  constexpr std::array<std::pair<const char*, const char*>, 7> kFields = {{
      {"X-Content-Type-Options", "nosniff"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      // The page obeys its address, which another site that has opened it could change any number of times.
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Referrer-Policy", "no-referrer"},
      {"X-Frame-Options", "DENY"},
      {"Cache-Control", "no-store"},
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src "
       "'self'; "
       "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"},
  }};
  for (const auto& [name, text] : kFields)
    if (!response.has_header(name)) response.set_header(name, text);
}

/// httplib compresses by Brotli for whoever takes that, at the highest quality: 2 s for the page's largest
/// script, on every visit. By gzip it takes 0.05 s.
void take_gzip_at_most(httplib::Request& request) {
  const bool takes_gzip = request.get_header_value("Accept-Encoding").find("gzip") != std::string::npos;
  request.headers.erase("Accept-Encoding");
  if (takes_gzip) request.set_header("Accept-Encoding", "gzip");
}

/// Instead of how long the connection would stay open.
void say_close(std::string& response) {
  const std::size_t at = response.find("\r\nKeep-Alive: ");
  if (at == std::string::npos || at > response.find("\r\n\r\n")) return;
  response.replace(at, response.find("\r\n", at + 2) - at, "\r\nConnection: close");
}

}  // namespace

std::optional<std::string> Call::query(const char* name) const {
  if (!request.has_param(name)) return std::nullopt;
  return request.get_param_value(name);
}

std::string Call::field(const char* name) const { return request.get_header_value(name); }

std::vector<std::string> Call::query_names() const {
  std::vector<std::string> names;
  for (const auto& [name, text] : request.params) names.push_back(name);
  return names;
}

const std::string& Call::body() const { return request.body; }

bool Call::is_http_1_0() const { return request.version == "HTTP/1.0"; }

Reply failure(int status, const std::string& error, const std::string& message, const std::string& field) {
  nlohmann::ordered_json json = {{"error", error}, {"message", message}};
  if (!field.empty()) json["field"] = field;
  return {status, "application/json", json_text(json), {}, {}, {}};
}

Reply storage_failure() {
  Reply reply = failure(503, "storage", "the server cannot write its files now; try again later");
  reply.fields.emplace_back("Retry-After", "60");
  return reply;
}

class Router::Server final : public httplib::Server {
 public:
  Answered answer(const RawRequest& request) {
    Exchange exchange(request.bytes, request.address);
    stream_topic.reset();
    job_awaited.reset();
    bool closed = false;
    const bool well = process_request(exchange, false, closed, take_gzip_at_most);
    // What HTTP/1.0 has of connections that stay open was never written down.
    const bool is_old =
        std::string_view(request.bytes).substr(0, request.bytes.find("\r\n")).ends_with(" HTTP/1.0");
    RawResponse response{std::move(exchange.response()), closed || !well || is_old,
                         std::exchange(stream_topic, std::nullopt)};
    if (response.close) say_close(response.bytes);
    if (response.topic) response.close = false;
    if (response.bytes.empty()) response.close = true;
    return {std::move(response), std::exchange(job_awaited, std::nullopt)};
  }
};

Router::Router(const std::vector<Route>& routes, const Gate& gate) : server_(std::make_unique<Server>()) {
  // What the response says; event_loop.h does it.
  server_->set_keep_alive_timeout(60);
  server_->set_keep_alive_max_count(1'000'000);
  server_->set_error_handler([](const httplib::Request& request, httplib::Response& response) {
    if (response.body.empty()) {
      const std::string error = response.status == 404 ? "not_found" : "refused";
      const std::string what = response.status == 404
                                   ? fmt::format("there is no {} {}", request.method, request.path)
                                   : "malformed request";
      write_reply(failure(response.status, error, what), response);
    }
    harden(response);
  });
  server_->set_exception_handler(
      [](const httplib::Request&, httplib::Response& response, const std::exception_ptr& error) {
        try {
          std::rethrow_exception(error);
        } catch (const StorageError&) {
          write_reply(storage_failure(), response);
        } catch (const InputError&) {  // of a file of the server's, which no client is told of
          write_reply(failure(500, "internal", "the server cannot do that now; try again later"), response);
        } catch (const std::exception& each) {
          write_reply(failure(500, "internal", each.what()), response);
        } catch (...) {
          write_reply(failure(500, "internal", "an unknown error"), response);
        }
        harden(response);
      });
  for (const Route& route : routes) {
    const httplib::Server::Handler handler = [route, gate](const httplib::Request& request,
                                                           httplib::Response& response) {
      Call call{request, request.remote_addr, {}, {}};
      for (std::size_t i = 1; i < request.matches.size(); ++i) call.path.push_back(request.matches[i]);
      std::optional<Reply> refusal = gate(call, route);
      write_reply(refusal ? *std::move(refusal) : route.handler(call), response);
      if (request.method == "HEAD") stream_topic.reset();  // its client reads no body
      harden(response);
    };
    const std::string method = route.method;
    const std::string pattern = expression(route.pattern);
    if (method == "GET")
      server_->Get(pattern, handler);
    else if (method == "POST")
      server_->Post(pattern, handler);
    else if (method == "DELETE")
      server_->Delete(pattern, handler);
    else
      throw InternalError("a route has a method that is known");
  }
}

Router::~Router() = default;

Answered Router::answer(const RawRequest& request) { return server_->answer(request); }

}  // namespace poet::server
