// The event loop with clients that do not read their responses, reset their connections or send much.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "apps/server/http/event_loop.h"
#include "apps/server/http/listen.h"
#include "tests/support/background.h"
#include "tests/support/server_sockets.h"

namespace poet::server {
namespace {

using test::Keeper;
using test::kOk;
using test::Sender;

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
    EXPECT_TRUE(test::wait_until([&] { return server.asked != before; }));
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

constexpr std::size_t kBody = std::size_t{1} << 20;

std::string request_with_body() {
  return "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(kBody) + "\r\n\r\n" +
         std::string(kBody, 'x');
}

/// Room for one request with a body and not for two.
LoopLimits room_for_one_body() {
  LoopLimits limits;
  limits.all_bytes = kBody + kBody / 2;
  return limits;
}

TEST(ServerEventLoop, CountsARequestThatIsWorkedOnAfterItsConnectionWasReset) {
  Keeper server(room_for_one_body());
  Sender first(server.address);
  EXPECT_TRUE(first.send(request_with_body()));
  {
    const RawRequest request = server.next();
    first.reset();
    for (int i = 0; i < 3; ++i) {
      const Sender later(server.address);
      (void)later.send(request_with_body());
      EXPECT_EQ(later.status(), "HTTP/1.1 503 Refused");
    }
    EXPECT_EQ(server.count(), 0U);
  }
  const Sender last(server.address);
  EXPECT_TRUE(last.send(request_with_body()));
  server.loop->respond(server.next().connection, {kOk, true, {}});
  EXPECT_EQ(last.status(), "HTTP/1.1 200 OK");
}

TEST(ServerEventLoop, DispatchesAKeptRequestAgainWhenItsTopicEnds) {
  Keeper server({});
  const Sender client(server.address);
  EXPECT_TRUE(client.send(request_with_body()));
  server.loop->hold(server.next(), "job");
  server.loop->publish("job", "it goes on", false);
  server.loop->publish("other", "it has ended", true);
  server.loop->publish("job", "it has ended", true);
  const RawRequest again = server.next();
  EXPECT_EQ(again.bytes, request_with_body());
  server.loop->publish("job", "it has ended", true);  // nothing is kept any more
  server.loop->respond(again.connection, {kOk, true, {}});
  EXPECT_EQ(client.status(), "HTTP/1.1 200 OK");
  EXPECT_EQ(server.count(), 0U);
}

TEST(ServerEventLoop, DropsAKeptRequestWhenItsConnectionIsReset) {
  Keeper server({});
  Sender client(server.address);
  EXPECT_TRUE(client.send(request_with_body()));
  RawRequest request = server.next();
  const std::weak_ptr<void> counted = request.counted;
  server.loop->hold(std::move(request), "job");
  client.reset();
  // Then the loop has noticed the reset, whichever came first.
  EXPECT_TRUE(test::wait_until([&] { return counted.expired(); }));
  server.loop->publish("job", "it has ended", true);
  const Sender other(server.address);
  EXPECT_TRUE(other.send(request_with_body()));
  server.loop->respond(server.next().connection, {kOk, true, {}});
  EXPECT_EQ(other.status(), "HTTP/1.1 200 OK");
}

TEST(ServerEventLoop, DropsAKeptRequestWhenItsConnectionIsClosed) {
  Keeper server({});
  Sender client(server.address);
  EXPECT_TRUE(client.send(request_with_body()));
  RawRequest request = server.next();
  const std::weak_ptr<void> counted = request.counted;
  server.loop->hold(std::move(request), "job");
  client.close();
  EXPECT_TRUE(test::wait_until([&] { return counted.expired(); }));
}

TEST(ServerEventLoop, AnswersAClientThatHasClosedItsSendingSide) {
  for (const std::string version : {"1.0", "1.1"}) {
    SCOPED_TRACE(version);
    Keeper server({});
    const Sender client(server.address);
    EXPECT_TRUE(client.send("GET / HTTP/" + version + "\r\nHost: localhost\r\n\r\n"));
    server.loop->hold(server.next(), "job");
    client.close_sending_side();
    if (version == "1.1") {  // which any client may discard
      EXPECT_EQ(client.status(), "HTTP/1.1 100 Continue");
      EXPECT_EQ(client.status(), "\n");
    }
    server.loop->publish("job", "it has ended", true);
    const RawRequest again = server.next();
    server.loop->respond(again.connection, {kOk, true, {}});
    EXPECT_EQ(client.status(), (version == "1.1" ? "\n" : "") + std::string("HTTP/1.1 200 OK"));
  }
}

TEST(ServerEventLoop, ProbesAHalfClosedConnectionUntilItIsClosed) {
  LoopLimits limits;
  limits.stream_idle_seconds = 0.1;
  Keeper server(limits);
  Sender client(server.address);
  EXPECT_TRUE(client.send(request_with_body()));
  RawRequest request = server.next();
  const std::weak_ptr<void> counted = request.counted;
  server.loop->hold(std::move(request), "job");
  client.close_sending_side();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(client.status(), (i > 0 ? "\n" : "") + std::string("HTTP/1.1 100 Continue"));
    EXPECT_EQ(client.status(), "\n");
  }
  client.close();
  EXPECT_TRUE(test::wait_until([&] { return counted.expired(); }));
}

TEST(ServerEventLoop, ServesOthersBetweenTheBytesOfOneClient) {
  Address address{"127.0.0.1", 0};
  const int listening = listen_at(address);
  const int much = 1 << 20;  // as much of it as the system gives
  (void)setsockopt(listening, SOL_SOCKET, SO_RCVBUF, &much, sizeof much);
  std::mutex mutex;
  std::vector<std::size_t> sizes;  // of requests, in the order in which they were dispatched
  std::unique_ptr<EventLoop> loop;
  std::atomic<bool> blocks = true;
  loop = std::make_unique<EventLoop>(listening, LoopLimits{}, [&](RawRequest&& request) {
    {
      const std::scoped_lock lock(mutex);
      sizes.push_back(request.bytes.size());
    }
    EXPECT_TRUE(test::wait_until([&] { return !blocks; }));
    loop->respond(request.connection, {kOk, true, {}});
    return true;
  });
  std::thread thread([&] { loop->run(); });
  const std::string small = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const std::string large =
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 150000\r\n\r\n" + std::string(150000, 'x');
  const Sender blocker(address), first(address), second(address);
  EXPECT_TRUE(blocker.send(small));
  EXPECT_TRUE(test::wait_until([&] {
    const std::scoped_lock lock(mutex);
    return sizes.size() == 1;
  }));
  for (const auto& [sender, bytes] : {std::pair(&first, large), std::pair(&second, small)}) {
    EXPECT_TRUE(sender->send(bytes));
    int unread = 1;  // by the system of the server
    EXPECT_TRUE(test::wait_until(
        [&, of = sender] { return ioctl(of->socket, SIOCOUTQ, &unread) == 0 && unread == 0; }));
  }
  blocks = false;
  for (const Sender* sender : {&blocker, &first, &second}) EXPECT_EQ(sender->status(), "HTTP/1.1 200 OK");
  loop->stop();
  thread.join();
  EXPECT_EQ(sizes, (std::vector<std::size_t>{small.size(), small.size(), large.size()}));
}

}  // namespace
}  // namespace poet::server
