#pragma once

// Where the server listens.

#include <cstdint>
#include <string>

namespace poet::server {

struct Address {
  std::string host;  // "127.0.0.1", "::1", "0.0.0.0": numbers only, names of hosts change what they mean
  std::uint16_t port = 0;
};

/// Of "127.0.0.1:8080", "[::1]:8080" or ":8080", which is loopback. Throws InputError naming `place`.
[[nodiscard]] Address parse_address(const std::string& place, const std::string& text);

/// Whether only programs of this machine reach it.
[[nodiscard]] bool is_loopback(const Address& address);

/// A socket that listens there; for port 0, `address` is told which it became. Throws InputError naming the
/// address.
[[nodiscard]] int listen_at(Address& address);

/// "http://127.0.0.1:8080"
[[nodiscard]] std::string url_of(const Address& address);

}  // namespace poet::server
