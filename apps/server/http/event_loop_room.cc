// Room for what clients send: bytes and connections. Who holds it and does nothing with it makes way.

#include <algorithm>
#include <cstddef>

#include "apps/server/http/connection.h"

namespace poet::server {
namespace {

constexpr double kBrisk = 1 << 20;  // bytes per second: such an upload makes way for no other of its client

}  // namespace

void EventLoop::buffer(Connection& connection, std::ptrdiff_t more) {
  const auto change = static_cast<std::size_t>(more);  // modulo 2^64, as both sums are
  buffered_ += change;
  if (connection.client.empty()) return;
  const auto held = of_client_.find(connection.client);
  if (held != of_client_.end() && (held->second += change) == 0) of_client_.erase(held);
}

void EventLoop::drop_input(Connection& connection) {
  buffer(connection, -static_cast<std::ptrdiff_t>(connection.in.size()));
  connection.in.clear();
  connection.in.shrink_to_fit();
  connection.client.clear();
  connection.head.reset();
}

EventLoop::Connection* EventLoop::slowest_upload(const std::string& client) const {
  Connection* slowest = nullptr;
  for (const auto& [id, connection] : connections_)
    if (!connection->closed && connection->phase == Connection::Phase::reading &&
        connection->client == client &&
        (slowest == nullptr || connection->arrival.rate < slowest->arrival.rate))
      slowest = connection.get();
  return slowest;
}

bool EventLoop::make_room(Connection& connection) {
  const auto held_by = [this](const std::string& client) {
    const auto held = of_client_.find(client);
    return held == of_client_.end() ? 0 : held->second;
  };
  while (connection.in.size() > limits_.head_bytes) {
    const bool client_is_full = held_by(connection.client) > limits_.client_bytes;
    if (!client_is_full && buffered_ + *handed_on_ <= limits_.all_bytes) return true;
    std::string client = connection.client;
    if (!client_is_full) {
      const auto most = std::max_element(of_client_.begin(), of_client_.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
      // No more than everybody's part is nobody else's to take.
      if (most != of_client_.end() && most->second > limits_.all_bytes / of_client_.size())
        client = most->first;
    }
    Connection* slowest = client.empty() ? nullptr : slowest_upload(client);
    const bool is_own = client == connection.client;
    if (slowest == nullptr || slowest == &connection || (is_own && slowest->arrival.rate >= kBrisk)) {
      refuse(connection, 503, "too many bytes are being uploaded; try again later");
      return false;
    }
    drop_input(*slowest);  // also if there is no memory to say so
    or_close(*slowest, [&] {
      refuse(*slowest, 503, "this upload was slow, and others needed the room; try again later");
    });
  }
  return true;
}

bool EventLoop::close_idle(const std::string& address) {
  std::string of = address;
  if (of.empty()) {
    const auto most = std::max_element(of_address_.begin(), of_address_.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != of_address_.end()) of = most->first;
  }
  // Whoever follows a job, or waits for one, loses nothing by asking again.
  enum Kind { silent, streams, waits, works };
  const auto kind_of = [](const Connection& connection) {
    if (connection.phase == Connection::Phase::reading && !connection.head) return silent;
    if (connection.phase == Connection::Phase::streaming) return streams;
    return connection.kept ? waits : works;
  };
  Connection* idle = nullptr;
  for (const auto& [id, connection] : connections_) {
    if (connection->closed || connection->address != of || kind_of(*connection) == works) continue;
    if (idle == nullptr || kind_of(*connection) < kind_of(*idle) ||
        (kind_of(*connection) == kind_of(*idle) && connection->deadline < idle->deadline))
      idle = connection.get();
  }
  if (idle == nullptr) return false;
  close_later(*idle);
  close_closed();
  return true;
}

}  // namespace poet::server
