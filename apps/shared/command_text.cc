#include "apps/shared/command_text.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "apps/shared/called_as.h"

namespace poet::cli {
namespace {

std::vector<std::string>& words_typed() {
  static std::vector<std::string> words;
  return words;
}

/// "a/b.onnx" as "b.onnx", "--onnx=a/b.onnx" as "--onnx=b.onnx", if there is such a file.
std::string without_folder(const std::string& word) {
  namespace fs = std::filesystem;
  const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
  const std::size_t from = equals == std::string::npos ? 0 : equals + 1;
  std::error_code ignored;
  const fs::path path(word.substr(from));
  if (!path.has_parent_path() || !fs::is_regular_file(path, ignored)) return word;
  return word.substr(0, from) + path.filename().string();
}

}  // namespace

void remember_command(int argc, const char* const* argv) {
  words_typed().assign(argv, argv + argc);
  if (argc > 0) words_typed().front() = std::filesystem::path(argv[0]).filename().string();
}

std::string command_text(std::initializer_list<std::string_view> except, bool bare_names) {
  std::string text;
  bool is_value = false;  // of an option that is left out
  for (const std::string& word : words_typed()) {
    const bool skipped = is_value;
    is_value = false;
    if (skipped) continue;
    const auto is_left_out = [&](std::string_view option) {
      if (!option.ends_with('=')) return word == option;
      if (word.starts_with(option)) return true;
      option.remove_suffix(1);
      is_value = is_value || word == option;
      return word == option;
    };
    if (std::any_of(except.begin(), except.end(), is_left_out)) continue;
    text += (text.empty() ? "" : " ") + shell_word(bare_names ? without_folder(word) : word);
  }
  return text;
}

}  // namespace poet::cli
