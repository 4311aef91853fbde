#include "apps/server/http/event_loop.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <exception>
#include <limits>
#include <utility>

#include "apps/server/http/connection.h"
#include "apps/server/http/listen.h"
#include "poet/base/error.h"

namespace poet::server {
namespace {

constexpr std::uint64_t kListening = 0;
constexpr std::uint64_t kWake = std::numeric_limits<std::uint64_t>::max();
constexpr int kLookMilliseconds = 250;  // for what is overdue, in all connections
constexpr double kStopSeconds = 5;

}  // namespace

EventLoop::EventLoop(int listening, LoopLimits limits, std::function<bool(RawRequest&&)> dispatch,
                     Admits admits)
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
        or_close(connection, [&] {
          if ((event.events & EPOLLERR) != 0)
            close_later(connection);
          else if (connection.kept && (event.events & EPOLLRDHUP) != 0)
            probe(connection);  // reads nothing: a next request may have arrived before the end
          else if ((event.events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP)) != 0)
            readable(connection);
          if (!connection.closed && (event.events & EPOLLOUT) != 0) send_now(connection);
        });
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
      busy = busy || connection->unsent() > 0 || connection->phase == Connection::Phase::answering;
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
    try {
      take_on(socket, client_at(peer));
    } catch (const std::exception&) {  // no memory for one more; its client tries again
      ::close(socket);
    }
  }
}

void EventLoop::take_on(int socket, const std::string& address) {
  const auto known = of_address_.find(address);
  const bool address_is_full = known != of_address_.end() && known->second >= limits_.connections_of_address;
  if ((address_is_full || connections_.size() >= limits_.connections) &&
      !close_idle(address_is_full ? address : std::string())) {
    constexpr std::string_view kBusy =
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: "
        "close\r\n\r\n";
    (void)!::send(socket, kBusy.data(), kBusy.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    ::close(socket);
    return;
  }
  const int on = 1;
  (void)setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  auto made = std::make_unique<Connection>();
  made->id = next_++;
  made->socket = socket;
  made->address = address;
  made->deadline = clock_now() + limits_.head_seconds;
  // So that closing one needs no memory.
  if (closing_.capacity() <= connections_.size()) closing_.reserve(2 * connections_.size() + 1);
  std::size_t& of_address = of_address_[address];
  Connection& connection = *connections_.emplace(made->id, std::move(made)).first->second;
  ++of_address;
  epoll_event event{};
  event.events = connection.watched = EPOLLIN | EPOLLRDHUP;
  event.data.u64 = connection.id;
  if (epoll_ctl(poller_, EPOLL_CTL_ADD, socket, &event) != 0) close_later(connection);
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
  else if (connection.kept && !connection.half_closed)
    events |= EPOLLRDHUP;
  if (events == connection.watched || connection.closed) return;
  epoll_event event{};
  event.events = connection.watched = events;
  event.data.u64 = connection.id;
  (void)epoll_ctl(poller_, EPOLL_CTL_MOD, connection.socket, &event);
}

void EventLoop::close_later(Connection& connection) {
  if (connection.closed) return;
  connection.closed = true;
  unsent_ -= connection.unsent();
  connection.out.clear();
  connection.out.shrink_to_fit();
  connection.sent = 0;
  closing_.push_back(connection.id);
}

void EventLoop::look_for_overdue(double now) {
  if (accepting_ && now >= listen_again_) listen_again_at(kNever);
  for (const auto& [id, connection] : connections_) {
    tick(connection->arrival, now);
    if (now >= connection->deadline && !connection->closed)
      or_close(*connection, [&, &overdue = *connection] { is_overdue(overdue, now); });
  }
}

void EventLoop::is_overdue(Connection& connection, double now) {
  if (connection.kept) {
    probe(connection);
  } else if (connection.phase == Connection::Phase::streaming && connection.out.empty()) {
    say(connection, ": still here\n\n");
    connection.deadline = now + limits_.stream_idle_seconds;
    send_now(connection);
  } else if (connection.phase == Connection::Phase::reading && connection.head &&
             static_cast<double>(connection.in.size() - connection.arrived_before) >=
                 limits_.least_rate * limits_.window_seconds) {
    connection.arrived_before = connection.in.size();
    connection.deadline = now + limits_.window_seconds;
  } else if (connection.phase == Connection::Phase::reading && !connection.in.empty()) {
    refuse(connection, 408, "the request took too long to arrive");
  } else {
    close_later(connection);
  }
}

void EventLoop::or_close(Connection& connection, const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception&) {
    close_later(connection);
  }
}

void EventLoop::close_closed() {
  for (const std::uint64_t id : closing_) {
    const auto found = connections_.find(id);
    if (found == connections_.end()) continue;
    Connection& connection = *found->second;
    ::close(connection.socket);
    drop_input(connection);
    if (--of_address_[connection.address] == 0) of_address_.erase(connection.address);
    leave_topic(connection);
    connections_.erase(found);
  }
  closing_.clear();
}

}  // namespace poet::server
