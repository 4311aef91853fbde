#include "poet/runtime/training/control_file.h"

#include <fmt/format.h>

#include "poet/base/parse_amounts.h"

namespace poet::runtime {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

}  // namespace

std::optional<std::vector<ControlLine>> parse_control(const std::string& text, const std::string& place) {
  if (text.empty() || text.back() != '\n') return std::nullopt;
  constexpr const char* kFrom = " from step ";
  std::vector<ControlLine> lines;
  int number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const std::string here = fmt::format("{}: line {}", place, number);
    ControlLine& read = lines.emplace_back();
    if (const std::size_t from = line.find(kFrom); from != std::string::npos) {
      read.step = parse_count(here, trimmed(line.substr(from + std::string(kFrom).size())));
      line = trimmed(line.substr(0, from));
    }
    if (line != "all") read.ram = parse_bytes(here, line);
  }
  return lines;
}

std::optional<Bytes> ram_at(const std::vector<ControlLine>& lines, std::int64_t step) {
  std::optional<Bytes> ram;
  for (const ControlLine& line : lines)
    if (line.step <= step) ram = line.ram;
  return ram;
}

}  // namespace poet::runtime
