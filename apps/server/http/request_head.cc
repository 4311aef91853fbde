#include "apps/server/http/request_head.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <charconv>

namespace poet::server {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// A field name's characters (RFC 9110, "token"), so that nothing smuggles one field as another.
bool is_token(std::string_view text) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kOthers.find(c) != std::string_view::npos;
  });
}

/// METHOD SP target SP HTTP/1.x, in printable characters.
int refused_line(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || last == first || !is_token(line.substr(0, first))) return 400;
  if (std::any_of(line.begin(), line.end(), [](char c) { return c < ' ' || c > '~'; })) return 400;
  const std::string_view target = line.substr(first + 1, last - first - 1);
  if (target.empty() || target.front() != '/' || target.find(' ') != std::string_view::npos) return 400;
  const std::string_view version = line.substr(last + 1);
  return version == "HTTP/1.1" || version == "HTTP/1.0" ? 0 : 505;
}

/// Fields that decide who asks for what. Of two of them this server might believe one, and a proxy the other.
constexpr std::array<std::string_view, 7> kOnce = {
    "Host", "Content-Length", "Content-Type", "Authorization", "Origin", "Referer", "Sec-Fetch-Site"};

/// Takes one field into the head. `seen`: which of kOnce there were.
void read_field(std::string_view line, RequestHead& head, std::bitset<kOnce.size()>& seen) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
    head.refused = 400;  // also lines that continue the one before
    return;
  }
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (std::any_of(value.begin(), value.end(), [](unsigned char c) { return c < ' ' && c != '\t'; }))
    head.refused = 400;
  for (std::size_t i = 0; i < kOnce.size(); ++i) {
    if (!same_ignoring_case(name, kOnce[i])) continue;
    if (seen[i]) head.refused = 400;
    seen.set(i);
  }
  if (same_ignoring_case(name, "Transfer-Encoding")) head.refused = 411;
  // Unpacked by a library whose limits are not this server's: a kilobyte may become a megabyte.
  if (same_ignoring_case(name, "Content-Encoding") && !same_ignoring_case(value, "identity"))
    head.refused = 415;
  if (same_ignoring_case(name, "Expect")) head.awaits_continue = true;
  if (same_ignoring_case(name, "Content-Length")) {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), length);
    if (error != std::errc() || end != value.data() + value.size()) head.refused = 400;
    head.body = length;
  }
}

}  // namespace

bool same_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

std::optional<RequestHead> request_head(std::string_view arrived) {
  const std::size_t end = arrived.find("\r\n\r\n");
  if (end == std::string_view::npos) return std::nullopt;
  RequestHead head;
  head.size = end + 4;
  std::bitset<kOnce.size()> seen;
  for (std::size_t at = 0; at < end && head.refused == 0;) {
    const std::size_t stop = std::min(arrived.find("\r\n", at), end);
    const std::string_view line = arrived.substr(at, stop - at);
    if (at == 0) {
      head.refused = refused_line(line);
      head.is_http_1_0 = line.ends_with("/1.0");
    } else {
      read_field(line, head, seen);
    }
    at = stop + 2;
  }
  return head;
}

std::string_view field_of(std::string_view head, std::string_view name) {
  for (std::size_t at = head.find("\r\n"); at != std::string_view::npos && at + 2 < head.size();) {
    const std::size_t begin = at + 2;
    at = head.find("\r\n", begin);
    const std::string_view line = head.substr(begin, at - begin);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && same_ignoring_case(line.substr(0, colon), name))
      return trimmed(line.substr(colon + 1));
  }
  return {};
}

std::string without_expect(const std::string& request, std::size_t head) {
  std::string out;
  for (std::size_t at = 0; at < head;) {
    const std::size_t stop = request.find("\r\n", at) + 2;
    if (!same_ignoring_case(std::string_view(request).substr(at, 7), "Expect:"))
      out.append(request, at, stop - at);
    at = stop;
  }
  return out.append(request, head);
}

}  // namespace poet::server
