#include "poet/base/data_dir.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <system_error>
#include <vector>

#include "poet/base/error.h"

namespace poet {
namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

/// `../share/poet` beside the executable's folder, so that an installed tree can be moved; empty without
/// /proc.
fs::path beside_executable() {
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  return executable.parent_path().parent_path() / "share" / "poet";
}

/// `data` beside the shared library that this code is in, as in the Python package; empty in a program.
fs::path beside_library() {
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&is_folder), &here) == 0 || here.dli_fname == nullptr) return {};
  const fs::path file = here.dli_fname;
  return file.extension() == ".so" ? fs::absolute(file).parent_path() / "data" : fs::path();
}

}  // namespace

fs::path data_dir() {
  if (const char* chosen = std::getenv("POET_DATA_DIR"); chosen != nullptr && *chosen != '\0') {
    // A folder asked for by name is never replaced in silence by another one.
    if (!is_folder(chosen)) throw InputError("POET_DATA_DIR", "no such folder: " + std::string(chosen));
    return fs::absolute(chosen);
  }
  const std::vector<fs::path> candidates = {beside_library(), POET_SOURCE_DATA_DIR, beside_executable(),
                                            POET_INSTALL_DATA_DIR};
  for (const fs::path& candidate : candidates) {
    if (is_folder(candidate)) return candidate;
  }
  throw InputError("POET_DATA_DIR",
                   "the data folder of poet is in none of its usual places; set this variable to it");
}

fs::path firmware_dir() {
  const fs::path data = data_dir();
  for (const fs::path& candidate : {data / "firmware", data.parent_path() / "firmware"})
    if (is_folder(candidate)) return candidate;
  throw InputError("POET_DATA_DIR", "has no folder \"firmware\", nor one beside it: " + data.string());
}

}  // namespace poet
