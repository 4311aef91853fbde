// Receiving requests and dispatching them.

#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <utility>

#include "apps/server/http/connection.h"

namespace poet::server {

void EventLoop::readable(Connection& connection) {
  std::array<char, 65536> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by recv()
  // Once, although more may be there: the others have their turn before, however fast this client sends, and
  // epoll reports what is left.
  const ssize_t count = recv(connection.socket, bytes.data(), bytes.size(), 0);
  const bool ended = count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
  if (count > 0 && connection.phase == Connection::Phase::reading) {  // dropped in other phases
    if (connection.in.empty()) connection.deadline = clock_now() + limits_.head_seconds;
    connection.in.append(bytes.data(), static_cast<std::size_t>(count));
    buffer(connection, count);
    connection.arrival.bytes += static_cast<std::size_t>(count);
  }
  if (connection.phase == Connection::Phase::reading && !connection.in.empty()) take_request(connection);
  // A client that has said all may still want the answer; one that was waiting for nothing is gone.
  if (ended &&
      (connection.phase == Connection::Phase::reading || connection.phase == Connection::Phase::streaming ||
       connection.phase == Connection::Phase::draining))
    close_later(connection);
}

bool EventLoop::take_head(Connection& connection) {
  const auto refused = [&](int status, const std::string& text) {
    refuse(connection, status, text);
    return false;
  };
  const RequestHead& head = *connection.head;
  if (head.size > limits_.head_bytes) return refused(431, "the request's head is too large");
  if (head.refused == 411) return refused(411, "a body needs Content-Length");
  if (head.refused == 415) return refused(415, "a body is sent as it is, without Content-Encoding");
  if (head.refused == 505) return refused(505, "only HTTP/1.0 and 1.1 are supported");
  if (head.refused != 0) return refused(400, "malformed HTTP request");
  if (head.body > limits_.body_bytes) return refused(413, "the body is too large");
  if (head.body > limits_.head_bytes) {
    const std::string_view text = std::string_view(connection.in).substr(0, head.size);
    Admission admission =
        admits_ ? admits_(text, connection.address) : Admission{0, {}, {}, connection.address};
    if (admission.refused != 0) return refused(admission.refused, admission.message);
    connection.client = std::move(admission.client);
    of_client_[connection.client] += connection.in.size();
    connection.arrival = {clock_now(), 0};
  }
  if (head.awaits_continue) {
    std::string without = without_expect(connection.in, head.size);
    const std::size_t less = connection.in.size() - without.size();
    buffer(connection, -static_cast<std::ptrdiff_t>(less));
    connection.in = std::move(without);
    connection.head->size -= less;
    if (!head.is_http_1_0 && connection.in.size() < connection.head->size + head.body) {
      say(connection, kContinue);
      send_now(connection);
    }
  }
  connection.arrived_before = connection.in.size();
  if (head.body > 0) connection.deadline = clock_now() + limits_.window_seconds;
  return !connection.closed;
}

void EventLoop::take_request(Connection& connection) {
  if (!connection.head) {
    connection.head = request_head(connection.in);
    if (!connection.head) {
      if (connection.in.size() > limits_.head_bytes)
        refuse(connection, 431, "the request's head is too large");
      return;
    }
    if (!take_head(connection)) return;
  }
  if (!make_room(connection)) return;  // now it is known whose it is
  const std::size_t size = connection.head->size + connection.head->body;
  if (connection.in.size() < size) return;
  RawRequest request{connection.id, connection.in.substr(0, size), connection.address, count(size)};
  buffer(connection, -static_cast<std::ptrdiff_t>(connection.in.size()));
  connection.client.clear();
  connection.in.erase(0, size);
  if (connection.in.empty()) connection.in.shrink_to_fit();
  buffer(connection, static_cast<std::ptrdiff_t>(connection.in.size()));
  connection.is_http_1_0 = connection.head->is_http_1_0;
  connection.head.reset();
  connection.phase = Connection::Phase::answering;
  connection.deadline = kNever;
  watch(connection, false);
  if (!dispatch_(std::move(request))) refuse(connection, 503, kTooBusy);
}

std::shared_ptr<void> EventLoop::count(std::size_t bytes) const {
  *handed_on_ += bytes;
  // Deletes nothing; if the allocation of its counter fails, the deleter is called at once.
  return {nullptr, [total = handed_on_, bytes](std::nullptr_t) { *total -= bytes; }};
}

void EventLoop::refuse(Connection& connection, int status, const std::string& text) {
  const char* error = status == 503   ? "busy"
                      : status == 401 ? "unauthorized"
                      : status == 403 ? "forbidden"
                                      : "refused";
  const std::string body = fmt::format(R"({{"error":"{}","message":"{}"}})", error, text);
  const char* extra = status == 503   ? "Retry-After: 2\r\n"
                      : status == 401 ? "WWW-Authenticate: Bearer\r\n"
                                      : "";
  drop_input(connection);
  connection.refused = true;
  connection.close = true;
  connection.phase = Connection::Phase::writing;
  say(connection,
      fmt::format(
          "HTTP/1.1 {} Refused\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{}Connection: "
          "close\r\n\r\n{}",
          status, body.size(), extra, body));
  connection.deadline = clock_now() + limits_.head_seconds;
  send_now(connection);
}

}  // namespace poet::server
