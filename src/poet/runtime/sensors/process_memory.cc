#include "poet/runtime/sensors/process_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "poet/base/error.h"
#include "poet/runtime/sensors/small_file.h"
#include "poet/runtime/storage/file_io.h"

namespace poet::runtime {
namespace {

namespace fs = std::filesystem;

Bytes kibibytes(const std::string& text, const char* key, const fs::path& file) {
  const std::optional<std::int64_t> number = number_after(text, key);
  if (!number) throw InputError(file.string(), std::string("does not tell ") + key);
  return Bytes(*number * 1024);
}

/// How one version of control groups calls things.
struct GroupWords {
  const char* mount;
  const char* limit;
  const char* usage;
  const char* droppable;  // in memory.stat
};
constexpr GroupWords kVersion1 = {"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                                  "total_inactive_file"};
constexpr GroupWords kVersion2 = {"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};

/// What a group may still take; nothing when it has no limit ("max") or is none.
std::optional<std::int64_t> room_in_group(const fs::path& folder, const GroupWords& words) {
  const std::optional<std::int64_t> limit = read_number(folder / words.limit);
  const std::optional<std::int64_t> usage = read_number(folder / words.usage);
  if (!limit || !usage) return std::nullopt;
  const std::string statistics = read_small_file(folder / "memory.stat").value_or("");
  const std::int64_t droppable = number_after(statistics, words.droppable).value_or(0);
  return std::max<std::int64_t>(0, *limit - std::max<std::int64_t>(0, *usage - droppable));
}

/// The least room of the group and those around it. Inside a container the path may be one that only the
/// outside knows; the folders that do exist are then those of the container.
std::int64_t room_in_groups(const fs::path& root, const GroupWords& words, fs::path group,
                            std::int64_t room) {
  while (true) {
    room = std::min(room, room_in_group(root / words.mount / group, words).value_or(room));
    if (group.empty()) return room;
    group = group.parent_path();
  }
}

}  // namespace

ProcessMemory process_memory(const fs::path& status) {
  const std::optional<std::string> text = read_small_file(status);
  if (!text) throw InputError(status.string(), "cannot be read");
  return {kibibytes(*text, "VmRSS", status), kibibytes(*text, "VmHWM", status),
          kibibytes(*text, "RssAnon", status), kibibytes(*text, "RssFile", status)};
}

bool reset_peak_memory() {
  const Descriptor file(::open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC));
  return file.valid() && ::write(file.get(), "5", 1) == 1;
}

Bytes available_memory(const fs::path& root) {
  const fs::path machine = root / "proc/meminfo";
  const std::optional<std::string> text = read_small_file(machine);
  if (!text) throw InputError(machine.string(), "cannot be read");
  std::int64_t room = kibibytes(*text, "MemAvailable", machine).value();

  // Lines "NUMBER:CONTROLLERS:/PATH"; version 2 has number 0 and no controllers.
  const std::string groups = read_small_file(root / "proc/self/cgroup").value_or("") + "\n";
  for (std::size_t begin = 0; begin < groups.size();) {
    const std::size_t end = groups.find('\n', begin);
    const std::string line = groups.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t path = line.find(":/");
    if (path == std::string::npos) continue;
    const fs::path group = line.substr(path + 2);
    const std::string controllers = line.substr(0, path).substr(std::min(line.find(':') + 1, path));
    if (line.starts_with("0:"))
      room = room_in_groups(root, kVersion2, group, room);
    else if (("," + controllers + ",").find(",memory,") != std::string::npos)
      room = room_in_groups(root, kVersion1, group, room);
  }
  return Bytes(room);
}

}  // namespace poet::runtime
