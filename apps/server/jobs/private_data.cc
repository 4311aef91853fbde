#include "apps/server/jobs/private_data.h"

#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "poet/base/error.h"

namespace poet::server {

namespace fs = std::filesystem;

fs::path private_data(const fs::path& folder) {
  std::error_code error;
  const fs::path path = fs::absolute(folder / "").parent_path();  // without a slash at the end
  fs::create_directories(path.parent_path(), error);
  if (!error && ::mkdir(path.c_str(), S_IRWXU) != 0 && !(errno == EEXIST && fs::is_directory(path)))
    error = std::error_code(errno, std::generic_category());
  if (error) throw InputError(folder.string(), "cannot be created: " + error.message());
  for (const char* name : {"jobs.sqlite", "jobs.sqlite-wal", "jobs.sqlite-shm", "uploads", "work"}) {
    const fs::file_status status = fs::symlink_status(path / name, error);
    if (!fs::exists(status) || fs::is_symlink(status)) continue;
    fs::permissions(path / name, fs::perms::group_all | fs::perms::others_all, fs::perm_options::remove,
                    error);  // another owner's stay as they are
  }
  return path;
}

}  // namespace poet::server
