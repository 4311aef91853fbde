#include "apps/shared/live_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace poet::cli {
namespace {

std::size_t columns(std::FILE* stream) {
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 1) return size.ws_col;
  return 80;
}

}  // namespace

bool is_live(std::FILE* stream) {
  const char* terminal = std::getenv("TERM");
  return isatty(fileno(stream)) == 1 && terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
}

void draw_line(std::FILE* stream, const std::string& text) {
  // A line longer than the terminal would wrap, and "\r" would not bring it back.
  std::fputs(("\r\x1b[K" + text.substr(0, columns(stream) - 1)).c_str(), stream);
  std::fflush(stream);
}

void remove_line(std::FILE* stream) {
  std::fputs("\r\x1b[K", stream);
  std::fflush(stream);
}

}  // namespace poet::cli
