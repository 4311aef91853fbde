#pragma once

// Incremental parsing of request heads.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace poet::server {

struct RequestHead {
  std::size_t size = 0;          // of the head, including the empty line
  std::size_t body = 0;          // Content-Length
  bool awaits_continue = false;  // Expect: 100-continue: the client waits before it sends the body
  bool is_http_1_0 = false;      // such clients get no interim response
  int refused = 0;  // 0 or a status: 400 malformed, 411 body without length, 415 encoded body, 505 version
};

/// Parses the bytes received so far; nullopt if the head is incomplete. O(size).
[[nodiscard]] std::optional<RequestHead> request_head(std::string_view arrived);

/// Returns a field of a well-formed head; empty if it is missing.
[[nodiscard]] std::string_view field_of(std::string_view head, std::string_view name);

/// ASCII letters only, as names of fields and hosts are compared.
[[nodiscard]] bool same_ignoring_case(std::string_view a, std::string_view b);

/// Returns the request without its Expect field.
[[nodiscard]] std::string without_expect(const std::string& request, std::size_t head);

}  // namespace poet::server
