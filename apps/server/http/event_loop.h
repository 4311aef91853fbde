#pragma once

// The event loop: serves all connections on one thread. It reads requests until they are complete and writes
// responses as fast as each client reads them, so that a slow client costs a buffer and delays nobody.
// `dispatch` hands complete requests on. Connections that stay open as streams (server-sent events) receive
// what is published on their topic.

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
  std::string address = {};            // of the client
  std::shared_ptr<void> counted = {};  // its bytes count in LoopLimits::all_bytes until this is destroyed
};

struct RawResponse {
  std::string bytes;
  bool close = false;
  std::optional<std::string> topic;  // the connection becomes a stream of this topic
};

/// Whether a client may send a body larger than a head may be, and who it is.
struct Admission {
  int refused = 0;  // or a status: 401, 403
  std::string error, message;
  std::string client = {};  // a token's name, or the address
};

struct LoopLimits {
  std::size_t connections = 4096;
  std::size_t connections_of_address = 2048;
  std::size_t head_bytes = std::size_t{16} << 10;
  std::size_t body_bytes = std::size_t{64} << 20;
  std::size_t all_bytes =
      std::size_t{512} << 20;  // of requests being received or handled; small ones are accepted beyond that
  std::size_t client_bytes = std::size_t{256} << 20;  // of larger bodies that one client is sending
  std::size_t stream_bytes = std::size_t{1} << 20;    // unsent, of a stream
  std::size_t unsent_bytes = std::size_t{256} << 20;  // unsent, of all responses
  double head_seconds = 10;                           // for a request's head, from its first byte
  double window_seconds = 10;       // in each of which a body goes on by least_rate times as much
  double least_rate = 16 << 10;     // bytes per second of bodies, and of responses after head_seconds
  double idle_seconds = 60;         // between requests
  double stream_idle_seconds = 15;  // between keep-alive comments on streams
};

class EventLoop {
 public:
  using Admits = std::function<Admission(std::string_view head, const std::string& address)>;

  /// Takes ownership of a listening socket. `dispatch` is called in the loop's thread and must not block; it
  /// returns false if the request cannot be accepted now (503). `admits`: of a request with this head, whose
  /// body is larger than a head may be; if empty, all may send one, each address as one client.
  EventLoop(int listening, LoopLimits limits, std::function<bool(RawRequest&&)> dispatch, Admits admits = {});
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  EventLoop(EventLoop&&) = delete;
  EventLoop& operator=(EventLoop&&) = delete;

  /// Serves until stop(); then allows a few seconds for pending responses.
  void run();

  // ---- from any thread

  void respond(std::uint64_t connection, RawResponse response);
  /// Keeps a request until the topic's last publish(), then dispatches it again. The request is dropped when
  /// its client closes the connection, also in the regular way; a client that closes only its sending side
  /// still gets its response.
  void hold(RawRequest request, std::string topic);
  /// Sends bytes to all streams of a topic, or to one connection of it; `last`: closes them.
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
    std::optional<RawRequest> request = std::nullopt;  // of hold()
  };

  void post(Message message);
  void wake() const;
  void accept_all();
  void take_on(int socket, const std::string& address);
  /// Pauses accepting until `time`.
  void listen_again_at(double time);
  void readable(Connection& connection);
  void take_request(Connection& connection);
  /// Checks a complete head; false if the request is refused.
  bool take_head(Connection& connection);
  /// Counts bytes that were received, or are held no more.
  void buffer(Connection& connection, std::ptrdiff_t more);
  void drop_input(Connection& connection);
  /// Where there is no room for what a connection sends, ends the slowest upload: of the same client if it is
  /// beyond its share, otherwise of the client that sends the most. Refuses this one, and returns false, if
  /// that leaves none to end.
  bool make_room(Connection& connection);
  [[nodiscard]] Connection* slowest_upload(const std::string& client) const;
  /// Ends the connection that has been without a request for the longest, of an address, or of the one that
  /// has the most; if there is none, one that is a stream, or whose request is kept. Returns whether it has.
  bool close_idle(const std::string& address);
  /// The lease of a request's bytes: counts them in `handed_on_` until it is destroyed, by any thread.
  [[nodiscard]] std::shared_ptr<void> count(std::size_t bytes) const;
  void keep(Connection& connection, Message& message);
  void dispatch_kept(Connection& connection);
  /// Finds out whether a client that has closed its sending side while its request is kept still reads: if
  /// not, the connection is reset, which the loop notices as an error.
  void probe(Connection& connection);
  void leave_topic(Connection& connection);
  /// Appends to the connection's output, which send_now() sends.
  void say(Connection& connection, std::string_view bytes);
  void send_now(Connection& connection);
  /// Closes the connections that have read nothing for the longest, of the address that has most unsent,
  /// until unsent_ is within its limit.
  void close_slowest();
  void answered(Connection& connection);
  void refuse(Connection& connection, int status, const std::string& text);
  void close_later(Connection& connection);
  void look_for_overdue(double now);
  void is_overdue(Connection& connection, double now);
  /// Runs `work` for a connection; closes only that connection if it throws, as when memory runs out.
  void or_close(Connection& connection, const std::function<void()>& work);
  void close_closed();
  void take_messages();
  void take(Message& message);
  void take_response(Connection& connection, RawResponse& response);
  void publish_to(Connection& connection, const Message& message);
  void watch(Connection& connection, bool writing);

  LoopLimits limits_;
  std::function<bool(RawRequest&&)> dispatch_;
  Admits admits_;
  int listening_ = -1, poller_ = -1, wake_ = -1;
  bool accepting_ = true;
  double listen_again_ = std::numeric_limits<double>::infinity();
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, std::unique_ptr<Connection>> connections_;
  std::map<std::string, std::size_t> of_address_;
  std::multimap<std::string, std::uint64_t> streams_;  // and connections with a kept request, by topic
  std::vector<std::uint64_t> closing_;
  std::size_t buffered_ = 0;                      // of requests that are being received
  std::map<std::string, std::size_t> of_client_;  // the part of it that are larger bodies, by client
  std::shared_ptr<std::atomic<std::size_t>>
      handed_on_ =  // of those that are dispatched or kept; outlives the loop
      std::make_shared<std::atomic<std::size_t>>(0);
  std::size_t unsent_ = 0;  // of responses

  std::mutex mutex_;  // guards messages_
  std::vector<Message> messages_;
  std::atomic<bool> stopping_ = false;
};

}  // namespace poet::server
