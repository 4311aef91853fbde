#include "apps/shared/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace poet::cli {
namespace {

constexpr int kNarrowest = 20;
constexpr int kProse = 110;

Colour colour_choice = Colour::automatic;

std::optional<int> columns_variable() {
  const char* set = std::getenv("COLUMNS");
  if (set == nullptr) return std::nullopt;
  const std::string_view text = set;
  int columns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  if (error != std::errc{} || end != text.data() + text.size() || columns < 1) return std::nullopt;
  return std::max(columns, kNarrowest);
}

bool takes_colour(std::FILE* stream) {
  if (colour_choice != Colour::automatic) return colour_choice == Colour::always;
  const char* none = std::getenv("NO_COLOR");
  return (none == nullptr || *none == '\0') && is_live(stream);
}

const char* sequence(Style style) {
  switch (style) {
    case Style::label:
      return "\x1b[1m";
    case Style::good:
      return "\x1b[32m";
    case Style::fair:
      return "\x1b[33m";
    case Style::bad:
      return "\x1b[31m";
  }
  return "";
}

}  // namespace

std::optional<int> terminal_width(std::FILE* stream) {
  if (const std::optional<int> columns = columns_variable()) return columns;
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0) return std::nullopt;
  constexpr int kUnknown = 80;  // as of a terminal that does not say
  return size.ws_col > 0 ? std::max<int>(size.ws_col, kNarrowest) : kUnknown;
}

int prose_width() { return std::min(terminal_width(stdout).value_or(kProse), kProse); }

std::string terminal_table(const Table& table, int indent) {
  const std::optional<int> width = terminal_width(stdout);
  return width ? table.fitted(*width, indent) : table.text(indent);
}

std::string fitted_lines(const std::string& text) {
  const std::optional<int> width = terminal_width(stdout);
  if (!width) return text;
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    const int indent = static_cast<int>(std::min(line.find_first_not_of(' '), line.size()));
    if (columns_of(line) <= static_cast<std::size_t>(*width))
      out += line;
    else
      out +=
          std::string(static_cast<std::size_t>(indent), ' ') + wrapped(line, *width - indent - 2, indent + 2);
    if (end < text.size()) out += '\n';
    begin = end + 1;
  }
  return out;
}

std::string message_text(const std::string& message, std::FILE* stream) {
  constexpr int kIndent = 2;
  const std::optional<int> width = isatty(fileno(stream)) == 1 ? terminal_width(stream) : std::nullopt;
  const bool fits = !width || columns_of(message) <= static_cast<std::size_t>(*width);
  return (fits ? message : wrapped(message, *width - kIndent, kIndent)) + "\n";
}

bool is_live(std::FILE* stream) {
  const char* terminal = std::getenv("TERM");
  return isatty(fileno(stream)) == 1 && terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
}

void use_colour(Colour colour) { colour_choice = colour; }

std::string styled(Style style, const std::string& text, std::FILE* stream) {
  return takes_colour(stream) ? sequence(style) + text + "\x1b[0m" : text;
}

}  // namespace poet::cli
