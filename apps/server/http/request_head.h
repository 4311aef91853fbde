#pragma once

// How far a request has arrived.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace poet::server {

struct RequestHead {
  std::size_t size = 0;          // of the head, the empty line included
  std::size_t body = 0;          // Content-Length
  bool awaits_continue = false;  // the client sends the body once it is told to
  bool is_http_1_0 = false;      // such a client is told nothing before the response
  int refused = 0;               // a status: 400 malformed, 411 the body has no length, 505
};

/// Of what has arrived so far; nothing: the head is not whole yet. O(size).
[[nodiscard]] std::optional<RequestHead> request_head(std::string_view arrived);

/// A field of a head that has been found well formed; empty: it has none.
[[nodiscard]] std::string_view field_of(std::string_view head, std::string_view name);

/// The request without its Expect field, which has been answered.
[[nodiscard]] std::string without_expect(const std::string& request, std::size_t head);

}  // namespace poet::server
