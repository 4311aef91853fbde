#pragma once

// What tests of the event loop share: a loop whose requests the test answers, and connections to it.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "apps/server/http/event_loop.h"
#include "apps/server/http/listen.h"
#include "tests/support/background.h"

namespace poet::test {

inline constexpr const char* kOk = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// A loop on a port of its own that gives its requests to the test.
struct Keeper {
  explicit Keeper(const server::LoopLimits& limits, const server::EventLoop::Admits& admits = {}) {
    const auto keep = [this](server::RawRequest&& request) {
      const std::scoped_lock lock(mutex);
      kept.push_back(std::move(request));
      return true;
    };
    loop = std::make_unique<server::EventLoop>(server::listen_at(address), limits, keep, admits);
    thread = std::thread([this] { loop->run(); });
  }
  ~Keeper() {
    loop->stop();
    thread.join();
  }
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  Keeper(Keeper&&) = delete;
  Keeper& operator=(Keeper&&) = delete;

  [[nodiscard]] std::size_t count() {
    const std::scoped_lock lock(mutex);
    return kept.size();
  }
  /// The next request, once it has arrived.
  server::RawRequest next() {
    EXPECT_TRUE(wait_until([&] { return count() == 1; }));
    const std::scoped_lock lock(mutex);
    if (kept.empty()) return {};
    server::RawRequest first = std::move(kept.front());
    kept.clear();
    return first;
  }

  server::Address address{"127.0.0.1", 0};
  std::mutex mutex;
  std::vector<server::RawRequest> kept;
  std::unique_ptr<server::EventLoop> loop;
  std::thread thread;
};

/// A connection that sends what it is told.
struct Sender {
  explicit Sender(const server::Address& address) : socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(address.port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{120, 0};
    (void)setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    EXPECT_EQ(connect(socket, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  }
  ~Sender() { close(); }
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;
  Sender(Sender&&) = delete;
  Sender& operator=(Sender&&) = delete;

  /// False: the connection is closed.
  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }
  /// The first line of the response; empty: the connection was closed without one.
  [[nodiscard]] std::string status() const {
    std::string line;
    for (char c = 0; recv(socket, &c, 1, 0) == 1 && c != '\r';) line += c;
    return line;
  }
  /// Whether status() would not wait.
  [[nodiscard]] bool has_answer() const {
    pollfd one{socket, POLLIN, 0};
    return poll(&one, 1, 0) == 1;
  }
  void reset() {
    const linger now{1, 0};
    (void)setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close();
  }
  void close_sending_side() const { EXPECT_EQ(shutdown(socket, SHUT_WR), 0); }
  void close() {
    if (socket >= 0) ::close(std::exchange(socket, -1));
  }

  int socket;
};

}  // namespace poet::test
