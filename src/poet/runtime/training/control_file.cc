#include "poet/runtime/training/control_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <span>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/base/parse_amounts.h"
#include "poet/runtime/storage/file_io.h"

namespace poet::runtime {
namespace {

constexpr Bytes kMostText(1 << 20);  // it is read before every step

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

}  // namespace

std::optional<std::string> control_text(const std::filesystem::path& file) {
  const auto fail = [&file](const std::string& rule) { throw InputError(file.string(), rule); };
  // Of a pipe without a writer, open() would wait for one.
  const Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!opened.valid()) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    fail("cannot be read: " + error_text(errno));
  }
  struct stat facts {};
  if (::fstat(opened.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) fail("is not a regular file");
  if (Bytes(facts.st_size) > kMostText)
    fail(fmt::format("has {}; a control file has at most {}", format_bytes(Bytes(facts.st_size)),
                     format_bytes(kMostText)));
  std::string text(static_cast<std::size_t>(facts.st_size), '\0');
  const IoOutcome outcome = read_at(opened.get(), 0, std::as_writable_bytes(std::span(text)));
  if (outcome.error != 0) fail("cannot be read: " + error_text(outcome.error));
  text.resize(outcome.done);  // somebody may be writing it anew
  return text;
}

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
