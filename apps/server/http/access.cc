#include "apps/server/http/access.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <optional>

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
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](const char* name) { return same_ignoring_case(host, name); }) ||
         (host.rfind("127.", 0) == 0 && inet_pton(AF_INET, host.c_str(), &number) == 1);
}

/// What decides whether a request is answered.
struct Asked {
  std::function<std::string(const char* name)> field;
  bool is_http_1_0 = false;
  std::string address;
};

/// Whether a URL, or what stands for one in Origin, is of the host that the request names.
bool is_own(const std::string& url, const std::string& host) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string::npos) return false;  // "null": of a page that hides where it is from
  const std::string_view rest = std::string_view(url).substr(scheme + 3);
  return same_ignoring_case(rest.substr(0, rest.find_first_of("/?#")), host);
}

/// Another port of this machine is another site, too: somebody else's program may be there.
bool is_of_another_site(const Asked& asked, bool is_public) {
  const std::string host = asked.field("Host");
  if (const std::string origin = asked.field("Origin"); !origin.empty() && !is_own(origin, host)) return true;
  if (is_public) return false;  // may be linked to
  if (const std::string site = asked.field("Sec-Fetch-Site");
      !site.empty() && site != "same-origin" && site != "none")
    return true;
  const std::string referer = asked.field("Referer");
  return !referer.empty() && !is_own(referer, host);
}

/// Whether it is by a browser and not by this server's page. Of those that are too old to say whose page
/// asks, every one calls itself Mozilla.
bool is_a_browsers_own(const Asked& asked) {
  const std::string site = asked.field("Sec-Fetch-Site");
  if (!site.empty()) return site != "same-origin";
  const bool is_browser = asked.field("User-Agent").find("Mozilla/") != std::string::npos;
  return is_browser && asked.field("Origin").empty() && asked.field("Referer").empty();
}

Admission refusal(int status, const char* error, const char* message) { return {status, error, message, {}}; }

Admission admission_of(const Tokens& tokens, const Asked& asked, bool is_public, bool acts) {
  if (is_of_another_site(asked, is_public))
    return refusal(403, "forbidden", "pages of other sites may not call this server");
  if (tokens.empty()) {
    // Programs of HTTP/1.0 need not say a host. Browsers, which others' pages are in, always do.
    const std::string host = asked.field("Host");
    if (!(asked.is_http_1_0 && host.empty()) && !names_loopback(host))
      return refusal(403, "forbidden",
                     "without tokens this server answers to localhost only; see --token-file");
    if (acts && is_a_browsers_own(asked))
      return refusal(
          403, "forbidden",
          "this starts a job, and a browser may have been led here; ask by a program such as curl");
    return {0, {}, {}, asked.address};
  }
  if (is_public) return {};
  const auto found = find_token(tokens, asked.field("Authorization"));
  if (found != tokens.end()) return {0, {}, {}, found->second};
  return refusal(401, "unauthorized", "a token is required: Authorization: Bearer TOKEN");
}

/// Who can read it can use it, and who can write it can add a client.
void check_private(const std::filesystem::path& file) {
  struct stat there {};
  if (::stat(file.c_str(), &there) != 0 || (there.st_mode & (S_IROTH | S_IWOTH)) == 0) return;
  throw InputError("--token-file " + file.string(),
                   "must not be readable or writable by others than its owner and group: chmod o-rw");
}

}  // namespace

Tokens read_tokens(const std::filesystem::path& file) {
  check_private(file);
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

Admission admission_of(const Tokens& tokens, std::string_view head, const std::string& address) {
  const auto field = [head](const char* name) { return std::string(field_of(head, name)); };
  const bool is_http_1_0 = head.substr(0, head.find("\r\n")).ends_with(" HTTP/1.0");
  return admission_of(tokens, {field, is_http_1_0, address}, false, false);
}

Gate gate_of(Tokens tokens) {
  return [tokens = std::move(tokens)](Call& call, const Route& route) -> std::optional<Reply> {
    const auto field = [&call](const char* name) { return call.field(name); };
    Admission admission =
        admission_of(tokens, {field, call.is_http_1_0(), call.address}, route.is_public, route.acts);
    call.client = std::move(admission.client);
    if (admission.refused == 0) return std::nullopt;
    Reply reply = failure(admission.refused, admission.error, admission.message);
    if (admission.refused == 401) reply.fields.emplace_back("WWW-Authenticate", "Bearer");
    return reply;
  };
}

}  // namespace poet::server
