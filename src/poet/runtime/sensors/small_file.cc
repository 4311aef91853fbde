#include "poet/runtime/sensors/small_file.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include "poet/runtime/storage/file_io.h"

namespace poet::runtime {

std::optional<std::string> read_small_file(const std::filesystem::path& file) {
  // Not a stream, whose buffer would be part of what process_memory() measures; no file here is longer.
  std::array<char, 8192> buffer{};
  const Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!opened.valid()) return std::nullopt;
  const IoOutcome outcome = read_at(opened.get(), 0, std::as_writable_bytes(std::span(buffer)));
  if (outcome.error != 0) return std::nullopt;
  std::string_view text(buffer.data(), outcome.done);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  return std::string(text);
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::int64_t> read_number(const std::filesystem::path& file) {
  const std::optional<std::string> text = read_small_file(file);
  return text ? whole_number(*text) : std::nullopt;
}

std::optional<std::int64_t> number_after(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    // "Vm" must not find "VmRSS".
    if (line.empty() || std::string_view(": \t").find(line.front()) == std::string_view::npos) continue;
    const std::size_t begin = line.find_first_not_of(": \t");
    if (begin == std::string_view::npos) continue;
    line.remove_prefix(begin);
    return whole_number(line.substr(0, std::min(line.find_first_of(" \t"), line.size())));
  }
  return std::nullopt;
}

}  // namespace poet::runtime
