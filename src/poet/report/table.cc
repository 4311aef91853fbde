#include "poet/report/table.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <sstream>

#include "poet/base/error.h"

namespace poet {
namespace {

/// Characters, not bytes: continuation bytes of UTF-8 (10xxxxxx) do not count.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

/// Whether at most four letters stand next in `words`, as a unit does.
bool next_is_short_word(std::istringstream& words) {
  const std::istringstream::pos_type here = words.tellg();
  std::string next;
  const bool found = static_cast<bool>(words >> next);
  const bool is_short =
      found && next.size() <= 4 && std::isalpha(static_cast<unsigned char>(next.front())) != 0;
  words.clear();
  words.seekg(here);
  return is_short;
}

}  // namespace

std::string Table::text(int indent, int width_limit) const {
  std::vector<std::size_t> widths;
  bool headed = false;
  for (const Column& column : columns_) {
    widths.push_back(width(column.heading));
    headed = headed || !column.heading.empty();
  }
  for (const std::vector<std::string>& row : rows_) {
    ensure(row.size() == columns_.size(), "a table row has as many cells as the table has columns");
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }

  int last_starts = indent;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) last_starts += static_cast<int>(widths[i]) + 2;
  const int last_width = std::max(width_limit - last_starts, 30);

  std::string out;
  const auto add_line = [&](const auto& cell_of) {
    std::string line(static_cast<std::size_t>(indent), ' ');
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string& cell = cell_of(i);
      const std::string padding(widths[i] - width(cell), ' ');
      if (i > 0) line += "  ";
      if (i + 1 == columns_.size() && columns_[i].align == Align::left) {
        line += wrapped(cell, last_width, last_starts);
        break;
      }
      line += columns_[i].align == Align::right ? padding + cell : cell + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  if (headed) add_line([&](std::size_t i) -> const std::string& { return columns_[i].heading; });
  for (const std::vector<std::string>& row : rows_) {
    add_line([&](std::size_t i) -> const std::string& { return row[i]; });
  }
  return out;
}

std::string wrapped(const std::string& text, int width_limit, int indent) {
  std::istringstream words(text);
  std::string out;
  std::string word;
  std::size_t column = 0;
  while (words >> word) {
    // A number and its unit stay on one line.
    std::string unit;
    while (std::isdigit(static_cast<unsigned char>(word.back())) != 0 && next_is_short_word(words) &&
           words >> unit) {
      word += " " + unit;
    }
    if (column > 0 && column + 1 + width(word) > static_cast<std::size_t>(width_limit)) {
      out += "\n" + std::string(static_cast<std::size_t>(indent), ' ');
      column = 0;
    } else if (column > 0) {
      out += " ";
      ++column;
    }
    out += word;
    column += width(word);
  }
  return out;
}

}  // namespace poet
