#pragma once

// Access control. Without tokens, programs on this machine, with tokens, clients that present one; in both
// cases no other site's page in a browser, which may send requests in its visitor's name.
//
// Browsers say whose page asks, in Sec-Fetch-Site (w3.org/TR/fetch-metadata), Origin or Referer, and pages
// cannot change that; programs such as curl say nothing. A page of another site is refused everything but
// this server's own page and its files. A GET that acts is refused to browsers altogether, but for this
// server's page: links in mails and old browsers without these fields say nothing of where they come from.

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "apps/server/http/router.h"

namespace poet::server {

/// Client names by the digests of their tokens.
using Tokens = std::map<std::string, std::string>;

/// Reads a file with one line "NAME TOKEN" per client; empty lines and lines that begin with # are skipped.
/// Throws InputError naming the line, also for tokens of fewer than 16 characters, and where the file is
/// other users' to read or write.
[[nodiscard]] Tokens read_tokens(const std::filesystem::path& file);

/// Returns whether a client at `address` may send the body that this head announces, by the rules of the
/// gate.
[[nodiscard]] Admission admission_of(const Tokens& tokens, std::string_view head, const std::string& address);

/// Returns the gate of a server with these tokens, or of one on loopback if there are none. The gate sets the
/// call's client, or refuses with 401 or 403.
[[nodiscard]] Gate gate_of(Tokens tokens);

}  // namespace poet::server
