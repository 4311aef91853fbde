#include "apps/server/http/access.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "apps/server/http/request_head.h"
#include "apps/server/jobs/digest.h"
#include "poet/base/error.h"
#include "poet/base/text.h"

namespace poet::server {
namespace {

constexpr std::size_t kLeastToken = 16;

/// "127.0.0.1:8080" -> "127.0.0.1"
std::string host_of(const std::string& field) {
  const std::size_t bracket = field.rfind(']');
  return field.substr(0, field.find(':', bracket == std::string::npos ? 0 : bracket));
}

/// Whose token an Authorization field has. Looked up by its digest, so that the time this takes says nothing
/// about tokens.
Tokens::const_iterator find_token(const Tokens& tokens, std::string_view authorization) {
  constexpr std::string_view kScheme = "Bearer ";
  if (authorization.substr(0, kScheme.size()) != kScheme) return tokens.end();
  return tokens.find(digest(authorization.substr(kScheme.size())));
}

/// A page of another site that has this server's address resolve to its own name (DNS rebinding) says that
/// name.
bool names_loopback(const std::string& field) {
  constexpr std::array<const char*, 3> kNames = {"localhost", "127.0.0.1", "[::1]"};
  const std::string host = host_of(field);
  in_addr number{};  // "127.evil.example" is a name
  return std::any_of(kNames.begin(), kNames.end(), [&](const char* name) { return host == name; }) ||
         (host.rfind("127.", 0) == 0 && inet_pton(AF_INET, host.c_str(), &number) == 1);
}

/// Browsers say whose page asks; programs do not.
bool is_of_another_site(const Call& call) {
  const std::string origin = call.field("Origin");
  if (origin.empty()) return false;
  const std::size_t host = origin.find("://");
  return host == std::string::npos || origin.substr(host + 3) != call.field("Host");
}

}  // namespace

Tokens read_tokens(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) throw InputError("--token-file " + file.string(), "cannot be read");
  Tokens tokens;
  std::size_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    const std::string place = fmt::format("--token-file {}:{}", file.string(), ++number);
    const std::vector<std::string> words = words_of(line);
    if (words.empty() || words[0].front() == '#') continue;
    if (words.size() != 2) throw InputError(place, "must be a name and a token");
    const std::string& name = words[0];
    const std::string& token = words[1];
    if (token.size() < kLeastToken)
      throw InputError(place, fmt::format("a token must have at least {} characters", kLeastToken));
    if (!tokens.emplace(digest(token), name).second) throw InputError(place, "repeats a token");
  }
  if (stream.bad()) throw InputError("--token-file " + file.string(), "cannot be read");
  if (tokens.empty())
    throw InputError("--token-file " + file.string(), "has no token; a line is a name and a token");
  return tokens;
}

bool has_token(const Tokens& tokens, std::string_view head) {
  return tokens.empty() || find_token(tokens, field_of(head, "Authorization")) != tokens.end();
}

Gate gate_of(Tokens tokens) {
  return [tokens = std::move(tokens)](Call& call, bool is_public) -> std::optional<Reply> {
    if (is_of_another_site(call))
      return failure(403, "forbidden", "pages of other sites may not call this server");
    if (tokens.empty()) {
      // Programs of HTTP/1.0 need not say a host. Browsers, which others' pages are in, always do.
      const bool names_none = call.is_http_1_0() && call.field("Host").empty();
      if (!names_none && !names_loopback(call.field("Host")))
        return failure(403, "forbidden",
                       "without tokens this server answers to localhost only; see --token-file");
      call.client = call.address;
      return std::nullopt;
    }
    if (is_public) return std::nullopt;
    const auto found = find_token(tokens, call.field("Authorization"));
    if (found != tokens.end()) {
      call.client = found->second;
      return std::nullopt;
    }
    Reply reply = failure(401, "unauthorized", "a token is required: Authorization: Bearer TOKEN");
    reply.fields.emplace_back("WWW-Authenticate", "Bearer");
    return reply;
  };
}

}  // namespace poet::server
