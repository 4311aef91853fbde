#pragma once

// The state of a connection. For event_loop*.cc only.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "apps/server/http/arrival.h"
#include "apps/server/http/event_loop.h"
#include "apps/server/http/request_head.h"

namespace poet::server {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

inline constexpr const char* kTooBusy = "the server is busy; try again in a moment";

inline constexpr const char* kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

/// Returns seconds of a monotonic clock.
inline double clock_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct EventLoop::Connection {
  enum class Phase {
    reading,    // receiving a request, or idle
    answering,  // the request is dispatched or kept
    writing,    // sending the response
    streaming,
    draining,  // the last response is sent; further input is dropped so that the client can read it
  };
  std::uint64_t id = 0;
  int socket = -1;
  std::string address;
  Phase phase = Phase::reading;
  std::string in, out;
  std::size_t sent = 0;
  double took = 0;                 // when bytes were last sent, or the response began
  std::optional<RawRequest> kept;  // until `topic` ends
  std::optional<RequestHead> head;
  std::string client;  // that sends a larger body; empty: nobody does
  Arrival arrival;
  std::size_t arrived_before = 0;  // the size of `in` when the current window began
  bool is_http_1_0 = false;        // its last request
  bool half_closed = false;        // the client has sent all that it will, and waits for `kept`
  bool refused = false;
  bool close = false;  // close once everything is sent
  bool closed = false;
  std::optional<std::string> topic;
  double deadline = kNever;
  std::uint32_t watched = 0;

  [[nodiscard]] std::size_t unsent() const { return out.size() - sent; }
};

}  // namespace poet::server
