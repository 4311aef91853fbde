#include "poet/runtime/sensors/memory_pressure.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include "poet/runtime/sensors/small_file.h"

namespace poet::runtime {

namespace fs = std::filesystem;

std::optional<double> memory_pressure(const fs::path& file) {
  const std::optional<std::string> text = read_small_file(file);
  if (!text) return std::nullopt;
  constexpr std::string_view kStart = "some avg10=";
  const std::size_t at = text->find(kStart);
  if (at == std::string::npos) return std::nullopt;
  const char* const begin = text->data() + at + kStart.size();
  double percent = 0;
  const auto [end, error] = std::from_chars(begin, text->data() + text->size(), percent);
  if (error != std::errc() || !std::isfinite(percent) || percent < 0) return std::nullopt;
  return percent;
}

namespace {

constexpr std::array kLimits = {"memory.high", "memory.max"};

}  // namespace

std::optional<Bytes> group_limit(const fs::path& folder) {
  std::optional<Bytes> least;
  for (const char* name : kLimits) {
    const std::optional<std::int64_t> limit = read_number(folder / name);  // "max" is no number
    if (limit && *limit >= 0) least = std::min(least.value_or(Bytes(*limit)), Bytes(*limit));
  }
  return least;
}

bool tells_limit(const fs::path& folder) {
  return std::any_of(kLimits.begin(), kLimits.end(), [&folder](const char* name) {
    const std::optional<std::string> text = read_small_file(folder / name);
    return text && (*text == "max" || whole_number(*text));
  });
}

std::vector<fs::path> own_groups(const fs::path& root) {
  std::vector<fs::path> found;
  std::string groups = read_small_file(root / "proc/self/cgroup").value_or("");
  const std::size_t begin = groups.starts_with("0::/") ? 0 : groups.find("\n0::/");
  if (begin == std::string::npos) return found;
  const std::size_t path = groups.find('/', begin);
  fs::path group = groups.substr(path + 1, groups.find('\n', path) - path - 1);
  while (true) {
    const fs::path folder = root / "sys/fs/cgroup" / group;
    std::error_code ignored;
    if (fs::is_directory(folder, ignored)) found.push_back(folder);
    if (group.empty()) return found;
    group = group.parent_path();
  }
}

}  // namespace poet::runtime
