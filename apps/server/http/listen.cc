#include "apps/server/http/listen.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "apps/server/http/request_head.h"
#include "poet/base/error.h"

namespace poet::server {
namespace {

constexpr int kBacklog = 4096;

/// As the system takes it.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

SocketAddress socket_address(const Address& address) {
  SocketAddress out;
  auto& v4 = reinterpret_cast<sockaddr_in&>(out.storage);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(out.storage);
  if (inet_pton(AF_INET, address.host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(address.port);
    out.size = sizeof v4;
  } else if (inet_pton(AF_INET6, address.host.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(address.port);
    out.size = sizeof v6;
  }
  return out;
}

}  // namespace

Address parse_address(const std::string& place, const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const std::string rule = "must be ADDRESS:PORT, as in 127.0.0.1:8080 or [::1]:8080";
  if (colon == std::string::npos) throw InputError(place, rule);
  Address address;
  address.host = text.substr(0, colon);
  if (address.host.empty()) address.host = "127.0.0.1";
  if (same_ignoring_case(address.host, "localhost")) address.host = "127.0.0.1";
  if (address.host.front() == '[' && address.host.back() == ']')
    address.host = address.host.substr(1, address.host.size() - 2);
  const char* first = text.data() + colon + 1;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(first, last, address.port);
  if (error != std::errc() || end != last || socket_address(address).size == 0) throw InputError(place, rule);
  return address;
}

bool is_loopback(const Address& address) {
  return address.host.rfind("127.", 0) == 0 || address.host == "::1";
}

int listen_at(Address& address) {
  SocketAddress at = socket_address(address);
  const auto* name = reinterpret_cast<const sockaddr*>(&at.storage);
  const int listening = socket(at.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  if (listening >= 0) (void)setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (listening < 0 || bind(listening, name, at.size) != 0 || listen(listening, kBacklog) != 0) {
    const int error = errno;
    if (listening >= 0) ::close(listening);
    throw InputError(url_of(address), std::string("cannot listen there: ") + std::strerror(error));
  }
  if (getsockname(listening, reinterpret_cast<sockaddr*>(&at.storage), &at.size) == 0)
    address.port =
        ntohs(at.storage.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(at.storage).sin6_port
                                               : reinterpret_cast<const sockaddr_in&>(at.storage).sin_port);
  return listening;
}

std::string client_at(const sockaddr_storage& peer) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const auto said = [&](int family, const void* address) {
    return std::string(inet_ntop(family, address, text.data(), text.size()) != nullptr ? text.data()
                                                                                       : "unknown");
  };
  if (peer.ss_family != AF_INET6) {
    in_addr v4 = reinterpret_cast<const sockaddr_in&>(peer).sin_addr;
    if (ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET) v4.s_addr = htonl(INADDR_LOOPBACK);
    return said(AF_INET, &v4);
  }
  in6_addr v6 = reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&v6)) {
    sockaddr_storage mapped{};
    mapped.ss_family = AF_INET;
    std::memcpy(&reinterpret_cast<sockaddr_in&>(mapped).sin_addr, &v6.s6_addr[12], sizeof(in_addr));
    return client_at(mapped);
  }
  if (IN6_IS_ADDR_LOOPBACK(&v6)) return said(AF_INET6, &v6);
  std::memset(&v6.s6_addr[8], 0, 8);
  return said(AF_INET6, &v6) + "/64";
}

std::string url_of(const Address& address) {
  const bool v6 = address.host.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}", v6 ? "[" : "", address.host, v6 ? "]" : "", address.port);
}

}  // namespace poet::server
