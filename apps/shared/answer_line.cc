#include "apps/shared/answer_line.h"

#include "apps/shared/terminal.h"
#include "poet/base/text.h"
#include "poet/report/table.h"

namespace poet::cli {

namespace {

constexpr int kIndent = 14;

/// Names of layers that are longer than a line, shortened. Not what is copied: paths and options.
std::string fitted_words(const std::string& text, std::size_t width) {
  std::string out;
  for (const std::string& word : words_of(text)) {
    const bool is_copied = word.find('/') != std::string::npos || word.starts_with("--");
    out += (out.empty() ? "" : " ") + (is_copied ? word : shortened(word, width));
  }
  return out;
}

}  // namespace

std::string answer_line(const std::string& label, const std::string& text) {
  const int width = prose_width() - kIndent;
  const std::string padding(label.size() < kIndent ? kIndent - label.size() : 0, ' ');
  return (label.empty() ? "" : styled(Style::label, label)) + padding +
         wrapped(fitted_words(text, static_cast<std::size_t>(width)), width, kIndent) + "\n";
}

std::string status_line(const std::string& text) {
  const std::string word = text.substr(0, text.find_first_of(": ,"));
  const Style style = word == "optimal" || word == "checked" || word == "valid" ? Style::good
                      : word == "feasible"                                      ? Style::fair
                                                                                : Style::bad;
  std::string line = answer_line("Status", text);
  const std::size_t at = line.find(word, line.find("Status") + 6);
  if (at != std::string::npos) line.replace(at, word.size(), styled(style, word));
  return line;
}

}  // namespace poet::cli
