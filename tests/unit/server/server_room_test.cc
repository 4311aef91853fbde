// Clients that hold room and do nothing with it: they make way for others.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "apps/server/http/request_head.h"
#include "tests/support/background.h"
#include "tests/support/server_sockets.h"

namespace poet::server {
namespace {

constexpr std::size_t kUpload = std::size_t{1} << 20;
constexpr std::size_t kHeads = 4096;  // of all requests of a test together
constexpr const char* kDone = "HTTP/1.1 200 OK";
constexpr const char* kNoRoom = "HTTP/1.1 503 Refused";

/// One byte short of what it announces.
std::string unfinished(const std::string& client) {
  return "POST / HTTP/1.1\r\nHost: localhost\r\nX-Client: " + client +
         "\r\nContent-Length: " + std::to_string(kUpload) + "\r\n\r\n" + std::string(kUpload - 1, 'x');
}

Admission as_it_says(std::string_view head, const std::string&) {
  return {0, {}, {}, std::string(field_of(head, "X-Client"))};
}

/// Room for four uploads, two of them of one client.
LoopLimits room_for_four() {
  LoopLimits limits;
  limits.all_bytes = 4 * kUpload + kHeads;
  limits.client_bytes = 2 * kUpload + kHeads;
  return limits;
}

std::vector<std::unique_ptr<test::Sender>> stalled(const test::Keeper& server,
                                                   const std::vector<std::string>& clients) {
  std::vector<std::unique_ptr<test::Sender>> senders;
  for (const std::string& client : clients) {
    senders.push_back(std::make_unique<test::Sender>(server.address));
    EXPECT_TRUE(senders.back()->send(unfinished(client)));
  }
  return senders;
}

/// The status of an upload that is sent to its end. Whatever reaches the server meanwhile is answered.
std::string sent(test::Keeper& server, const std::string& client) {
  const test::Sender sender(server.address);
  (void)sender.send(unfinished(client) + "x");  // it may be refused before its end
  EXPECT_TRUE(test::wait_until([&] { return server.count() == 1 || sender.has_answer(); }));
  if (!sender.has_answer()) server.loop->respond(server.next().connection, {test::kOk, true, {}});
  return sender.status();
}

TEST(ServerRoom, OfClientsThatHoldMoreThanTheirPartIsAnothersToTake) {
  test::Keeper server(room_for_four(), as_it_says);
  const auto senders = stalled(server, {"a", "a", "b", "b"});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(sent(server, "c"), kDone) << i;
}

TEST(ServerRoom, OfAClientsStalledUploadsIsForItsOthersToTake) {
  test::Keeper server(room_for_four(), as_it_says);
  const auto senders = stalled(server, {"a", "a"});
  // Once it is known, in a second or two, that they have stalled.
  EXPECT_TRUE(test::wait_until([&] { return sent(server, "a") == kDone; }));
  EXPECT_TRUE(senders[0]->has_answer() || senders[1]->has_answer());
  EXPECT_EQ(senders[senders[0]->has_answer() ? 0 : 1]->status(), kNoRoom);
}

TEST(ServerRoom, ABodyThatDoesNotGoOnIsRefused) {
  LoopLimits limits;
  limits.head_seconds = 1e6;
  limits.window_seconds = 0.2;
  limits.least_rate = kUpload;
  const test::Keeper server(limits);
  const auto senders = stalled(server, {"a"});
  EXPECT_EQ(senders[0]->status(), "HTTP/1.1 408 Refused");
}

TEST(ServerRoom, OfStreamsIsForRequestsToTake) {
  LoopLimits limits;
  limits.connections = 2;
  test::Keeper server(limits);
  const std::string request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  std::vector<std::unique_ptr<test::Sender>> streams;
  for (int i = 0; i < 2; ++i) {
    streams.push_back(std::make_unique<test::Sender>(server.address));
    EXPECT_TRUE(streams.back()->send(request));
    server.loop->respond(server.next().connection, {"HTTP/1.1 200 OK\r\n\r\n", false, "job"});
    EXPECT_EQ(streams.back()->status(), kDone);
  }
  const test::Sender sender(server.address);
  EXPECT_TRUE(sender.send(request));
  server.loop->respond(server.next().connection, {test::kOk, true, {}});
  EXPECT_EQ(sender.status(), kDone);
}

TEST(ServerRoom, OfConnectionsThatAskNothingIsAnothersToTake) {
  LoopLimits limits;
  limits.connections = 4;
  test::Keeper server(limits);
  std::vector<std::unique_ptr<test::Sender>> silent;
  for (int i = 0; i < 4; ++i) silent.push_back(std::make_unique<test::Sender>(server.address));
  const test::Sender sender(server.address);
  EXPECT_TRUE(sender.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  server.loop->respond(server.next().connection, {test::kOk, true, {}});
  EXPECT_EQ(sender.status(), kDone);
  EXPECT_EQ(silent[0]->status(), "") << "the one that has been there for the longest is closed";
}

}  // namespace
}  // namespace poet::server
