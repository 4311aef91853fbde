#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "apps/cli/shell/completion.h"

namespace poet::cli {
namespace {

std::vector<std::string> alternatives(const std::string& type) {
  std::vector<std::string> out(1);
  for (const char c : type) {
    if (c == '|')
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

bool stands_for_itself(const std::string& word) {
  const auto is_capital = [](unsigned char c) { return std::isupper(c) != 0; };
  return !word.empty() && std::none_of(word.begin(), word.end(), is_capital);
}

bool is_file(const std::string& word) {
  static constexpr std::array<std::string_view, 5> kFiles = {"FILE", "PATH", "PLAN", "SPEC", "CARD"};
  return std::find(kFiles.begin(), kFiles.end(), word.substr(0, word.find('.'))) != kFiles.end();
}

}  // namespace

OfferedValues offered_values(const OptionDescription& option, const KnownNames& names) {
  OfferedValues out;
  out.words = option.choices;
  // An argument without a type is named as one: FILE.
  const std::string& type = option.type.empty() && option.argument ? option.names.front() : option.type;
  for (const std::string& word : alternatives(type)) {
    const auto add = [&](const std::vector<std::string>& known) {
      out.words.insert(out.words.end(), known.begin(), known.end());
    };
    if (stands_for_itself(word)) {
      if (std::find(out.words.begin(), out.words.end(), word) == out.words.end()) out.words.push_back(word);
    } else if (word == "NETWORK") {
      add(names.networks);
    } else if (word == "DEVICE") {
      add(names.devices);
    } else if (word == "COMMAND") {
      add(names.commands);
    } else if (word == "DIR" || word == "FOLDER") {
      out.folders = true;
    } else if (is_file(word)) {
      out.files = true;
      if (const std::size_t dot = word.find('.'); dot != std::string::npos) out.ending = word.substr(dot);
    }
  }
  return out;
}

}  // namespace poet::cli
