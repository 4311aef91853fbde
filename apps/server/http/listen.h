#pragma once

// The address that the server listens on.

#include <sys/socket.h>

#include <cstdint>
#include <string>

namespace poet::server {

struct Address {
  std::string host;  // "127.0.0.1", "::1", "0.0.0.0": numeric only, as host names may resolve differently
  std::uint16_t port = 0;
};

/// Parses "127.0.0.1:8080", "[::1]:8080" or ":8080" (loopback). Throws InputError naming `place`.
[[nodiscard]] Address parse_address(const std::string& place, const std::string& text);

/// Returns whether only programs on this machine can connect.
[[nodiscard]] bool is_loopback(const Address& address);

/// Returns a listening socket; for port 0, sets the port of `address`. Throws InputError naming the address.
[[nodiscard]] int listen_at(Address& address);

/// Returns what a client is counted by: its IPv4 address, or the network of 64 bits of its IPv6 address, all
/// of which one machine may have. All addresses of this machine's loopback are one.
[[nodiscard]] std::string client_at(const sockaddr_storage& peer);

/// "http://127.0.0.1:8080"
[[nodiscard]] std::string url_of(const Address& address);

}  // namespace poet::server
