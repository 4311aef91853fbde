#pragma once

// Who may call. Without tokens everybody on this machine, but no page of another site in somebody's browser;
// with tokens who has one.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "apps/server/http/router.h"

namespace poet::server {

/// Names by the digest of their tokens.
using Tokens = std::map<std::string, std::string>;

/// Of a file with a line "NAME TOKEN" for each client; empty lines and those that begin with # are skipped.
/// Throws InputError naming the line, also for a token of fewer than 16 characters.
[[nodiscard]] Tokens read_tokens(const std::filesystem::path& file);

/// Whether a request with this head has one of the tokens, or needs none.
[[nodiscard]] bool has_token(const Tokens& tokens, std::string_view head);

/// The gate of a server with these tokens; without any, of one that listens on loopback. It fills in the
/// call's client, or refuses with 401 or 403.
[[nodiscard]] Gate gate_of(Tokens tokens);

}  // namespace poet::server
