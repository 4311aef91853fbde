#include "poet/base/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "poet/base/error.h"

namespace poet {

TemporaryFolder::TemporaryFolder(const std::string& place) {
  std::string name = (std::filesystem::temp_directory_path() / "poet_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw InputError(place, "no temporary folder " + name + ": " + std::strerror(errno));
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace poet
