#pragma once

// What an EventLoop knows of a client. For its own files only.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "apps/server/http/event_loop.h"
#include "apps/server/http/request_head.h"

namespace poet::server {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

/// Seconds, of a clock that only goes forward.
inline double clock_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct EventLoop::Connection {
  enum class Phase {
    reading,    // a request, or waiting for one
    answering,  // somebody has the request
    writing,    // the response
    streaming,
    draining,  // nothing more is said; what the client still sends is dropped, so that it reads the last
               // response
  };
  std::uint64_t id = 0;
  int socket = -1;
  std::string address;
  Phase phase = Phase::reading;
  std::string in, out;
  std::size_t sent = 0;
  double took = 0;       // when its client has last taken something, or a response began
  std::size_t held = 0;  // bytes of the request that somebody has
  std::optional<RequestHead> head;
  bool refused = false;
  bool close = false;  // once everything is sent
  bool closed = false;
  std::optional<std::string> topic;
  double deadline = kNever;
  std::uint32_t watched = 0;

  [[nodiscard]] std::size_t unsent() const { return out.size() - sent; }
};

}  // namespace poet::server
