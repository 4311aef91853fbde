// The event loop with clients that do not take what they have asked for.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "apps/server/http/event_loop.h"
#include "apps/server/http/listen.h"
#include "tests/support/background.h"

namespace poet::server {
namespace {

constexpr std::size_t kMuch = std::size_t{16} << 20;  // far more than the system keeps for a client

/// A loop on a port of its own that answers every request with `kMuch` bytes; for the first ones there is no
/// memory.
struct LargeAnswers {
  explicit LargeAnswers(const LoopLimits& limits, int without_memory = 0) {
    loop = std::make_unique<EventLoop>(listen_at(address), limits, [=, this](RawRequest&& request) {
      if (++asked <= without_memory) throw std::bad_alloc();
      loop->respond(request.connection, {std::string(kMuch, 'x'), true, {}});
      return true;
    });
    thread = std::thread([this] { loop->run(); });
  }
  ~LargeAnswers() {
    loop->stop();
    thread.join();
  }
  LargeAnswers(const LargeAnswers&) = delete;
  LargeAnswers& operator=(const LargeAnswers&) = delete;
  LargeAnswers(LargeAnswers&&) = delete;
  LargeAnswers& operator=(LargeAnswers&&) = delete;

  Address address{"127.0.0.1", 0};
  std::atomic<int> asked = 0;
  std::unique_ptr<EventLoop> loop;
  std::thread thread;
};

/// Has asked; nothing is read of the answer until taken().
struct Client {
  explicit Client(const LargeAnswers& server) : socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int small = 4096;
    (void)setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(server.address.port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(socket, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
    const std::string request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const int before = server.asked;
    EXPECT_EQ(send(socket, request.data(), request.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(request.size()));
    EXPECT_TRUE(test::wait_until([&] { return server.asked != before; }, 10));
  }
  ~Client() { ::close(socket); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  Client(Client&&) = delete;
  Client& operator=(Client&&) = delete;

  [[nodiscard]] std::size_t taken() const {
    std::array<char, 65536> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by recv()
    std::size_t all = 0;
    for (ssize_t count = 0; (count = recv(socket, bytes.data(), bytes.size(), 0)) > 0;)
      all += static_cast<std::size_t>(count);
    return all;
  }

  int socket;
};

TEST(ServerEventLoop, OfClientsThatTakeNothingClosesTheSlowest) {
  LoopLimits limits;
  limits.unsent_bytes = 2 * kMuch;  // less than three answers, whatever the system keeps of each
  const LargeAnswers server(limits);
  const Client first(server), second(server), third(server), fourth(server);
  EXPECT_LT(first.taken(), kMuch);
  EXPECT_LT(second.taken(), kMuch);
  EXPECT_EQ(third.taken(), kMuch);
  EXPECT_EQ(fourth.taken(), kMuch);
}

TEST(ServerEventLoop, ClosesNobodyWhoIsWithinTheLimits) {
  const LargeAnswers server({});
  const Client first(server), second(server), third(server);
  EXPECT_EQ(third.taken(), kMuch);
  EXPECT_EQ(second.taken(), kMuch);
  EXPECT_EQ(first.taken(), kMuch);
}

TEST(ServerEventLoop, WhereMemoryRunsOutItClosesThatConnectionAndGoesOn) {
  const LargeAnswers server({}, 1);
  const Client first(server), second(server);
  EXPECT_EQ(first.taken(), 0U);
  EXPECT_EQ(second.taken(), kMuch);
}

}  // namespace
}  // namespace poet::server
