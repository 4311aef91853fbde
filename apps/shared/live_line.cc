#include "apps/shared/live_line.h"

#include "apps/shared/terminal.h"

namespace poet::cli {

std::string first_words(const std::string& text, int columns) {
  const std::string lines = wrapped(text, columns, 0);
  const std::string first = lines.substr(0, lines.find('\n'));
  // A word that is too long by itself: its last characters go.
  std::string whole;
  for (std::size_t at = 0; at < first.size();) {
    std::size_t next = at + 1;
    while (next < first.size() && (static_cast<unsigned char>(first[next]) & 0xC0) == 0x80) ++next;
    const std::string longer = whole + first.substr(at, next - at);
    if (columns_of(longer) > static_cast<std::size_t>(columns)) break;
    whole = longer;
    at = next;
  }
  if (columns_of(text) > columns_of(whole)) whole.erase(whole.find_last_not_of(",:; ") + 1);  // more followed
  return whole;
}

int live_columns(std::FILE* stream) { return terminal_width(stream).value_or(80) - 1; }

void draw_line(std::FILE* stream, const std::string& text) {
  // A line longer than the terminal would wrap, and "\r" would not bring it back.
  std::fputs(("\r\x1b[K" + first_words(text, live_columns(stream))).c_str(), stream);
  std::fflush(stream);
}

void remove_line(std::FILE* stream) {
  std::fputs("\r\x1b[K", stream);
  std::fflush(stream);
}

}  // namespace poet::cli
