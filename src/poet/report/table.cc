#include "poet/report/table.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <optional>

#include "poet/base/error.h"
#include "poet/base/text.h"

namespace poet {
namespace {

constexpr int kNarrowestWords = 30;  // of a last column of words
constexpr std::size_t kShortestName = 16;

/// Of at most four letters, as units are: "KiB),".
bool is_short_word(const std::string& word) {
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  return is_letter(word.front()) && std::count_if(word.begin(), word.end(), is_letter) <= 4;
}

bool ends_in_digit(const std::string& word) {
  return std::isdigit(static_cast<unsigned char>(word.back())) != 0;
}

/// Words that are longer than a line, with a space wherever one ends.
std::string with_short_words(const std::string& text, std::size_t longest) {
  std::string out;
  std::size_t columns = 0;
  for (const char c : text) {
    const bool begins_character = (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    if (c == ' ') columns = 0;
    if (c != ' ' && begins_character && ++columns > longest) {
      out += ' ';
      columns = 1;
    }
    out += c;
  }
  return out;
}

}  // namespace

Table::Widths Table::natural_widths() const {
  Widths widths;
  for (const Column& column : columns_) widths.push_back(columns_of(column.heading));
  for (const std::vector<std::string>& row : rows_) {
    ensure(row.size() == columns_.size(), "a table row has as many cells as the table has columns");
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns_of(row[i]));
  }
  return widths;
}

std::string Table::block(const std::vector<std::size_t>& shown, const Widths& widths, int indent,
                         int width_limit, int narrowest) const {
  int last_starts = indent;
  for (std::size_t i = 0; i + 1 < shown.size(); ++i) last_starts += static_cast<int>(widths[shown[i]]) + 2;
  const int last_width = std::max(width_limit - last_starts, narrowest);
  const bool is_fitted = narrowest < kNarrowestWords;  // every line of it, not only where words end

  std::string out;
  const auto add_line = [&](const auto& cell_of) {
    std::string line(static_cast<std::size_t>(indent), ' ');
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const Column& column = columns_[shown[i]];
      if (i > 0) line += "  ";
      if (shown[i] + 1 == columns_.size() && column.align == Align::left) {
        const std::string& cell = cell_of(shown[i]);
        const bool breaks = is_fitted && cell.find('\x1b') == std::string::npos;
        line += wrapped(breaks ? with_short_words(cell, static_cast<std::size_t>(last_width)) : cell,
                        last_width, last_starts);
        break;
      }
      const std::string cell = shortened(cell_of(shown[i]), widths[shown[i]]);
      const std::string padding(widths[shown[i]] - columns_of(cell), ' ');
      line += column.align == Align::right ? padding + cell : cell + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  const bool headed = std::any_of(columns_.begin(), columns_.end(),
                                  [](const Column& column) { return !column.heading.empty(); });
  if (headed) add_line([&](std::size_t i) -> const std::string& { return columns_[i].heading; });
  for (const std::vector<std::string>& row : rows_) {
    add_line([&](std::size_t i) -> const std::string& { return row[i]; });
  }
  return out;
}

std::string Table::text(int indent, int width_limit) const {
  std::vector<std::size_t> all(columns_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return block(all, natural_widths(), indent, width_limit, kNarrowestWords);
}

std::string Table::fitted(int width_limit, int indent) const {
  const auto limit = static_cast<std::size_t>(std::max(width_limit - indent, 1));
  Widths widths = natural_widths();
  // The last column wraps, so it takes what is left, if that is enough.
  Widths least = widths;
  if (!columns_.empty() && columns_.back().align == Align::left)
    least.back() = std::min<std::size_t>(least.back(), kNarrowestWords);
  const auto total = [&] {
    return std::accumulate(least.begin(), least.end(), 2 * (std::max<std::size_t>(least.size(), 1) - 1));
  };
  const Widths natural = least;
  while (total() > limit) {
    std::optional<std::size_t> widest;
    for (std::size_t i = 0; i + 1 < least.size(); ++i)
      if (columns_[i].align == Align::left && least[i] > kShortestName &&
          least[i] > columns_of(columns_[i].heading) && (!widest || least[i] > least[*widest]))
        widest = i;
    if (!widest) break;
    --least[*widest];
  }
  if (total() > limit) {
    least = natural;
    for (std::size_t i = 0; i + 1 < least.size(); ++i)
      if (columns_[i].align == Align::left)
        least[i] = std::min(least[i], std::max({limit / 2, kShortestName, columns_of(columns_[i].heading)}));
  }
  for (std::size_t i = 0; i + 1 < least.size(); ++i) widths[i] = least[i];

  std::string out;
  for (std::size_t next = 0; next < columns_.size();) {
    std::vector<std::size_t> shown;
    std::size_t used = 0;
    if (next > 0) {
      shown.push_back(0);
      used = least[0];
    }
    const std::size_t first = next;
    for (; next < columns_.size(); ++next) {
      const std::size_t wider = used + least[next] + (shown.empty() ? 0 : 2);
      if (next > first && wider > limit) break;
      shown.push_back(next);
      used = wider;
    }
    out += (out.empty() ? "" : "\n") + block(shown, widths, indent, width_limit, 12);
  }
  return out;
}

std::size_t columns_of(const std::string& text) {
  std::size_t count = 0;
  bool in_sequence = false;
  for (const char c : text) {
    if (c == '\x1b') in_sequence = true;
    if (!in_sequence && (static_cast<unsigned char>(c) & 0xC0) != 0x80) ++count;
    if (c == 'm') in_sequence = false;
  }
  return count;
}

std::string shortened(const std::string& text, std::size_t width_limit) {
  const std::size_t whole = columns_of(text);
  if (whole <= width_limit) return text;
  if (width_limit == 0) return "";
  std::size_t at = 0;
  for (std::size_t left = whole; left > width_limit - 1; --left) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  }
  return "\u2026" + text.substr(at);
}

std::string wrapped(const std::string& text, int width_limit, int indent) {
  const std::vector<std::string> words = words_of(text);
  std::string out;
  std::size_t column = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string word = words[i];
    // A number and its unit stay on one line.
    while (ends_in_digit(word) && i + 1 < words.size() && is_short_word(words[i + 1]))
      word += " " + words[++i];
    if (column > 0 && column + 1 + columns_of(word) > static_cast<std::size_t>(width_limit)) {
      out += "\n" + std::string(static_cast<std::size_t>(indent), ' ');
      column = 0;
    } else if (column > 0) {
      out += " ";
      ++column;
    }
    out += word;
    column += columns_of(word);
  }
  return out;
}

}  // namespace poet
