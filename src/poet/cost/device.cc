#include "poet/cost/device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <system_error>

#include "poet/base/data_dir.h"
#include "poet/base/error.h"
#include "poet/base/folder.h"
#include "poet/base/nearest.h"

namespace poet {
namespace {

std::vector<std::filesystem::path> profile_files() {
  std::vector<std::filesystem::path> files;
  for (std::filesystem::path& file : entries_of(data_dir() / "devices"))
    if (file.extension() == ".json") files.push_back(std::move(file));
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.stem().string() < b.stem().string(); });
  return files;
}

constexpr std::string_view kEnding = ".json";

bool is_path(const std::string& text) {
  return text.find('/') != std::string::npos ||
         (text.size() >= kEnding.size() &&
          text.compare(text.size() - kEnding.size(), kEnding.size(), kEnding) == 0);
}

}  // namespace

std::vector<DeviceProfile> shipped_devices() {
  std::vector<DeviceProfile> devices;
  for (const std::filesystem::path& file : profile_files()) devices.push_back(read_device(file));
  return devices;
}

DeviceProfile find_device(const std::string& name_or_path) {
  if (is_path(name_or_path)) return read_device(name_or_path);
  std::vector<std::string> names;
  for (const std::filesystem::path& file : profile_files()) {
    if (same_name(file.stem().string(), name_or_path)) return read_device(file);
    names.push_back(file.stem().string());
  }
  throw InputError(
      Field{"platform"},
      fmt::format(
          "unknown device \"{}\"{} known are {}; a profile of your own is named by its path (FILE.json)",
          name_or_path, nearest(name_or_path, names) ? did_you_mean(name_or_path, names) : ":",
          fmt::join(names, ", ")));
}

}  // namespace poet
