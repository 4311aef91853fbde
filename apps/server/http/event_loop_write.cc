// Sending responses and events.

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "apps/server/http/connection.h"

namespace poet::server {
namespace {

constexpr double kDrainSeconds = 2;

}  // namespace

void EventLoop::say(Connection& connection, std::string_view bytes) {
  if (connection.closed) return;
  if (connection.unsent() == 0) connection.took = clock_now();
  connection.out += bytes;
  unsent_ += bytes.size();
}

void EventLoop::close_slowest() {
  while (unsent_ > limits_.unsent_bytes) {
    // Of one address: a client that takes a byte now and then would have others closed who pause for once.
    std::map<std::string_view, std::size_t> of_address;
    for (const auto& [id, connection] : connections_)
      if (!connection->closed) of_address[connection->address] += connection->unsent();
    const auto most = std::max_element(of_address.begin(), of_address.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    Connection* slowest = nullptr;
    for (const auto& [id, connection] : connections_)
      if (!connection->closed && connection->unsent() > 0 && connection->address == most->first &&
          (slowest == nullptr || connection->took < slowest->took))
        slowest = connection.get();
    if (slowest == nullptr) return;
    close_later(*slowest);
  }
}

void EventLoop::send_now(Connection& connection) {
  while (connection.sent < connection.out.size()) {
    const ssize_t count = ::send(connection.socket, connection.out.data() + connection.sent,
                                 connection.out.size() - connection.sent, MSG_NOSIGNAL);
    if (count > 0) {
      connection.sent += static_cast<std::size_t>(count);
      connection.took = clock_now();
      unsent_ -= static_cast<std::size_t>(count);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      watch(connection, true);
      return close_slowest();
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
  if (connection.kept) return watch(connection, false);  // that was an interim response
  if (connection.close) {
    if (!connection.refused) return close_later(connection);
    (void)shutdown(connection.socket, SHUT_WR);
    connection.phase = Connection::Phase::draining;
    connection.deadline = clock_now() + kDrainSeconds;
    drop_input(connection);
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

void EventLoop::take_messages() {
  std::vector<Message> messages;
  {
    const std::scoped_lock lock(mutex_);
    messages.swap(messages_);
  }
  for (Message& message : messages) take(message);
}

void EventLoop::take(Message& message) {
  if (message.topic.empty() || message.request) {
    const auto found = connections_.find(message.connection.value());
    if (found == connections_.end() || found->second->closed) return;
    Connection& connection = *found->second;
    return or_close(connection, [&] {
      if (message.request)
        keep(connection, message);
      else
        take_response(connection, message.response);
    });
  }
  if (message.connection) {
    const auto found = connections_.find(*message.connection);
    if (found != connections_.end() && found->second->topic == message.topic)
      publish_to(*found->second, message);
    return;
  }
  const auto [begin, end] = streams_.equal_range(message.topic);
  for (auto each = begin; each != end;)  // one that dispatches its kept request leaves the topic
    publish_to(*connections_.at((each++)->second), message);
}

void EventLoop::keep(Connection& connection, Message& message) {
  message.request->counted = count(message.request->bytes.size());
  connection.kept = std::move(message.request);
  connection.topic = std::move(message.topic);
  streams_.emplace(*connection.topic, connection.id);
  if (connection.half_closed) return probe(connection);
  watch(connection, false);
}

void EventLoop::probe(Connection& connection) {
  connection.half_closed = true;
  if (connection.is_http_1_0) {  // such a client takes no interim response; the system probes without bytes
    const int on = 1;
    const int seconds = static_cast<int>(std::max(1.0, limits_.stream_idle_seconds));
    (void)setsockopt(connection.socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    (void)setsockopt(connection.socket, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof seconds);
    (void)setsockopt(connection.socket, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof seconds);
    return watch(connection, false);
  }
  // RFC 9110, 15.2: a client may discard it. One that has closed its connection answers it with a reset.
  if (connection.unsent() == 0) say(connection, kContinue);
  connection.deadline = clock_now() + limits_.stream_idle_seconds;
  send_now(connection);
}

void EventLoop::dispatch_kept(Connection& connection) {
  leave_topic(connection);
  RawRequest request = *std::exchange(connection.kept, std::nullopt);
  connection.deadline = kNever;
  watch(connection, connection.unsent() > 0);
  if (!dispatch_(std::move(request))) refuse(connection, 503, kTooBusy);
}

void EventLoop::leave_topic(Connection& connection) {
  if (!connection.topic) return;
  const auto [begin, end] = streams_.equal_range(*connection.topic);
  for (auto each = begin; each != end; ++each) {
    if (each->second != connection.id) continue;
    streams_.erase(each);
    break;
  }
  connection.topic.reset();
}

void EventLoop::take_response(Connection& connection, RawResponse& response) {
  connection.close = connection.close || response.close;
  connection.phase = Connection::Phase::writing;
  connection.deadline =
      clock_now() + limits_.head_seconds + static_cast<double>(response.bytes.size()) / limits_.least_rate;
  say(connection, response.bytes);
  if (response.topic) {
    connection.topic = std::move(response.topic);
    streams_.emplace(*connection.topic, connection.id);
  }
  send_now(connection);
}

void EventLoop::publish_to(Connection& connection, const Message& message) {
  if (connection.closed) return;
  if (connection.kept) {
    if (message.last) or_close(connection, [&] { dispatch_kept(connection); });
    return;
  }
  if (connection.unsent() > limits_.stream_bytes) return close_later(connection);
  or_close(connection, [&] {
    say(connection, message.response.bytes);
    connection.close = connection.close || message.last;
    connection.deadline = clock_now() + limits_.stream_idle_seconds;
    send_now(connection);
  });
}

void EventLoop::respond(std::uint64_t connection, RawResponse response) {
  post({connection, std::move(response), {}, false});
}

void EventLoop::hold(RawRequest request, std::string topic) {
  const std::uint64_t connection = request.connection;
  post({connection, {}, std::move(topic), false, std::move(request)});
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
