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

/// Empty without /proc.
fs::path executable() {
  std::error_code error;
  const fs::path file = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : file;
}

/// The shared library that this code is in, as in the Python package; empty in a program.
fs::path library() {
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&is_folder), &here) == 0 || here.dli_fname == nullptr) return {};
  const fs::path file = here.dli_fname;
  return file.extension() == ".so" ? fs::absolute(file) : fs::path();
}

bool is_below(const fs::path& file, const fs::path& folder) {
  const fs::path relative = file.lexically_normal().lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

/// In the order in which they are tried.
std::vector<fs::path> usual_places() {
  const fs::path program = executable();
  const fs::path module = library();
  std::vector<fs::path> out;
  if (!module.empty()) out.push_back(module.parent_path() / "data");
  if (runs_from_build()) out.emplace_back(POET_SOURCE_DATA_DIR);
  // An installed tree may have been moved: PREFIX/bin/poet, PREFIX/lib/python3/dist-packages/poet/_core.so.
  if (!module.empty())
    out.push_back((module.parent_path() / "../../../../share/poet").lexically_normal());
  else if (!program.empty())
    out.push_back(program.parent_path().parent_path() / "share" / "poet");
  out.emplace_back(POET_INSTALL_DATA_DIR);
  // A package may be made of a build that was configured for another prefix.
  out.emplace_back("/usr/local/share/poet");
  out.emplace_back("/usr/share/poet");
  return out;
}

}  // namespace

bool runs_from_build() {
  const fs::path module = library();
  return is_below(module.empty() ? executable() : module, POET_BUILD_DIR);
}

std::optional<fs::path> own_data_dir() {
  for (const fs::path& candidate : usual_places())
    if (is_folder(candidate)) return candidate;
  return std::nullopt;
}

fs::path data_dir() {
  if (const char* chosen = std::getenv("POET_DATA_DIR"); chosen != nullptr && *chosen != '\0') {
    // A folder asked for by name is never replaced in silence by another one.
    if (!is_folder(chosen)) throw InputError("POET_DATA_DIR", "no such folder: " + std::string(chosen));
    return fs::absolute(chosen);
  }
  if (const std::optional<fs::path> own = own_data_dir()) return *own;
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
