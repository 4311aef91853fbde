#include "poet/base/temporary_folder.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "poet/base/error.h"
#include "poet/base/folder.h"

namespace poet {

TemporaryFolder::TemporaryFolder(const std::string& place) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) throw InputError(place, "no folder for temporary files, TMPDIR: " + error.message());
  std::string name = (parent / "poet_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw InputError(place, "no temporary folder " + name + ": " + std::strerror(errno));
  try {
    path_ = name;
  } catch (...) {  // without it nobody would know of the folder
    rmdir(name.c_str());
    throw;
  }
}

TemporaryFolder::~TemporaryFolder() { remove_folder(path_); }

}  // namespace poet
