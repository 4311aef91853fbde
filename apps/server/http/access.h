#pragma once

// Access control. Without tokens, programs on this machine, but no other site's page in a browser; with
// tokens, clients that present one.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "apps/server/http/router.h"

namespace poet::server {

/// Client names by the digests of their tokens.
using Tokens = std::map<std::string, std::string>;

/// Reads a file with one line "NAME TOKEN" per client; empty lines and lines that begin with # are skipped.
/// Throws InputError naming the line, also for tokens of fewer than 16 characters.
[[nodiscard]] Tokens read_tokens(const std::filesystem::path& file);

/// Returns whether a request with this head has one of the tokens, or needs none.
[[nodiscard]] bool has_token(const Tokens& tokens, std::string_view head);

/// Returns the gate of a server with these tokens, or of one on loopback if there are none. The gate sets the
/// call's client, or refuses with 401 or 403.
[[nodiscard]] Gate gate_of(Tokens tokens);

}  // namespace poet::server
