#include "apps/shared/live_line.h"

#include "apps/shared/terminal.h"

namespace poet::cli {

void draw_line(std::FILE* stream, const std::string& text) {
  // A line longer than the terminal would wrap, and "\r" would not bring it back.
  std::fputs(("\r\x1b[K" + text.substr(0, static_cast<std::size_t>(terminal_width(stream).value_or(80)) - 1))
                 .c_str(),
             stream);
  std::fflush(stream);
}

void remove_line(std::FILE* stream) {
  std::fputs("\r\x1b[K", stream);
  std::fflush(stream);
}

}  // namespace poet::cli
