#include "apps/server/http/event_loop.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <limits>
#include <utility>

#include "apps/server/http/request_head.h"
#include "poet/base/error.h"

namespace poet::server {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kListening = 0;
constexpr std::uint64_t kWake = std::numeric_limits<std::uint64_t>::max();
constexpr int kLookMilliseconds = 250;  // for what is overdue, in all connections
constexpr double kDrainSeconds = 2;
constexpr double kStopSeconds = 5;

double clock_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string address_of(const sockaddr_storage& peer) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* address = peer.ss_family == AF_INET6
                            ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr)
                            : static_cast<const void*>(&reinterpret_cast<const sockaddr_in&>(peer).sin_addr);
  return inet_ntop(peer.ss_family, address, text.data(), text.size()) != nullptr ? text.data() : "unknown";
}

}  // namespace

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
  std::size_t held = 0;  // bytes of the request that somebody has
  std::optional<RequestHead> head;
  bool refused = false;
  bool close = false;  // once everything is sent
  bool closed = false;
  std::optional<std::string> topic;
  double deadline = kNever;
  std::uint32_t watched = 0;
};

EventLoop::EventLoop(int listening, LoopLimits limits, std::function<bool(RawRequest&&)> dispatch,
                     std::function<bool(std::string_view head)> admits)
    : limits_(limits),
      dispatch_(std::move(dispatch)),
      admits_(std::move(admits)),
      listening_(listening),
      poller_(epoll_create1(EPOLL_CLOEXEC)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  ensure(poller_ >= 0 && wake_ >= 0, "the system gives a poller");
  (void)fcntl(listening_, F_SETFL, fcntl(listening_, F_GETFL) | O_NONBLOCK);
  for (const auto& [descriptor, id] : {std::pair(listening_, kListening), std::pair(wake_, kWake)}) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = id;
    ensure(epoll_ctl(poller_, EPOLL_CTL_ADD, descriptor, &event) == 0, "the poller takes descriptors");
  }
}

EventLoop::~EventLoop() {
  for (const auto& [id, connection] : connections_) ::close(connection->socket);
  for (const int descriptor : {listening_, poller_, wake_})
    if (descriptor >= 0) ::close(descriptor);
}

void EventLoop::run() {
  double stop_at = kNever;
  double next_look = 0;
  std::array<epoll_event, 256> events{};
  while (true) {
    const int count = epoll_wait(poller_, events.data(), static_cast<int>(events.size()), kLookMilliseconds);
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      if (event.data.u64 == kListening) {
        accept_all();
      } else if (event.data.u64 == kWake) {
        std::uint64_t times = 0;
        (void)!read(wake_, &times, sizeof times);
      } else if (const auto found = connections_.find(event.data.u64); found != connections_.end()) {
        Connection& connection = *found->second;
        if ((event.events & EPOLLERR) != 0)
          close_later(connection);
        else if ((event.events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP)) != 0)
          readable(connection);
        if (!connection.closed && (event.events & EPOLLOUT) != 0) send_now(connection);
      }
    }
    take_messages();
    if (const double now = clock_now(); now >= next_look) {
      next_look = now + kLookMilliseconds / 1e3;
      look_for_overdue(now);
    }
    close_closed();
    if (stopping_ && stop_at == kNever) stop_at = clock_now() + kStopSeconds;
    if (stop_at == kNever) continue;
    if (accepting_) {
      (void)epoll_ctl(poller_, EPOLL_CTL_DEL, listening_, nullptr);
      ::close(listening_);
      listening_ = -1;
      accepting_ = false;
    }
    bool busy = false;
    for (const auto& [id, connection] : connections_) {
      connection->close = true;
      busy = busy || connection->sent < connection->out.size() ||
             connection->phase == Connection::Phase::answering;
    }
    if (!busy || clock_now() > stop_at) return;
  }
}

void EventLoop::accept_all() {
  while (accepting_) {
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    const int socket =
        accept4(listening_, reinterpret_cast<sockaddr*>(&peer), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (socket < 0) {  // none waits, or no descriptor is left: then who waits goes on waiting
      if (errno != EAGAIN && errno != EWOULDBLOCK) listen_again_at(clock_now() + 1e-3 * kLookMilliseconds);
      return;
    }
    const std::string address = address_of(peer);
    if (connections_.size() >= limits_.connections ||
        of_address_[address] >= limits_.connections_of_address) {
      constexpr std::string_view kBusy =
          "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: "
          "close\r\n\r\n";
      (void)!::send(socket, kBusy.data(), kBusy.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      ::close(socket);
      continue;
    }
    const int on = 1;
    (void)setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    auto connection = std::make_unique<Connection>();
    connection->id = next_++;
    connection->socket = socket;
    connection->address = address;
    connection->deadline = clock_now() + limits_.head_seconds;
    ++of_address_[address];
    epoll_event event{};
    event.events = connection->watched = EPOLLIN | EPOLLRDHUP;
    event.data.u64 = connection->id;
    if (epoll_ctl(poller_, EPOLL_CTL_ADD, socket, &event) != 0) connection->closed = true;
    if (connection->closed) closing_.push_back(connection->id);
    connections_.emplace(connection->id, std::move(connection));
  }
}

void EventLoop::listen_again_at(double time) {
  epoll_event event{};
  event.events = time < kNever ? 0 : static_cast<std::uint32_t>(EPOLLIN);
  event.data.u64 = kListening;
  (void)epoll_ctl(poller_, EPOLL_CTL_MOD, listening_, &event);
  listen_again_ = time;
}

void EventLoop::watch(Connection& connection, bool writing) {
  std::uint32_t events = writing ? static_cast<std::uint32_t>(EPOLLOUT) : 0;
  // While somebody works on the request, the client's next one waits in its own buffers.
  if (connection.phase != Connection::Phase::answering && connection.phase != Connection::Phase::writing)
    events |= EPOLLIN | EPOLLRDHUP;
  if (events == connection.watched || connection.closed) return;
  epoll_event event{};
  event.events = connection.watched = events;
  event.data.u64 = connection.id;
  (void)epoll_ctl(poller_, EPOLL_CTL_MOD, connection.socket, &event);
}

void EventLoop::readable(Connection& connection) {
  std::array<char, 65536> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by recv()
  bool ended = false;
  while (true) {
    const ssize_t count = recv(connection.socket, bytes.data(), bytes.size(), 0);
    if (count > 0) {
      if (connection.phase != Connection::Phase::reading) continue;  // dropped
      if (connection.in.empty()) connection.deadline = clock_now() + limits_.head_seconds;
      connection.in.append(bytes.data(), static_cast<std::size_t>(count));
      buffered_ += static_cast<std::size_t>(count);
      if (connection.in.size() > limits_.head_bytes + limits_.body_bytes) break;
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    ended = count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
    break;
  }
  if (connection.phase == Connection::Phase::reading && !connection.in.empty()) take_request(connection);
  // A client that has said all may still want the answer; one that was waiting for nothing is gone.
  if (ended &&
      (connection.phase == Connection::Phase::reading || connection.phase == Connection::Phase::streaming ||
       connection.phase == Connection::Phase::draining))
    close_later(connection);
}

void EventLoop::take_request(Connection& connection) {
  if (buffered_ > limits_.all_bytes && connection.in.size() > limits_.head_bytes)
    return refuse(connection, 503, "too much is being uploaded; try again later");
  if (!connection.head) {
    connection.head = request_head(connection.in);
    if (!connection.head) {
      if (connection.in.size() > limits_.head_bytes)
        refuse(connection, 431, "the request's head is too large");
      return;
    }
    const RequestHead& head = *connection.head;
    if (head.size > limits_.head_bytes) return refuse(connection, 431, "the request's head is too large");
    if (head.refused == 411)
      return refuse(connection, 411, "the body's length must be given: Content-Length");
    if (head.refused == 505) return refuse(connection, 505, "this is HTTP/1.1");
    if (head.refused != 0) return refuse(connection, 400, "this is no HTTP request");
    if (head.body > limits_.body_bytes) return refuse(connection, 413, "the body is too large");
    if (head.body > limits_.head_bytes && admits_ &&
        !admits_(std::string_view(connection.in).substr(0, head.size)))
      return refuse(connection, 401, "give a token: Authorization: Bearer TOKEN");
    connection.deadline += static_cast<double>(head.body) / limits_.least_rate;
    if (head.awaits_continue) {
      const std::size_t before = connection.in.size();
      connection.in = without_expect(connection.in, head.size);
      connection.head->size -= before - connection.in.size();
      buffered_ -= before - connection.in.size();
      if (connection.in.size() < connection.head->size + head.body) {
        connection.out += "HTTP/1.1 100 Continue\r\n\r\n";
        send_now(connection);
        if (connection.closed) return;
      }
    }
  }
  const std::size_t size = connection.head->size + connection.head->body;
  if (connection.in.size() < size) return;
  RawRequest request{connection.id, connection.in.substr(0, size), connection.address};
  connection.in.erase(0, size);
  if (connection.in.empty()) connection.in.shrink_to_fit();
  connection.held = size;
  connection.head.reset();
  connection.phase = Connection::Phase::answering;
  connection.deadline = kNever;
  watch(connection, false);
  if (!dispatch_(std::move(request))) refuse(connection, 503, "the server is busy; try again in a moment");
}

void EventLoop::refuse(Connection& connection, int status, const char* text) {
  const char* error = status == 503 ? "busy" : status == 401 ? "unauthorized" : "refused";
  const std::string body = fmt::format(R"({{"error":"{}","message":"{}"}})", error, text);
  const char* extra = status == 503   ? "Retry-After: 2\r\n"
                      : status == 401 ? "WWW-Authenticate: Bearer\r\n"
                                      : "";
  buffered_ -= std::exchange(connection.held, 0);
  connection.refused = true;
  connection.close = true;
  connection.phase = Connection::Phase::writing;
  connection.out += fmt::format(
      "HTTP/1.1 {} Refused\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{}Connection: "
      "close\r\n\r\n{}",
      status, body.size(), extra, body);
  connection.deadline = clock_now() + limits_.head_seconds;
  send_now(connection);
}

void EventLoop::send_now(Connection& connection) {
  while (connection.sent < connection.out.size()) {
    const ssize_t count = ::send(connection.socket, connection.out.data() + connection.sent,
                                 connection.out.size() - connection.sent, MSG_NOSIGNAL);
    if (count > 0) {
      connection.sent += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return watch(connection, true);
    } else if (errno != EINTR) {
      return close_later(connection);
    }
  }
  connection.out.clear();
  if (connection.phase != Connection::Phase::streaming) connection.out.shrink_to_fit();
  connection.sent = 0;
  answered(connection);
}

void EventLoop::answered(Connection& connection) {
  if (connection.close) {
    if (!connection.refused) return close_later(connection);
    (void)shutdown(connection.socket, SHUT_WR);
    connection.phase = Connection::Phase::draining;
    connection.deadline = clock_now() + kDrainSeconds;
    buffered_ -= connection.in.size();
    connection.in.clear();
  } else if (connection.topic) {
    connection.phase = Connection::Phase::streaming;
    connection.deadline = clock_now() + limits_.stream_idle_seconds;
  } else if (connection.phase == Connection::Phase::writing) {
    connection.phase = Connection::Phase::reading;
    connection.deadline = clock_now() + (connection.in.empty() ? limits_.idle_seconds : limits_.head_seconds);
    watch(connection, false);
    if (!connection.in.empty()) take_request(connection);
    return;
  }
  watch(connection, false);
}

void EventLoop::close_later(Connection& connection) {
  if (connection.closed) return;
  connection.closed = true;
  closing_.push_back(connection.id);
}

void EventLoop::look_for_overdue(double now) {
  if (accepting_ && now >= listen_again_) listen_again_at(kNever);
  for (const auto& [id, connection] : connections_) {
    if (now < connection->deadline || connection->closed) continue;
    if (connection->phase == Connection::Phase::streaming && connection->out.empty()) {
      connection->out = ": still here\n\n";
      connection->deadline = now + limits_.stream_idle_seconds;
      send_now(*connection);
    } else if (connection->phase == Connection::Phase::reading && !connection->in.empty()) {
      refuse(*connection, 408, "the request took too long to arrive");
    } else {
      close_later(*connection);
    }
  }
}

void EventLoop::close_closed() {
  for (const std::uint64_t id : closing_) {
    const auto found = connections_.find(id);
    if (found == connections_.end()) continue;
    Connection& connection = *found->second;
    ::close(connection.socket);
    buffered_ -= connection.in.size() + connection.held;
    if (--of_address_[connection.address] == 0) of_address_.erase(connection.address);
    if (connection.topic) {
      const auto [begin, end] = streams_.equal_range(*connection.topic);
      streams_.erase(std::find_if(begin, end, [id](const auto& each) { return each.second == id; }));
    }
    connections_.erase(found);
  }
  closing_.clear();
}

void EventLoop::take_messages() {
  std::vector<Message> messages;
  {
    const std::scoped_lock lock(mutex_);
    messages.swap(messages_);
  }
  for (Message& message : messages) take(message);
}

void EventLoop::take(Message& message) {
  if (message.topic.empty()) {
    const auto found = connections_.find(message.connection.value());
    if (found == connections_.end() || found->second->closed) return;
    Connection& connection = *found->second;
    buffered_ -= std::exchange(connection.held, 0);
    connection.close = connection.close || message.response.close;
    connection.phase = Connection::Phase::writing;
    connection.deadline = clock_now() + limits_.head_seconds +
                          static_cast<double>(message.response.bytes.size()) / limits_.least_rate;
    connection.out += message.response.bytes;
    if (message.response.topic) {
      connection.topic = std::move(message.response.topic);
      streams_.emplace(*connection.topic, connection.id);
    }
    return send_now(connection);
  }
  if (message.connection) {
    const auto found = connections_.find(*message.connection);
    if (found != connections_.end() && found->second->topic == message.topic)
      publish_to(*found->second, message);
    return;
  }
  const auto [begin, end] = streams_.equal_range(message.topic);
  for (auto each = begin; each != end; ++each) publish_to(*connections_.at(each->second), message);
}

void EventLoop::publish_to(Connection& connection, const Message& message) {
  if (connection.closed) return;
  if (connection.out.size() - connection.sent > limits_.stream_bytes) return close_later(connection);
  connection.out += message.response.bytes;
  connection.close = connection.close || message.last;
  connection.deadline = clock_now() + limits_.stream_idle_seconds;
  send_now(connection);
}

void EventLoop::respond(std::uint64_t connection, RawResponse response) {
  post({connection, std::move(response), {}, false});
}

void EventLoop::publish(const std::string& topic, std::string bytes, bool last,
                        std::optional<std::uint64_t> connection) {
  post({connection, {std::move(bytes), false, {}}, topic, last});
}

void EventLoop::stop() {
  stopping_ = true;
  wake();
}

void EventLoop::post(Message message) {
  {
    const std::scoped_lock lock(mutex_);
    messages_.push_back(std::move(message));
  }
  wake();
}

void EventLoop::wake() const {
  const std::uint64_t once = 1;
  (void)!write(wake_, &once, sizeof once);
}

}  // namespace poet::server
