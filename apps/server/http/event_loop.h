#pragma once

// Connections of clients, all on one thread: it reads requests until they are whole and writes responses as
// fast as each client takes them, so that a slow client costs its buffer and nobody's time. What a request
// means is for whoever `dispatch` tells.
//
// A connection that stays open as a stream (server-sent events) gets what is published on its topic.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace poet::server {

/// A whole request: head and body.
struct RawRequest {
  std::uint64_t connection = 0;
  std::string bytes;
  std::string address;  // of the client
};

struct RawResponse {
  std::string bytes;
  bool close = false;
  std::optional<std::string> topic;  // the connection is a stream of this topic from here on
};

struct LoopLimits {
  std::size_t connections = 4096;
  std::size_t connections_of_address = 2048;
  std::size_t head_bytes = std::size_t{16} << 10;
  std::size_t body_bytes = std::size_t{64} << 20;
  std::size_t all_bytes = std::size_t{512} << 20;   // of requests that are read or worked on; small ones are
                                                    // taken beyond that
  std::size_t stream_bytes = std::size_t{1} << 20;  // that a stream's client has not taken of earlier events
  std::size_t unsent_bytes = std::size_t{256} << 20;  // of responses that clients have not taken
  double head_seconds = 10;                           // for a request's head, from its first byte
  double least_rate = 16 << 10;  // bytes per second of bodies and responses, besides head_seconds
  double idle_seconds = 60;      // between requests
  double stream_idle_seconds =
      15;  // after which a stream gets a comment, so that both sides notice the other's end
};

class EventLoop {
 public:
  /// Takes over a listening socket. `dispatch` is called in the loop's thread and must not block; it returns
  /// false where the request cannot be taken on now (503). `admits`: whether the client whose request has
  /// this head may send a body larger than heads may be; all may without.
  EventLoop(int listening, LoopLimits limits, std::function<bool(RawRequest&&)> dispatch,
            std::function<bool(std::string_view head)> admits = {});
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  EventLoop(EventLoop&&) = delete;
  EventLoop& operator=(EventLoop&&) = delete;

  /// Until stop(); then what is written already has `seconds` to arrive.
  void run();

  // ---- from any thread

  void respond(std::uint64_t connection, RawResponse response);
  /// To all streams of a topic, or to the one of a connection; `last`: they end then.
  void publish(const std::string& topic, std::string bytes, bool last,
               std::optional<std::uint64_t> connection = std::nullopt);
  void stop();

 private:
  struct Connection;
  struct Message {
    std::optional<std::uint64_t> connection;  // of publish(): the only one
    RawResponse response;
    std::string topic;  // of publish()
    bool last = false;
  };

  void post(Message message);
  void wake() const;
  void accept_all();
  void take_on(int socket, const std::string& address);
  /// Until then nobody is looked for who waits to be accepted.
  void listen_again_at(double time);
  void readable(Connection& connection);
  void take_request(Connection& connection);
  /// To be sent by send_now().
  void say(Connection& connection, std::string_view bytes);
  void send_now(Connection& connection);
  /// Those that have taken nothing for the longest, while all together have too much to take.
  void close_slowest();
  void answered(Connection& connection);
  void refuse(Connection& connection, int status, const char* text);
  void close_later(Connection& connection);
  void look_for_overdue(double now);
  void is_overdue(Connection& connection, double now);
  /// Where `work` for a connection fails, as memory has run out, the connection is closed and the others go
  /// on.
  void or_close(Connection& connection, const std::function<void()>& work);
  void close_closed();
  void take_messages();
  void take(Message& message);
  void take_response(Connection& connection, RawResponse& response);
  void publish_to(Connection& connection, const Message& message);
  void watch(Connection& connection, bool writing);

  LoopLimits limits_;
  std::function<bool(RawRequest&&)> dispatch_;
  std::function<bool(std::string_view head)> admits_;
  int listening_ = -1, poller_ = -1, wake_ = -1;
  bool accepting_ = true;
  double listen_again_ = std::numeric_limits<double>::infinity();
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, std::unique_ptr<Connection>> connections_;
  std::map<std::string, std::size_t> of_address_;
  std::multimap<std::string, std::uint64_t> streams_;  // by topic
  std::vector<std::uint64_t> closing_;
  std::size_t buffered_ = 0;  // of requests
  std::size_t unsent_ = 0;    // of responses

  std::mutex mutex_;  // of what other threads touch
  std::vector<Message> messages_;
  std::atomic<bool> stopping_ = false;
};

}  // namespace poet::server
